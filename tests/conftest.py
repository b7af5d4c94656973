import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure. Draws are the same each time; `make test-slow` explores with new and many ones.
settings.register_profile(
    "explore", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=1000
)
settings.register_profile(
    "ragnb", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("ragnb")


@pytest.fixture(scope="session")
def data_folder():
    """Folder of real benchmark files, named by RAGNB_TEST_DATA; tests that need it are skipped without it."""
    folder = os.environ.get("RAGNB_TEST_DATA")
    if not folder:
        pytest.skip(
            "real data not at hand: set RAGNB_TEST_DATA to a folder that holds rgb/en_fact.json and its like"
        )
    if not Path(folder).is_dir():
        pytest.fail(f"RAGNB_TEST_DATA needs to name a folder; got {folder!r}")
    return Path(folder)
