"""The folder of real benchmark files, which RAGNB_TEST_DATA names."""

from pathlib import Path

import pytest

# Folders with files that have no licence or no fixed form: `tools/test_data.py` cannot fetch them.
NOT_FETCHED = ("lbrag", "nomiracl", "official_scripts", "ragbench")


class DataFolder:
    """Places in the folder, by ``folder / "rgb" / "en_fact.json"``.

    A test is skipped if it needs a folder that cannot be fetched, and fails if another one is missing.
    """

    def __init__(self, folder):
        self.path = Path(folder)
        if not self.path.is_dir():
            pytest.fail(f"RAGNB_TEST_DATA must name a folder, got {str(folder)!r}")

    def __truediv__(self, name):
        first = Path(name).parts[0]
        if not (self.path / first).exists():
            if first in NOT_FETCHED:
                pytest.skip(f"{first} is not in RAGNB_TEST_DATA, and cannot be fetched")
            pytest.fail(
                f"RAGNB_TEST_DATA must name a folder with {first}, got {str(self.path)!r}; "
                f"run python -m tools.test_data {self.path}"
            )
        return self.path / name

    def __fspath__(self):
        return str(self.path)

    @property
    def parent(self):
        return self.path.parent
