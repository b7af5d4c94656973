"""Catalogue of published benchmark files, and their download.

A file is looked for in the folder that the environment variable ``RAGNB_DATA`` names, then in the
user's cache. Otherwise it is downloaded from its address and kept only if its checksum is right. If
the checksum is not known, that of the first download is recorded beside the file, and later
downloads are compared with it.
"""

import csv
import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from uuid import uuid4

import pandas as pd

from ragnb.arguments import accepts
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.printing import inform
from ragnb.suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class Source:
    """One published file: where it is, how to recognise it, and under which licence it may be used.

    ``url`` without a host is a path on the dataset hub that the environment variable
    ``HF_ENDPOINT`` names. ``git_sha1`` is the SHA-1 of the file as a git blob, as the repository's
    tree lists it, and empty if it is not known.
    """

    name: str
    benchmark: str
    file: str
    url: str
    git_sha1: str
    licence: str
    citation: str


_REGISTRY = resources.files("ragnb.datasets") / "data" / "registry.csv"
with _REGISTRY.open(encoding="utf-8") as _rows:
    CATALOGUE = {row["name"]: Source(**row) for row in csv.DictReader(_rows)}


@accepts()
def catalogue() -> pd.DataFrame:
    """List the published files that ragnb can fetch.

    Returns
    -------
    DataFrame
        One row per file: ``name, benchmark, licence, citation, url, checksum``.
    """
    rows = pd.DataFrame([asdict(source) for source in CATALOGUE.values()])
    rows["checksum"] = rows["git_sha1"].replace("", "not known")
    return shown(rows[["name", "benchmark", "licence", "citation", "url", "checksum"]])


def sources_of(benchmark: str) -> list[Source]:
    """Files of one benchmark in the catalogue; ``"multilingual"`` means both MKQA and XQuAD."""
    benchmarks = ("mkqa", "xquad") if benchmark == "multilingual" else (benchmark,)
    return [source for source in CATALOGUE.values() if source.benchmark in benchmarks]


def find(name: str, *, benchmark: str, samples: Iterable[str] = ()) -> Path:
    """Return the local path of a file in the catalogue, and download the file if necessary.

    Raises
    ------
    InputError
        The name is unknown (the message suggests known ones, also of ``samples``), or see `fetch`.
    """
    names = [source.name for source in sources_of(benchmark)]
    if name not in names:
        hint = did_you_mean(name, [*samples, *names]) or f"; use one of {', '.join(names)}"
        raise InputError(
            f"{name!r} is neither a file nor a name of {benchmark} in the catalogue{hint}"
        )
    import pooch

    source = CATALOGUE[name]
    # Without the variable, the folder is the null device, in which no file is found.
    folder = Path(os.environ.get("RAGNB_DATA") or os.devnull)
    for path in (folder / source.benchmark / source.file, folder / source.file):
        if os.path.isfile(path):
            return path
    return fetch(source, Path(pooch.os_cache("ragnb")) / source.benchmark)


def fetch(source: Source, folder: Path) -> Path:
    """Return the path of a file inside `folder`.

    The file is verified. It is downloaded if it is missing or has another checksum. If its checksum is
    not known, that of the first download is kept in ``<file>.sha1``.

    Raises
    ------
    InputError
        The download fails or has another checksum, or a hub is needed and not named.
    """
    target, record = folder / source.file, folder / f"{source.file}.sha1"
    expected = source.git_sha1 or (record.read_text("ascii").strip() if record.exists() else None)
    if target.exists() and git_blob_sha1(target.read_bytes()) == expected:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # A file gets its name when it is complete, so that a download that stops leaves no damaged file.
    partial = target.with_name(f"{uuid4().hex}.part")
    try:
        _download(source, partial)
        sha1 = git_blob_sha1(partial.read_bytes())
        if expected and sha1 != expected:
            advice = "Try again." if source.git_sha1 else f"Delete {record} to accept another file."
            raise InputError(
                f"{source.name!r} must have the SHA-1 {expected}, got {sha1}. {advice}"
            )
        os.replace(partial, target)
    except OSError as error:
        response = getattr(error, "response", None)
        why = type(error).__name__ if response is None else f"HTTP {response.status_code}"
        raise InputError(
            f"{source.name!r} could not be fetched from {_without_secrets(_address(source))} ({why}); "
            f"check the network, or save {source.file} in the folder that RAGNB_DATA names"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    if not source.git_sha1:
        record.write_text(f"{sha1}\n", "ascii")
    return target


def git_blob_sha1(content: bytes) -> str:
    """Return the SHA-1 that git computes for a file with this content.

    >>> git_blob_sha1(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _address(source: Source) -> str:
    """The complete address of a file, with the hub that the environment variable HF_ENDPOINT names."""
    if "://" in source.url:
        return source.url
    hub = os.environ.get("HF_ENDPOINT")
    if not hub:
        raise InputError(
            f"fetching {source.name!r} needs the address of the Hugging Face Hub in the environment "
            f"variable HF_ENDPOINT; set it, or save the file as {source.file} in the folder that "
            "RAGNB_DATA names"
        )
    return f"{hub.rstrip('/')}/{source.url}"


def _without_secrets(address: str) -> str:
    """An address without the password and the query that it may contain.

    >>> _without_secrets("https://me:secret@hub.org/a?token=secret")
    'https://hub.org/a'
    """
    return re.sub(r"(?<=//)[^/@]*@|\?.*", "", address)


def _download(source: Source, partial: Path) -> None:
    """Download a file, after saying where it comes from, and refuse a web page in its place."""
    import pooch

    address = _address(source)
    caution = "" if source.git_sha1 else " (checksum not known)"
    inform(
        f"ragnb: fetching {source.name} from {_without_secrets(address)}{caution}\n"
        f"ragnb: licence {source.licence}"
    )
    quiet = os.environ.get("TQDM_DISABLE", "0") not in ("", "0")
    pooch.HTTPDownloader(progressbar=not quiet, timeout=60)(address, str(partial), None)
    if partial.read_bytes().lstrip().startswith(b"<"):
        raise InputError(
            f"{source.name!r} must be a file of data, but {_without_secrets(address)} returned a "
            "web page; download it in a browser and save it as "
            f"{source.file} in the folder that RAGNB_DATA names"
        )
