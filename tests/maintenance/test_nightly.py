import pytest

from tools.nightly import STEPS, main


def test_a_step_that_fails_does_not_stop_the_others(capfd):
    assert main({"first": ["false"], "second": ["echo", "done"]}) == 1
    printed = capfd.readouterr().out
    assert "done" in printed
    assert "first: FAILED with code 1\nsecond: passed" in printed
    assert main({"second": ["true"]}) == 0


@pytest.mark.parametrize("name", ["slow tests", "mutants", "oldest versions", "newest versions"])
def test_the_night_has_each_kind_of_step(name):
    assert name in STEPS
