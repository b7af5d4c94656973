"""Where tests are: those of a module are in the file of its name, or the module says in one line where they are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = [path for path in sorted(ROOT.glob("ragnb/**/*.py")) if not path.stem.startswith("__")]
JAVASCRIPT = ROOT / "tools" / "js"
SCRIPTS = sorted(JAVASCRIPT.glob("src/**/*.mjs"))
# Modules without functions.
WITHOUT_TESTS = {"ragnb/version.py"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "ragnb")))
def test_the_tests_of_a_module_are_in_the_file_of_its_name_or_in_the_one_that_it_names(path):
    name = path.relative_to(ROOT)
    own = Path("tests", *name.parts[1:-1], f"test_{name.name}")
    elsewhere = re.findall(
        r"^# Tested in (tests/\S+\.py)\.$", path.read_text("utf-8"), re.MULTILINE
    )
    if (ROOT / own).exists():
        assert not elsewhere, f"delete the line '# Tested in': {own} exists"
        return
    assert elsewhere or str(name) in WITHOUT_TESTS, (
        f"write {own}, or below the docstring of {name} the line '# Tested in tests/….py.'"
    )
    for test in elsewhere:
        assert (ROOT / test).exists(), f"{name} names {test}, which does not exist"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_module_of_the_javascript_is_tested_by_node_or_says_which_test_opens_it_in_a_browser(
    path,
):
    name = path.relative_to(JAVASCRIPT / "src").as_posix()
    elsewhere = re.findall(
        r"^// Tested in (tests/\S+\.py)\.$", path.read_text("utf-8"), re.MULTILINE
    )
    imported = [
        test
        for test in JAVASCRIPT.glob("test/*.mjs")
        if f'"../src/{name}"' in test.read_text("utf-8")
    ]
    assert imported or elsewhere, (
        f"test {name} in tools/js/test, or write the line '// Tested in tests/browser/….py.' at its top"
    )
    for test in elsewhere:
        assert (ROOT / test).exists(), f"{name} names {test}, which does not exist"


def test_what_is_not_a_test_is_not_among_the_tests():
    """Scripts are in tools/, and what several files of tests share is in tests/support."""
    for path in sorted(ROOT.glob("tests/**/*.py")):
        folder = path.relative_to(ROOT / "tests").parts[0]
        is_test = path.name.startswith("test_") or path.name == "conftest.py"
        assert is_test or folder == "support" or "made_by" in path.parts, path


def test_no_test_imports_from_another_file_of_tests():
    for path in sorted(ROOT.glob("tests/**/*.py")):
        imported = re.findall(r"^from (test_\w+|conftest) import", path.read_text("utf-8"), re.M)
        assert not imported, f"{path.name}: move what it shares to tests/support"
