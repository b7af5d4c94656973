"""What every benchmark tells of itself goes into pytest-benchmark's JSON, and what could not run does, too."""

import pytest

from benchmarks.timing import BESIDE, installed, surroundings, versions

MISSING = pytest.StashKey[list]()
DISTRIBUTIONS = pytest.StashKey[set]()
STARTED = pytest.StashKey[dict]()
LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser):
    parser.addoption(
        "--quick",
        action="store_true",
        help="one round without warming up where rounds are counted: a trial run",
    )


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "task(name, n): what a benchmark does, see benchmarks/timing.py"
    )
    config.addinivalue_line(
        "markers", "who(name, distribution): whose way it is, see benchmarks/timing.py"
    )
    config.stash[MISSING], config.stash[DISTRIBUTIONS] = [], set(BESIDE)
    config.stash[LEFT_OUT] = 0
    config.stash[STARTED] = (
        surroundings()
    )  # before the benchmarks themselves are what the machine is busy with


def pytest_deselected(items):
    if items:
        items[0].config.stash[LEFT_OUT] += len(items)


@pytest.fixture(autouse=True)
def told(request, benchmark):
    """Group and particulars of the benchmark, from the marks of the test; skips a peer that is not installed."""
    parameters = dict(request.node.callspec.params) if hasattr(request.node, "callspec") else {}
    name, n = request.node.get_closest_marker("task").args
    who, distribution = request.node.get_closest_marker("who").args
    task = {
        "task": name.format(**parameters),
        "n": parameters.get("n") if n is None else n,
        "who": who.format(**parameters),
    }
    benchmark.group = f"{task['task']}, n = {task['n']}"
    benchmark.extra_info.update(task)
    if distribution and not installed(distribution):
        module = request.node.nodeid.partition("::")[0]
        request.config.stash[MISSING].append({**task, "module": module, "needs": distribution})
        pytest.skip(f"{distribution} is not installed")
    if distribution:
        request.config.stash[DISTRIBUTIONS].add(distribution)


@pytest.fixture
def few(request, benchmark):
    """Time a function some rounds after warming up, where it takes too long to be timed until the time is steady."""
    quick = request.config.getoption("quick")

    def timed(function, *arguments, rounds=3, warm=True, **options):
        counts = {
            "rounds": 1 if quick else rounds,
            "warmup_rounds": int(warm and not quick),
            "iterations": 1,
        }
        return benchmark.pedantic(function, args=arguments, kwargs=options, **counts)

    return timed


def pytest_benchmark_update_json(config, benchmarks, output_json):
    output_json["of"] = config.stash[STARTED]
    output_json["quick"] = config.getoption("quick")
    output_json["left_out"] = config.stash[LEFT_OUT]
    output_json["missing"] = config.stash[MISSING]
    output_json["versions"] = versions(sorted(config.stash[DISTRIBUTIONS]))
