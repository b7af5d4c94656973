"""What type checkers, editors and readers see of the public names: the stubs, the signatures and the docstrings agree."""

import inspect
import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import jedi
import pytest

import ragnb
from tools.stubs import FACES, path_of, stub_of

ROOT = Path(__file__).parents[1]
HEADING = r"^(?:{})\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)"


def public(kind):
    """The public names of a kind, each with its value; what is also in the top level counts once."""
    for face in FACES:
        for name in import_module(face).__all__:
            value = getattr(import_module(face), name)
            if kind(value) and (face == "ragnb" or getattr(ragnb, name, None) is not value):
                yield f"{face}.{name}", value


FUNCTIONS = dict(public(inspect.isfunction))
CLASSES = dict(public(lambda value: inspect.isclass(value) and not issubclass(value, Exception)))


@pytest.mark.parametrize("face", FACES)
def test_each_stub_is_that_of_its_face(face):
    assert path_of(face).read_text("utf-8") == stub_of(face), "run python -m tools.stubs"


# ---- what a type checker sees --------------------------------------------------------------------


def checked(code, folder):
    """What mypy prints about a file that uses the package, with the strictest settings."""
    file = folder / "use.py"
    file.write_text(f"import numpy as np\nimport ragnb\n{code}\n", "utf-8")
    # The settings and the cache are those of the package, whose modules are then checked once.
    settings = [f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={ROOT / '.mypy_cache'}"]
    # In a process of its own, because mypy lets Python look for garbage among all collected tests again.
    command = [sys.executable, "-m", "mypy", *settings, str(file)]
    surroundings = os.environ | {"MYPYPATH": str(ROOT)}
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", env=surroundings)
    assert not ran.stderr
    return [line.partition(": ")[2] for line in ran.stdout.splitlines()]


@pytest.fixture(scope="module")
def revealed(tmp_path_factory):
    """The type of each public function and class as mypy prints it."""
    names = [*FUNCTIONS, *CLASSES]
    imports = "\n".join(f"import {face}" for face in FACES)
    folder = tmp_path_factory.mktemp("revealed")
    lines = checked("\n".join([imports, *(f"reveal_type({name})" for name in names)]), folder)
    shown = [found[1] for line in lines if (found := re.search(r'Revealed type is "(.*)"$', line))]
    return dict(zip(names, shown, strict=True))


def arguments_in(shown):
    """The names of the arguments in a type such as ``def (a: int, *, b: str =) -> int``."""
    text = shown[shown.index("(") + 1 :]
    arguments, depth, begin = [], 0, 0
    for place, sign in enumerate(text):
        if sign == ")" and not depth:
            arguments.append(text[begin:place])
            break
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            arguments.append(text[begin:place])
            begin = place + 1
    names = [argument.strip().partition(":")[0] for argument in arguments]
    return [name for name in names if name not in ("*", "")]


def arguments_of(function):
    """The names of the arguments that Python sees, with the stars of those that take several."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(function).parameters.values()
    return [stars.get(one.kind, "") + one.name for one in parameters]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_type_checker_sees_the_arguments_of_each_function(name, revealed):
    assert re.match(r"def (\[.*?\] )?\(", revealed[name]), revealed[name]
    assert arguments_in(revealed[name]) == arguments_of(FUNCTIONS[name])


@pytest.mark.parametrize("name", CLASSES)
def test_a_type_checker_knows_each_class(name, revealed):
    assert re.match(r"def (\[.*?\] )?\(|Overload\(", revealed[name]), revealed[name]
    assert not revealed[name].startswith("def (*Any, **Any)")


RIGHT = """
scores = ragnb.score(ragnb.load_study("evouna-nq"), ["answer.exact_match", "answer.f1"])
table = ragnb.stats.paired_table([1, 1, 0], np.array([1, 0, 0]))
interval = ragnb.stats.tango_interval(table, confidence_level=0.9)
low: float = interval.low
test = ragnb.stats.sign_flip_test([0.5, 1.0], (0.0, 1.0), clusters=["a", "b"])
rank: int = ragnb.conformal.conformal_rank(100, 0.1)
sets = ragnb.conformal.ConformalClassifier.calibrate([0.9, 0.2], [1, 0]).sets([0.5], alpha="0.4")
f1: float = ragnb.metrics.token_f1("in Oslo", "Oslo")
texts = ragnb.run_noise_robustness(ragnb.load_rgb("sample-en"), model="m", noise_rates=[0.2], offline=True)
ragnb.llm.batch
"""
WRONG = {
    "ragnb.scor(1)": "attr-defined",
    "ragnb.stats.tango_intervall(1)": "attr-defined",
    "ragnb.compare(None, mtrics='f1')": "call-arg",
    "ragnb.stats.adjust([0.1], 'holmes')": "arg-type",
    "ragnb.stats.sign_flip_test([1.0], alternative='larger')": "arg-type",
    "ragnb.metrics.token_f1('in Oslo', 'Oslo', varant='raw')": "call-arg",
    "ragnb.run_rgb(None, model='m', of_line=True)": "call-arg",
    "ragnb.load_study('evouna')": "arg-type",
}


def test_a_right_use_has_no_error_and_a_wrong_one_has_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("MYPYPATH", str(ROOT))
    assert checked(RIGHT, tmp_path)[-1:] == ["no issues found in 1 source file"]
    found = [re.search(r"\[([\w-]+)\]$", line) for line in checked("\n".join(WRONG), tmp_path)]
    assert [error[1] for error in found if error] == [*WRONG.values()]


@pytest.mark.parametrize("name", ["run_rgb", "compare", "save_plot", "sign_flip_test", "token_f1"])
def test_an_editor_completes_the_arguments_of_a_function(name):
    """Editors read the stub; a notebook looks at the function itself."""
    place = next(full for full in FUNCTIONS if full.endswith(f".{name}"))
    in_editor = jedi.Script(f"import ragnb\n{place}(").get_signatures()
    in_notebook = jedi.Interpreter(f"{place}(", [{"ragnb": ragnb}]).get_signatures()
    for shown in (in_editor, in_notebook):
        assert [one.name for one in shown[0].params] == [
            *inspect.signature(FUNCTIONS[place]).parameters
        ]


# ---- what a reader sees --------------------------------------------------------------------------


def test_each_function_and_class_is_once_in_the_reference_of_the_api():
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    pages = {face: conf["api_page"](face) for face in conf["FACES"]}
    listed = [
        f"{face}.{name}"
        for face, page in pages.items()
        for name in re.findall(r"^\.\. auto(?:function|class):: (\w+)$", page, re.MULTILINE)
    ]
    errors = {f"ragnb.{name}" for name in ragnb.__all__ if name.endswith("Error")}
    assert sorted(listed) == sorted({*FUNCTIONS, *CLASSES} | errors)


def described(value, headings="Parameters"):
    """The names in a section of a docstring."""
    section = HEADING.format(headings)
    names = []
    for text in re.findall(section, f"{inspect.getdoc(value)}\n", flags=re.MULTILINE | re.DOTALL):
        for heading in re.findall(r"^(\*{0,2}\w.*)$", text, flags=re.MULTILINE):
            names += [name.strip() for name in heading.partition(" :")[0].split(",")]
    return names


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_docstring_of_a_function_describes_each_argument_and_no_other(name):
    """Options that are passed on may be described one by one."""
    names = [name.lstrip("*") for name in described(FUNCTIONS[name])]
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    several = [one.name for one in parameters.values() if one.kind is one.VAR_KEYWORD]
    if several and not {*several} & {*names}:
        assert {*parameters} - {*several} <= {*names}
    else:
        assert sorted(names) == sorted(parameters)


@pytest.mark.parametrize("name", CLASSES)
def test_the_docstring_of_a_class_describes_no_argument_that_it_does_not_have(name):
    arguments = {argument.lstrip("*") for argument in arguments_of(CLASSES[name])}
    assert {name.lstrip("*") for name in described(CLASSES[name])} <= arguments
