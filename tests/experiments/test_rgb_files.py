"""Counts of what RGB's own files hide: the kept ones are those of the files, and only published files are counted."""

import json
import shutil

import pytest
from recording.rgb_files import COMMAND, count_issues

from ragnb.datasets.auditing import ISSUES
from ragnb.errors import InputError
from ragnb.experiments.rgb_files import rgb_file_issues


def test_every_file_has_every_issue_and_no_count_beyond_its_questions():
    table = rgb_file_issues()
    assert table.groupby("file")["issue"].agg(list).map(set).eq(set(ISSUES)).all()
    assert table["found"].between(0, table["questions"]).all()


def test_the_counts_name_their_files_and_hold_no_text():
    provenance = rgb_file_issues().attrs["provenance"]
    assert provenance["command"] == COMMAND
    assert [file["name"] for file in provenance["files"]] == rgb_file_issues()[
        "file"
    ].drop_duplicates().tolist()
    assert all(
        file["verified"] and file["licence"].startswith("CC BY-NC-SA 4.0")
        for file in provenance["files"]
    )
    assert json.dumps(provenance).isascii()


@pytest.mark.data
def test_the_kept_counts_are_those_of_the_files(data_folder):
    folder = data_folder / "rgb"
    counted = count_issues(folder)
    assert counted.equals(rgb_file_issues())
    assert list(counted.attrs["files"].values()) == rgb_file_issues().attrs["provenance"]["files"]


@pytest.mark.data
def test_a_file_that_is_not_as_published_is_not_counted(data_folder, tmp_path):
    """One line less is another file; so is one put together again from elsewhere."""
    for name in ("zh_int", "en_refine_first50"):
        shutil.copy(data_folder / "rgb" / f"{name}.json", tmp_path)
    lines = (data_folder / "rgb" / "en_fact.json").read_bytes().splitlines(keepends=True)
    (tmp_path / "en_fact.json").write_bytes(b"".join(lines[1:]))
    assert count_issues(tmp_path)["file"].unique().tolist() == ["zh_int"]
    (tmp_path / "zh_int.json").unlink()
    with pytest.raises(InputError, match="files as RGB publishes them; got none in"):
        count_issues(tmp_path)
