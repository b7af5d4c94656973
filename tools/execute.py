"""Run notebooks from top to bottom in fixed surroundings and write them back clean: what `make figures` does.

Removed before writing: widgets and their state, time stamps and the language version, which change from run to run or stop a code-hosting
page from showing the notebook.
"""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

CELL_TIMEOUT = 300
ENCRYPTED = Config({"KernelManager": {"transport_encryption": "auto"}})
"""The kernel's messages are encrypted; without this, every kernel warns that others on the machine could read them."""


def execute(path: Path) -> float:
    """Run one notebook in its own folder, write it back, return the seconds it took."""
    started = time.monotonic()
    book = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": path.parent}}
    NotebookClient(
        book, timeout=CELL_TIMEOUT, kernel_name="python3", resources=folder, config=ENCRYPTED
    ).execute()
    clean(book)
    nbformat.write(book, path)
    return time.monotonic() - started


def clean(book: nbformat.NotebookNode) -> None:
    """Drop what differs from run to run and what must not be committed."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    book.metadata = nbformat.from_dict({"kernelspec": kernel, "language_info": {"name": "python"}})
    for cell in book.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            said = [output for output in cell.outputs if output.get("name") != "stderr"]
            cell.outputs = _joined(said)
            for output in cell.outputs:
                data = output.get("data", {})
                data.pop("application/vnd.jupyter.widget-view+json", None)  # the static view stays
                if "image/png" in data and "alt" in cell.metadata:
                    # Exporters look for it here.
                    output.metadata["image/png"] = {"alt": cell.metadata.alt}
            # A widget is an output of its own, of which nothing is left.
            cell.outputs = [output for output in cell.outputs if output.get("data", True)]


def _joined(outputs: list) -> list:
    """Outputs with printed text in one piece: into how many it falls depends on the moment."""
    whole: list = []
    for output in outputs:
        if whole and output.output_type == "stream" and whole[-1].output_type == "stream":
            whole[-1].text += output.text
        else:
            whole.append(output)
    return whole


def main(names: list[str]) -> None:
    """Run notebooks beside each other, one a core, and say how long each took; the first that fails stops the rest."""
    with ProcessPoolExecutor(min(len(names), os.cpu_count() or 1)) as pool:
        for name, seconds in zip(names, pool.map(execute, map(Path, names)), strict=True):
            print(f"{Path(name).name}: {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main(sorted(sys.argv[1:]))
