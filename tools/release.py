"""Build a release and check it strictly: ``make release``. Nothing is uploaded.

The files of the last commit are copied to build/release, where the links of README.md become absolute, because
a package index shows the page without the repository. Wheel and source distribution are built from this copy,
checked, and installed into an empty environment of each supported Python on this machine. The last lines name
what a person still has to do, such as filling in the address of the repository.

``make dist`` does the same with the files as they are, and only with the Python of the project's environment.
"""

import argparse
import email
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
STAGE = ROOT / "build" / "release"
DIST = ROOT / "dist"
UV = Path(sys.executable).with_name("uv")
PLACEHOLDER = "OWNER"
"""Stands in pyproject.toml for the account of the repository, until a person fills it in."""
MARKDOWN_LINK = re.compile(r"(?P<before>(?P<image>!)?\[[^\]]*\]\()(?P<target>[^)\s]+)(?P<after>\))")
HTML_LINK = re.compile(
    r"(?P<before>(?P<image><img[^>]*\ssrc|<a[^>]*\shref)=\")(?P<target>[^\"]+)(?P<after>\")"
)
NESTED_IMAGE = re.compile(
    r"(?P<before>\[(?P<image><img[^>]*>)\]\()(?P<target>[^)\s]+)(?P<after>\))"
)


def project_of(root: Path) -> dict:
    """The table [project] of a pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]


def version_of(root: Path) -> str:
    """The version that ragnb/version.py states."""
    return re.search(r'__version__ = "(.+)"', (root / "ragnb" / "version.py").read_text("utf-8"))[1]


# ---- README on a package index -----------------------------------------------------------------


def absolute_links(text: str, repository: str, version: str) -> str:
    """Replace relative links of a page in Markdown by addresses of the files at the tag of a version.

    >>> absolute_links("See [data](docs/data.md#sources) and [above](#install).", "https://x.org/r", "1.0")
    'See [data](https://x.org/r/blob/v1.0/docs/data.md#sources) and [above](#install).'
    >>> absolute_links('<img src="figures/a.png">', "https://x.org/r", "1.0")
    '<img src="https://x.org/r/raw/v1.0/figures/a.png">'
    """

    def absolute(link: re.Match) -> str:
        target = link["target"]
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        image = link["image"] or ""
        # A page shows the file itself as an image, and a link leads to the page about the file.
        is_image = image == "!" or (image.startswith("<img") and link["before"].endswith('"'))
        kind = "raw" if is_image else "blob"
        return f"{link['before']}{repository}/{kind}/v{version}/{target}{link['after']}"

    for pattern in (HTML_LINK, NESTED_IMAGE, MARKDOWN_LINK):
        text = pattern.sub(absolute, text)
    return text


# ---- what a person has to do -------------------------------------------------------------------


def left_to_do(root: Path) -> list[str]:
    """What has to be filled in or decided by a person before the upload, one sentence each."""
    version, sentences = version_of(root), []
    addresses = project_of(root)["urls"]
    if any(PLACEHOLDER in address for address in addresses.values()):
        sentences.append(
            f"Replace {PLACEHOLDER} by the account of the repository in [project.urls] of pyproject.toml, "
            "and in CITATION.cff."
        )
    heading = re.search(r"^## (.+)$", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
        sentences.append(
            f"Date the first entry of CHANGELOG.md: it must be '{version} (YYYY-MM-DD)', and is {heading!r}."
        )
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    if cited is None or cited[1].strip('"') != version:
        sentences.append(f"Set the version of CITATION.cff to {version}.")
    if "not on PyPI yet" in (root / "README.md").read_text("utf-8"):
        sentences.append(
            "Rewrite the section *Install* of README.md, which says that ragnb is not on PyPI yet: "
            '`pip install "ragnb[lab]"`, and the clone for `make`.'
        )
    return sentences


# ---- building ----------------------------------------------------------------------------------


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command, and return what it prints. An error ends the release with the output of the command."""
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def stage(draft: bool) -> None:
    """Copy the files of the last commit to build/release, or those of the folder for a draft."""
    shutil.rmtree(STAGE, ignore_errors=True)
    STAGE.mkdir(parents=True)
    if draft:
        listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (STAGE / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, STAGE / name)
    else:
        if run("git", "status", "--porcelain"):
            sys.exit("the work tree has changes; commit them first, or try `make dist`")
        archive = STAGE / "commit.tar"
        run("git", "archive", "--output", archive, "HEAD")
        with tarfile.open(archive) as files:
            files.extractall(STAGE, filter="data")
        archive.unlink()
    readme = STAGE / "README.md"
    repository = project_of(STAGE)["urls"]["Repository"]
    readme.write_text(
        absolute_links(readme.read_text("utf-8"), repository, version_of(STAGE)), "utf-8"
    )


def build() -> list[Path]:
    """Build the source distribution, and from it the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(
        UV,
        "build",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--out-dir",
        DIST,
        cwd=STAGE,
    )
    return sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])


def check_contents(wheel: Path) -> None:
    """End the release if a wheel has files that do not belong to the package, or lacks one that it needs."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        described = email.message_from_bytes(archive.read(metadata))
    strange = [name for name in names if not name.startswith(("ragnb/", "ragnb-"))]
    if strange:
        sys.exit(f"{wheel.name} has files outside ragnb/: {', '.join(strange[:5])}")
    needed = {"ragnb/py.typed", "ragnb/__init__.pyi", "ragnb/NOTICE.md"}
    needed |= {
        f"ragnb/datasets/data/studies/{name}" for name in ("studies.csv", "quickstart.jsonl.gz")
    }
    missing = needed - set(names)
    if missing:
        sys.exit(f"{wheel.name} lacks {', '.join(sorted(missing))}")
    text = described.get_payload()
    relative = [
        link["target"]
        for pattern in (HTML_LINK, MARKDOWN_LINK)
        for link in pattern.finditer(text)
        if not re.match(r"[a-z]+:|#", link["target"])
    ]
    if relative:
        sys.exit(f"the description of {wheel.name} has relative links: {', '.join(relative[:5])}")


# ---- trying ------------------------------------------------------------------------------------


def pythons() -> list[Path]:
    """Each supported Python on this machine: one per version, from the path or from pyenv."""
    found = []
    for classifier in project_of(ROOT)["classifiers"]:
        version = classifier.rpartition(" ")[2]
        if not re.fullmatch(r"3\.\d+", version):
            continue
        on_path = shutil.which(f"python{version}")
        of_pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        for path in filter(None, [on_path, *of_pyenv]):
            # A command on the path may be one that only names the installed versions.
            works = (
                subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
            )
            if works:
                found.append(Path(path))
                break
    return found


def try_in_empty_environment(built: Path, python: Path) -> None:
    """Install a distribution with the newest versions of what it needs, and test it outside of the repository."""
    folder = ROOT / "build" / "dist"
    run(UV, "venv", "--clear", "--python", python, folder)
    environment = folder / "bin" / "python"
    run(UV, "pip", "install", "--python", environment, built, "pytest", "hypothesis")
    options = ["-p", "no:cacheprovider", "-o", "pythonpath=tests"]
    # `python -m pytest` would put the repository on the import path.
    run(folder / "bin" / "pytest", "-q", *options, "tests/test_installed.py")
    readme = (ROOT / "README.md").read_text("utf-8")
    quickstart = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", readme, re.DOTALL)
    printed = run(environment, "-I", "-c", quickstart[1], cwd=folder)
    if printed != quickstart[2]:
        sys.exit(f"README's quickstart prints another table after the installation:\n{printed}")


def main() -> None:
    """Build, check and try a release, and say what is left to a person."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--draft", action="store_true", help="the files as they are, one Python")
    draft = arguments.parse_args().draft
    stage(draft)
    files = build()
    run(UV, "tool", "run", "twine", "check", "--strict", *files)
    for file in files:
        if file.suffix == ".whl":
            check_contents(file)
    tried = [Path(sys.executable)] if draft else pythons()
    for python in tried:
        for file in files:
            version = run(python, "--version").strip()
            print(f"{version}: {file.name} ...", flush=True)
            try_in_empty_environment(file, python)
    for file in files:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB, sha256 {digest}")
    if not draft:
        for sentence in left_to_do(STAGE):
            print(f"To do: {sentence}")
        print(f"Then: git tag v{version_of(STAGE)}, and upload the files of dist/ with twine.")


if __name__ == "__main__":
    main()
