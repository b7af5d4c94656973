"""The package as its users have it: what was built is complete, and works beside nothing but what it declares.

`make dist` installs the wheel and the source distribution, each into an empty environment, and asks these questions there.
In a checkout they are asked of the tree, and those that need what was built, or that other tests ask, are skipped.
"""

import csv
import io
import json
import subprocess
import sys
import sysconfig
import tarfile
from importlib import import_module, metadata
from pathlib import Path
from pkgutil import walk_packages

import pandas as pd
import pytest

import ragnb
from ragnb.annotation import AnnotationSession
from ragnb.annotation.log import read_log
from ragnb.experiments import recorded_responses

ROOT = Path(__file__).parents[1]
SCRIPT = Path(sysconfig.get_path("scripts")) / "ragnb"
KINDS = set(".bib .css .csv .gz .html .js .json .jsonl .md .npz .py .pyi .toml .txt .typed".split())
ROWS = [
    ("question", "references", "response", "language"),
    ("Capital of Norway?", "Oslo", "It is Oslo.", "en"),
    ("挪威的首都是哪里?", "奥斯陆", "奥斯陆", "zh"),
    ("เมืองหลวงของไทย?", "กรุงเทพ", "เชียงใหม่", "th"),
    ("राजधानी?", "नई दिल्ली", "नई दिल्ली", "hi"),
    ("ما العاصمة؟", "القاهرة", "القاهرة", "ar"),
    ("מה הבירה?", "ירושלים", "תל אביב", "he"),
]  # fmt: skip


@pytest.fixture(scope="module")
def installed():
    """What the installer noted down; a package in the tree itself has nothing to ask."""
    found = list(metadata.distributions(name="ragnb", path=[sysconfig.get_path("purelib")]))
    if not found or '"editable"' in (found[0].read_text("direct_url.json") or ""):
        pytest.skip("ragnb is not installed but in the tree; `make dist` installs it")
    return found[0]


def files_of(distribution):
    return {path.as_posix() for path in distribution.files if path.suffix != ".pyc"}


# ---- what was built ----------------------------------------------------------------------------------------------------


def test_what_is_imported_is_what_was_installed(installed):
    assert Path(ragnb.__file__).samefile(installed.locate_file("ragnb/__init__.py"))
    assert installed.version == ragnb.__version__


def test_the_files_of_the_package_are_those_of_the_tree_and_nothing_else_is_installed(installed):
    ours = {name for name in files_of(installed) if name.startswith("ragnb/")}
    tree = {
        path
        for path in (ROOT / "ragnb").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert ours == {path.relative_to(ROOT).as_posix() for path in tree}
    assert {Path(name).suffix for name in ours} == KINDS
    rest = files_of(installed) - ours
    assert {name for name in rest if ".dist-info/" not in name} == {"../../../bin/ragnb"}
    assert {Path(name).name for name in rest} >= {"LICENSE", "METADATA"}


def test_the_source_distribution_is_the_repository(installed):
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    archive = ROOT / "dist" / f"ragnb-{installed.version}.tar.gz"
    if listed.returncode or not archive.exists():
        pytest.skip("not a git checkout, or nothing built in it")
    with tarfile.open(archive) as files:
        packed = {member.name.partition("/")[2] for member in files if member.isfile()}
    made = {
        "PKG-INFO",
        "setup.cfg",
        *(name for name in packed if name.startswith("ragnb.egg-info/")),
    }
    assert packed - made == {
        name for name in listed.stdout.split("\0") if name and not name.startswith(".")
    }


# ---- what it does ------------------------------------------------------------------------------------------------------


def test_every_module_is_imported_without_what_is_optional():
    for module in walk_packages(ragnb.__path__, "ragnb."):
        import_module(module.name)
    assert all(getattr(ragnb, name) is not None for name in ragnb.__all__)
    assert (Path(ragnb.__file__).parent / "py.typed").is_file()


def test_from_responses_to_a_table_and_a_figure(installed, tmp_path):
    scores = ragnb.score(recorded_responses("rgb_integration"), "rgb.accuracy", explain=True)
    summaries = ragnb.summarize(scores)
    differences = ragnb.compare(scores, baseline="plain")
    assert summaries["mean"].between(0, 1).all()
    assert differences["p_value"].between(0, 1).all()
    assert ragnb.to_latex(summaries, comparisons=differences).count("\\toprule") == 1
    ragnb.plot(summaries, save=tmp_path / "curve")
    assert {path.suffix for path in tmp_path.iterdir()} == {".pdf", ".svg", ".png", ".json"}


def test_a_viewer_without_and_with_a_kernel():
    from ragnb.widgets import Card

    records = ragnb.load_ragbench("sample-ragbench")
    assert "<mark" in Card(records.iloc[0])._repr_html_()
    assert str(ragnb.view(records)) == "FrameView(34 rows: trace, language)"


def test_an_annotation_log_is_gone_on_with(tmp_path):
    examples = pd.DataFrame([dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]])
    examples.insert(0, "example_id", [f"q/{i}" for i in range(len(examples))])
    for number, verdict in enumerate(["correct", "incorrect"]):
        session = AnnotationSession(examples, "verdict", "ana", tmp_path)
        session.go(number)
        session.label("verdict", verdict)
        session.log.close()
    header, events = read_log(tmp_path / "ana.verdict.sqlite")
    assert header["ragnb"] == ragnb.__version__
    assert [event["action"] for event in events].count("label") == 2
    assert session.progress()["labelled"] == 2


# ---- in a terminal -----------------------------------------------------------------------------------------------------


def printed(*command):
    return subprocess.run(
        [*map(str, command)], capture_output=True, encoding="utf-8", check=True, timeout=120
    ).stdout


def test_the_command_says_its_version():
    assert printed(SCRIPT, "--version") == f"ragnb {ragnb.__version__}\n"


def test_the_module_scores_a_csv(installed, tmp_path):
    text = io.StringIO()
    csv.writer(text).writerows(ROWS)
    (tmp_path / "mine.csv").write_text(text.getvalue(), "utf-8")
    command = [
        sys.executable,
        "-m",
        "ragnb",
        "score",
        tmp_path / "mine.csv",
        "--metrics",
        "answer.contains",
    ]
    [row] = json.loads(printed(*command, "--by", "system", "--format", "json"))
    assert (row["mean"], row["n_scored"]) == (pytest.approx(4 / 6), 6)
