import ast
from pathlib import Path

import pytest

from tools.mutants import drawn, mutants_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "path", ["ragnb/stats/effects.py", "ragnb/text.py", "ragnb/metrics/language.py"]
)
def test_each_mutant_is_one_change_of_the_code(path):
    """The second and third file contain letters of several bytes."""
    tree = ast.dump(ast.parse((ROOT / path).read_text("utf-8")))
    mutants = [*mutants_of(path)]
    assert len(mutants) > 10
    for mutant in mutants:
        assert ast.dump(ast.parse(mutant.source())) != tree, mutant


def test_the_same_seed_draws_the_same_mutants():
    assert drawn(3, 5) == drawn(3, 5) != drawn(3, 6)
