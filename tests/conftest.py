import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# As in `make test`: progress and lines about sizes are for a person at the screen.
os.environ.setdefault("TQDM_DISABLE", "1")

# A busy machine is no failure. Draws are the same each time; `--hypothesis-profile=explore` draws many new ones.
settings.register_profile(
    "explore", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=1000
)
settings.register_profile(
    "ragnb",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=50,
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
        pytest.fail(f"RAGNB_TEST_DATA needs to name a folder, got {folder!r}")
    return Path(folder)


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest, so that no process is left with one of them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("model")}
    rank = dict.fromkeys(("notebooks", "llm", "tests", "ensemble"), 1) | {"browser": 0}
    items.sort(key=lambda item: 0 if item.path in slow else rank.get(item.path.parent.name, 2))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """One file after the other for each process; all that shares a JupyterLab counts as one file."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            shared = "tests/browser"
            return shared if nodeid.startswith(f"{shared}/") else super()._split_scope(nodeid)

    return Scheduling(config, log)
