"""What must not take longer than is said here, and how long it takes.

python -m benchmarks.bounds           # imports, each in new processes
python -m benchmarks.bounds --long    # `make figures` and `make test`, kept in benchmarks/long.json
"""

import argparse
import subprocess
import sys
import time
from statistics import median

from benchmarks.timing import keep, keep_long

IMPORTS = {
    "import ragnb": 0.5,
    "from ragnb import score": None,
    "from ragnb import load_rgb": None,
    "from ragnb import MetricEnsemble": None,
    "from ragnb import judge_report": None,
    "from ragnb import complete": None,
    "from ragnb import view": None,
    "from ragnb.figures import plot_noise_curve": None,
}
"""Seconds that a line may take as the first of a process; None where there is no bound."""

COMMANDS = {"figures": 120.0, "test": 900.0}
"""Seconds that `make` may take in an environment that is there."""

TIMED = "import time; start = time.perf_counter(); {line}; print(time.perf_counter() - start)"


def first_use(line: str) -> float:
    """Seconds of a line in a process of its own, once Python has started."""
    command = [sys.executable, "-c", TIMED.format(line=line)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def imports(processes: int) -> list[dict]:
    """A row a line: the median over processes, and the longest."""
    rows = []
    for line, bound in IMPORTS.items():
        taken = [first_use(line) for _ in range(processes)]
        rows.append(
            {
                "what": line,
                "seconds": median(taken),
                "longest": max(taken),
                "n": processes,
                "bound": bound,
            }
        )
    return rows


def command(target: str) -> dict:
    """How long `make` takes, which must succeed."""
    subprocess.run(["make", ".venv/ready", ".venv/model"], check=True)
    start = time.perf_counter()
    subprocess.run(["make", target], check=True)
    return {
        "what": f"make {target}",
        "seconds": time.perf_counter() - start,
        "bound": COMMANDS[target],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--processes", type=int, default=5)
    given = parser.parse_args()
    if not given.long:
        return keep("bounds", {"rows": imports(given.processes)})
    for target in COMMANDS:
        keep_long(f"make {target}", command(target))


if __name__ == "__main__":
    main()
