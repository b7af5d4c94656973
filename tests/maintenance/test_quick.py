import subprocess
import sys
from pathlib import Path

import pytest

from tools import quick
from tools.quick import InTime, nearest_tests, own_tests, uses

ROOT = Path(__file__).parents[2]


def test_names_of_faces_and_attributes_lead_to_their_modules():
    assert "ragnb.stats.paired" in uses("ragnb/scoring/procedures.py")
    assert "ragnb.scoring.comparisons" in uses("tests/scoring/test_comparisons.py")


def test_the_lists_come_first_then_the_tests_of_the_changed_module_then_those_of_its_users():
    files = nearest_tests(["ragnb/stats/paired.py"])
    assert files[:3] == quick.LISTINGS
    assert files[3:5] == ["tests/stats/test_paired.py", "ragnb/stats/paired.py"]
    places = [files.index(name) for name in (*quick.RULES, "tests/scoring/test_comparisons.py")]
    assert places == sorted(places)
    assert not [name for name in files if name.startswith("tests/browser/")]
    assert nearest_tests(["docs/recipes.md"])[3] == "tests/test_docs.py"
    # The bundle is compared with its sources before the tests of widgets, and a task is tested before all logs.
    widget = ["ragnb/widgets/rows.py", "tools/js/src/rows.mjs"]
    assert nearest_tests(widget)[3] == "tests/widgets/test_javascript.py"
    assert (
        nearest_tests(["ragnb/annotation/data/tasks.toml"])[3] == "tests/annotation/test_tasks.py"
    )
    assert "tests/notebooks/test_notebooks.py" in nearest_tests(["notebooks/00_start_here.ipynb"])


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("ragnb/llm/pace.py", ["tests/llm/test_pace.py", "tests/llm/test_client.py"]),
        ("ragnb/metrics/answer.py", ["tests/scoring/test_variants.py", "tests/metrics/test_answer.py"]),
        ("ragnb/metrics/__init__.py", ["tests/test_typing.py"]),
        ("tests/llm/test_client.py", ["tests/llm/test_client.py"]),
        ("notebooks/13_significance_tests.ipynb", ["tests/notebooks/test_notebooks.py", "tests/test_first_minutes.py", "tests/notebooks/recomputed/test_13.py"]),
        ("tools/quick.py", ["tests/maintenance/test_quick.py"]),
        ("pyproject.toml", ["tests/test_environment.py"]),
    ],
)  # fmt: skip
def test_each_kind_of_file_has_its_tests(path, tests):
    assert own_tests(path) == tests


TESTS = """
def test_first(): pass
def test_second(): pass
def test_third(): assert 0
"""


@pytest.mark.parametrize(
    ("seconds", "code", "printed"),
    [(1, 0, "2 of 3 tests ran"), (60, 1, "1 failed, 2 passed")],
)
def test_no_test_begins_late_and_a_failure_counts(tmp_path, seconds, code, printed):
    """The clock of this run advances by one second whenever somebody looks at it."""
    file = tmp_path / "test_made.py"
    file.write_text(TESTS, "utf-8")
    script = f"""
import itertools, sys, types
from tools import quick
quick.time = types.SimpleNamespace(monotonic=itertools.count().__next__)
quick.SECONDS = {seconds}
quick.changed_files = lambda base: ["made"]
quick.nearest_tests = lambda changed: [{str(file)!r}]
sys.exit(quick.main())
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, printed in done.stdout) == (code, True), done.stdout


def test_the_nearest_files_run_first():
    class Item:
        def __init__(self, name):
            self.path = ROOT / name

    items = [Item("b.py"), Item("a.py"), Item("b.py")]
    InTime(["a.py", "b.py"]).pytest_collection_modifyitems(items)
    assert [item.path.name for item in items] == ["a.py", "b.py", "b.py"]
