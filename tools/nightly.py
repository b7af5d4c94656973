"""Everything that takes too long for `make test`: ``make nightly``.

The steps run one after the other, also if one fails, and a summary says which ones did.
"""

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Each day has its own order of tests and its own mutants.
SEED = str(datetime.now(UTC).toordinal())
PYTEST = [sys.executable, "-m", "pytest", "-q"]
PROCESSES = ["--numprocesses=3", "--dist=loadfile", "--no-loadscope-reorder"]
STEPS = {
    "slow tests": [*PYTEST, "-m", "slow", "tests"],
    "shuffled, one process": [*PYTEST, "-m", "not slow", f"--shuffle={SEED}", "tests"],
    "shuffled, three processes": [*PYTEST, "-m", "not slow", f"--shuffle={SEED}", *PROCESSES, "tests"],
    "new random cases": [*PYTEST, "-m", "hypothesis and not slow", "--hypothesis-profile=explore", "tests"],
    "mutants": [sys.executable, "-m", "tools.mutants", "60", SEED],
    "oldest versions": ["tools/versions.sh"],
    "newest versions": ["tools/versions.sh", "highest"],
}  # fmt: skip


def run(steps: dict[str, list[str]]) -> dict[str, int]:
    """Run the steps, and return the exit code of each."""
    codes = {}
    for name, command in steps.items():
        print(f"\n==== {name}: {' '.join(command)}", flush=True)
        started = time.monotonic()
        codes[name] = subprocess.run(command, cwd=ROOT).returncode
        print(f"==== {name}: {(time.monotonic() - started) / 60:.0f} minutes", flush=True)
    return codes


def main(steps: dict[str, list[str]]) -> int:
    """Run the steps, print a summary, and return the exit code."""
    codes = run(steps)
    print()
    for name, code in codes.items():
        print(f"{name}: {'passed' if code == 0 else f'FAILED with code {code}'}")
    return int(any(codes.values()))


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(STEPS)
    sys.exit(main({name: STEPS[name] for name in chosen}))
