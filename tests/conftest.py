import os
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from support.data_folder import DataFolder

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
            "real data not at hand: run python -m tools.test_data FOLDER and set RAGNB_TEST_DATA to FOLDER"
        )
    return DataFolder(folder)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With RAGNB_CI, a test that is skipped because Chromium or Node is missing has failed."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and os.environ.get("RAGNB_CI"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if reason.startswith(("NO BROWSER", "NO NODE")):
            report.outcome = "failed"
            report.longrepr = f"RAGNB_CI is set, and a part of the machine is missing. {reason}"
    return report


def pytest_collection_modifyitems(config, items):
    """Begin with the files that take longest, so that no process is left with one of them at the end.

    With ``--shuffle``, the order is random. Only the cells of a notebook need those above them.
    """
    if config.getoption("shuffle") is not None:
        items[:] = shuffled(items, Random(config.getoption("shuffle")))
        return
    slow = {item.path for item in items if item.get_closest_marker("model")}
    rank = dict.fromkeys(("notebooks", "llm", "tests", "ensemble"), 1) | {"browser": 0}
    items.sort(key=lambda item: 0 if item.path in slow else rank.get(item.path.parent.name, 2))


def shuffled(items, random):
    """Files in random order, and the tests of each file in random order."""
    of_file = {}
    for item in items:
        of_file.setdefault(item.path, []).append(item)
    files = [*of_file]
    random.shuffle(files)
    for path in files:
        if path.suffix != ".ipynb":
            random.shuffle(of_file[path])
    return [item for path in files for item in of_file[path]]


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
