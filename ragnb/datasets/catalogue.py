"""Where published benchmark files come from, pinned by commit and checksum, and how they are fetched.

A file is looked for in the folder that the environment variable ``RAGNB_DATA`` names, then in the user's cache, then it is
downloaded from its pinned address and kept only when its checksum is right. Of files that are *not pinned* no checksum is
known beforehand: that of the first download is recorded beside the file, and later downloads are held against it.
"""

import hashlib
import os
import sys
import tempfile
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from ragnb.errors import InputError


@dataclass(frozen=True, slots=True)
class Source:
    """One published file: where it lies, how to know it, and under which licence it may be used."""

    name: str
    benchmark: str
    file: str
    url: str
    """Address; one without a host is a path on the dataset hub that the environment variable ``HF_ENDPOINT`` names."""
    git_sha1: str | None
    """SHA-1 of the file as a git blob, as the repository's tree lists it; None where the file is not pinned."""
    licence: str
    citation: str


def _rgb(name: str, git_sha1: str, path: str = "") -> Source:
    path = path or f"data/{name}.json"
    commit = "65ec39e40e7dc9abb50e9bf1b4f32be3f6f16615"
    return Source(
        name=name,
        benchmark="rgb",
        file=Path(path).name,
        url=f"https://raw.githubusercontent.com/chen700564/RGB/{commit}/{path}",
        git_sha1=git_sha1,
        licence="CC BY-NC-SA 4.0 (non-commercial)",
        citation="Chen, Lin, Han, Sun (AAAI 2024), Benchmarking LLMs in RAG, arXiv 2309.01431",
    )


def _evouna(name: str, file: str, git_sha1: str) -> Source:
    commit = "90007d39d4ef0720984f80d56a586c66d6241e70"
    return Source(
        name=name,
        benchmark="evouna",
        file=file,
        url=f"https://raw.githubusercontent.com/wangcunxiang/QA-Eval/{commit}/EVOUNA/{file}",
        git_sha1=git_sha1,
        licence="Apache-2.0",
        citation="Wang et al. (NeurIPS 2023 Datasets and Benchmarks), Evaluating Open-QA Evaluation, arXiv 2305.12421",
    )


RAGBENCH_SUBSETS = tuple(
    "covidqa cuad delucionqa emanual expertqa finqa hagrid hotpotqa msmarco pubmedqa tatqa techqa".split()
)
RAGBENCH_SPLITS = ("train", "validation", "test")


def _ragbench(subset: str, split: str) -> Source:
    name = f"{subset}_{split}"
    return Source(
        name=name,
        benchmark="ragbench",
        file=f"{name}.parquet",
        url=f"datasets/rungalileo/ragbench/resolve/main/{subset}/{split}-00000-of-00001.parquet",
        git_sha1=None,
        licence="CC BY 4.0; the component corpora keep their own terms",
        citation="Friel, Belyi, Sanyal (2024), RAGBench, arXiv 2407.11005",
    )


def _xquad(language: str, git_sha1: str | None = None) -> Source:
    commit = "60cac411649156efb6aab9dd4c9cde787a2c0345"
    return Source(
        name=f"xquad_{language}",
        benchmark="xquad",
        file=f"xquad.{language}.json",
        url=f"https://raw.githubusercontent.com/google-deepmind/xquad/{commit}/xquad.{language}.json",
        git_sha1=git_sha1,
        licence="CC BY-SA 4.0",
        citation="Artetxe, Ruder, Yogatama (ACL 2020), On the Cross-lingual Transferability of Monolingual Representations, "
        "arXiv 1910.11856",
    )


def _mkqa(name: str, url: str, git_sha1: str | None, licence: str) -> Source:
    return Source(
        name=name,
        benchmark="mkqa",
        file=url.rpartition("/")[2],
        url=url,
        git_sha1=git_sha1,
        licence=licence,
        citation="Longpre, Lu, Daiber (2021), MKQA, arXiv 2007.15207",
    )


_LBRAG_DATA = "https://raw.githubusercontent.com/kanoes/LBRAG-NEW/3537d8cbd1e4b4ce32936858a5d601a6a0e6676c/experiments/data"

CATALOGUE: dict[str, Source] = {
    source.name: source
    for source in (
        _rgb("en", "4938252230bb4ccfb7f43662e43c7f84f4c38e78"),
        _rgb("en_refine", "de75ccaedd1c47249315002e7713d2f0a94cc2de"),
        _rgb("en_int", "826c357bfa7df0264951e7787d248efcca4b6b60"),
        _rgb("en_fact", "ffa989031e0d7d4e68b6c4bcab4820c74ffc4902"),
        _rgb("zh", "2d3406d3eb5a7d9c885196bb17fa6ac6f1483b4d"),
        _rgb("zh_refine", "6003c458bd6217636798e1810610432900ffdd21"),
        _rgb("zh_int", "6e66066b0490cb8618fd5810e21134eadd8e3094"),
        _rgb("zh_fact", "be725d61d5360bcb1afc0bab7f2238f6ba9942a7"),
        _rgb(
            "rgb_instructions",
            "80dbb0e07e68ac3c2a571151da071d4c53463683",
            "config/instruction.yaml",
        ),
        _evouna("evouna_nq", "NQ.json", "05faaaa6730ec788e633e4df4ecd9ff52db96c43"),
        _mkqa(
            "mkqa",
            "https://github.com/apple/ml-mkqa/raw/main/dataset/mkqa.jsonl.gz",
            None,
            "CC BY-SA 3.0",
        ),
        _mkqa(
            "mkqa_500",
            f"{_LBRAG_DATA}/samples_mkqa_multi.json",
            "81aa81020857f3484dc86b6ff9bb81def67753cf",
            "CC BY-SA 3.0; the repository that carries these 500 questions has no licence",
        ),
        _xquad("ar", "068917b57858131f2fea1bb3e49bee6251f19f8d"),
        _xquad("de", "ad18712bf213f26e1ac086d98b23a0d866665bfc"),
        _xquad("el"),
        _xquad("en", "cc0e3e8b94910097d29d2e9df5f266e1b30b2810"),
        _xquad("es"),
        _xquad("hi", "9b29b724ce7eb07aad18bffb81deccf04960c7cf"),
        _xquad("ru", "ab022ed756292787320b684a3713e737b8f79f39"),
        _xquad("th", "d3cb49f655138af8031b9cbf38d9ff89c38f2f3e"),
        _xquad("tr"),
        _xquad("vi"),
        _xquad("zh", "40aa6cb87e4369235e763d3554b7a25ea832e924"),
        *(_ragbench(subset, split) for subset in RAGBENCH_SUBSETS for split in RAGBENCH_SPLITS),
    )
}


def catalogue() -> pd.DataFrame:
    """One row a published file that ragnb can fetch: name, benchmark, licence, citation, address, checksum."""
    rows = [
        (s.name, s.benchmark, s.licence, s.citation, s.url, s.git_sha1 or "not pinned")
        for s in CATALOGUE.values()
    ]
    return pd.DataFrame(
        rows, columns=["name", "benchmark", "licence", "citation", "url", "checksum"]
    )


def sources_of(benchmark: str) -> list[Source]:
    """Files of one benchmark; ``"multilingual"`` stands for those of both MKQA and XQuAD."""
    benchmarks = ("mkqa", "xquad") if benchmark == "multilingual" else (benchmark,)
    return [source for source in CATALOGUE.values() if source.benchmark in benchmarks]


def find(name: str, *, benchmark: str) -> Path:
    """Local path of a catalogue file, fetched when it is not at hand.

    Raises
    ------
    InputError
        Unknown name (with the nearest known ones), a download that fails, or one whose checksum is wrong.
    """
    known = [source.name for source in sources_of(benchmark)]
    if name not in known:
        near = get_close_matches(name, known, n=2, cutoff=0.4)
        hint = (
            f"did you mean {' or '.join(map(repr, near))}?"
            if near
            else f"use one of {', '.join(known)}"
        )
        raise InputError(
            f"a {benchmark} source needs a file that exists or a catalogue name; got {name!r}; {hint}"
        )
    source = CATALOGUE[name]
    return _in_own_folder(source) or fetch(source, _cache() / source.benchmark)


def fetch(source: Source, folder: Path) -> Path:
    """Path of ``source`` inside ``folder``, downloaded there unless it already is, and verified.

    A truncated or altered download is deleted and reported; what stands in the cache is always whole. Of a file that is not
    pinned, the first download is taken as it comes, and its checksum recorded as ``<file>.sha1``.

    Raises
    ------
    InputError
        A download that fails or whose checksum is wrong, or a hub that is needed and not named.
    """
    target, record = folder / source.file, folder / f"{source.file}.sha1"
    expected = source.git_sha1 or (record.read_text("ascii").strip() if record.exists() else None)
    if target.exists() and git_blob_sha1(target.read_bytes()) == expected:
        return target
    address = _address(source)
    folder.mkdir(parents=True, exist_ok=True)
    pinned = "" if source.git_sha1 else ", not pinned"
    print(
        f"ragnb: fetching {source.name} from {address}{pinned}\nragnb: licence {source.licence}",
        file=sys.stderr,
    )
    handle, partial = tempfile.mkstemp(dir=folder, prefix=source.file, suffix=".part")
    os.close(handle)
    try:
        _download(source, address, partial)
        found = _verified(source, Path(partial), expected)
        if not source.git_sha1:
            record.write_text(found + "\n", "ascii")
        os.replace(partial, target)
    finally:
        Path(partial).unlink(missing_ok=True)
    return target


def git_blob_sha1(content: bytes) -> str:
    """SHA-1 that git gives a file with this content.

    >>> git_blob_sha1(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _in_own_folder(source: Source) -> Path | None:
    own = os.environ.get("RAGNB_DATA")
    places = [Path(own) / source.benchmark / source.file, Path(own) / source.file] if own else []
    return next((place for place in places if os.path.isfile(place)), None)


def _cache() -> Path:
    import pooch

    return Path(pooch.os_cache("ragnb"))


def _address(source: Source) -> str:
    if "://" in source.url:
        return source.url
    hub = os.environ.get("HF_ENDPOINT")
    if not hub:
        raise InputError(
            f"fetching {source.name!r} needs the address of the dataset hub in HF_ENDPOINT; got none; set it, or put the "
            f"file as {source.file} into the folder that RAGNB_DATA names"
        )
    return f"{hub.rstrip('/')}/{source.url}"


def _download(source: Source, address: str, target: str) -> None:
    import pooch
    import requests

    quiet = os.environ.get("TQDM_DISABLE", "0") not in ("", "0")
    try:
        pooch.HTTPDownloader(progressbar=not quiet, timeout=60)(address, target, None)
    except (requests.RequestException, OSError) as error:
        raise InputError(
            f"fetching {source.name!r} needs its address to answer; got {_said(error)} from {address}; "
            f"check the network, or put {source.file} into the folder that RAGNB_DATA names"
        ) from error


def _said(error: Exception) -> str:
    response = getattr(error, "response", None)
    return f"HTTP {response.status_code}" if response is not None else type(error).__name__


def _verified(source: Source, path: Path, expected: str | None) -> str:
    """Checksum of a download, which must be the expected one where one is known."""
    content = path.read_bytes()
    found = git_blob_sha1(content)
    if expected and found != expected:
        if source.git_sha1:
            why, advice = "the download is truncated or altered", "try again"
        else:
            why, advice = (
                "it is not what was first downloaded",
                f"delete {source.file}.sha1 in the cache to accept it",
            )
        raise InputError(
            f"{source.name!r} needs the git blob SHA-1 {expected}; got {found} ({len(content):,} bytes), so {why} and was "
            f"deleted; {advice}"
        )
    return found
