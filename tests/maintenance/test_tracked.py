import subprocess

import pytest

from tools.tracked import digests, run


@pytest.fixture
def checkout(tmp_path):
    """A git checkout with two tracked files."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name, "utf-8")
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_a_command_that_changes_a_tracked_file_fails_and_the_file_is_named(checkout, capsys):
    assert run("echo new > a.txt; rm b.txt; echo c > c.txt", checkout) == 1
    assert "changed 2 tracked files" in capsys.readouterr().err
    # What was changed before the command is not its doing, and the same content is no change.
    assert run("echo new > a.txt", checkout) == 0


def test_a_command_that_changes_nothing_keeps_its_exit_code(checkout):
    assert run("echo c > c.txt", checkout) == 0
    assert run("exit 3", checkout) == 3


def test_without_a_checkout_the_command_runs_unchecked(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert digests(tmp_path) == {}
    assert run("exit 4", tmp_path) == 4


def test_a_figure_is_compared_by_its_numbers_to_nine_digits(tmp_path):
    """Another processor may compute another last digit."""
    folder = tmp_path / "figures"
    folder.mkdir()
    for name in ("a.png", "a.json", "drawing.svg"):
        (folder / name).write_text('{"mean": 0.12345678901234, "n": 12}', "utf-8")
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    before = digests(tmp_path)
    (folder / "a.json").write_text('{"mean": 0.12345678901233, "n": 12}', "utf-8")
    (folder / "a.png").write_text("a line elsewhere", "utf-8")
    assert digests(tmp_path) == before
    for text in ('{"mean": 0.12345679901, "n": 12}', '{"mean": 0.12345678901234, "n": 13}'):
        (folder / "a.json").write_text(text, "utf-8")
        changed = digests(tmp_path)
        assert [name for name in before if changed[name] != before[name]] == ["figures/a.json"]
    (folder / "a.json").unlink()
    (folder / "drawing.svg").write_text("another drawing", "utf-8")
    changed = digests(tmp_path)
    assert {name for name in before if changed[name] != before[name]} == {*before}
