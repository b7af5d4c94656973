"""Fuzzing of all that reads what others wrote: ``python -m fuzz --cases 1000000 --seed 1`` from the folder ``tests``.

A case is drawn from its seed, target and number alone. It is good when the reader gives what it documents or raises an
error of ragnb's own. Anything else is printed with the command that draws it again, and the exit code is 1.
"""

import argparse
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

from fuzz import loaders, parsers

from ragnb.errors import RagnbError

GROUPS = {"parsers": parsers.TARGETS, "loaders": loaders.TARGETS}
TARGETS = {
    f"{group}.{name}": draw for group, targets in GROUPS.items() for name, draw in targets.items()
}
SHARES = {f"loaders.{name}": share for name, share in loaders.SHARES.items()}
BLOCK = 500
HANGS = 60
"""Seconds of the processor's time after which a block of cases has one that never ends."""


class Finding(NamedTuple):
    """A case that ended in neither way that is right."""

    target: str
    number: int
    error: str
    trace: str


class Outcome(NamedTuple):
    """What came of some cases."""

    n: int
    refused: int
    findings: list[Finding]
    slowest: tuple[float, str, int]


def run(target: str, seed: int, numbers: range) -> Outcome:
    """Read some cases of one target."""
    refused, findings, slowest = 0, [], (0.0, target, 0)
    for number in numbers:
        _, read = draw(target, seed, number)
        start = time.process_time()
        try:
            read()
        except RagnbError:
            refused += 1
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            findings.append(
                Finding(
                    target,
                    number,
                    f"{type(error).__name__}: {error!s:.200}",
                    traceback.format_exc(limit=-6),
                )
            )
        slowest = max(slowest, (time.process_time() - start, target, number))
    return Outcome(len(numbers), refused, findings, slowest)


def draw(target: str, seed: int, number: int) -> tuple[Any, Callable[[], None]]:
    """The input of a case, and a call that reads it."""
    return TARGETS[target](random.Random(f"{seed}/{target}/{number}"))


def _guarded(job: tuple[str, int, range]) -> Outcome:
    warnings.simplefilter("error")  # a warning that nobody meant is a finding, too
    signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(
        signal.ITIMER_VIRTUAL, HANGS
    )  # of the processor's time: a busy machine is no fault of the case
    try:
        return run(*job)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _too_long(*_: Any) -> None:
    raise TimeoutError("a case does not end")


def _jobs(names: list[str], seed: int, cases: int) -> Iterator[tuple[str, int, range]]:
    """Blocks of cases, one target after the other."""
    whole = sum(SHARES.get(name, 1) for name in names)
    for name in names:
        share = -(-cases * SHARES.get(name, 1) // whole)
        yield from (
            (name, seed, range(start, min(start + BLOCK, share)))
            for start in range(0, share, BLOCK)
        )


def fuzz(
    names: list[str], seed: int, cases: int, processes: int, known: dict[str, Finding]
) -> tuple[int, int, tuple[float, str, int]]:
    """Read so many cases in all; return how many were read and refused, and the slowest. Findings go to ``known``."""
    n = refused = 0
    slowest = (0.0, "", 0)
    with ProcessPoolExecutor(processes) as pool:
        jobs = _jobs(names, seed, cases)
        while block := list(islice(jobs, 100)):
            for outcome in pool.map(_guarded, block):
                n, refused, slowest = (
                    n + outcome.n,
                    refused + outcome.refused,
                    max(slowest, outcome.slowest),
                )
                for finding in outcome.findings:
                    _tell(finding, seed, known)
    return n, refused, slowest


def _tell(finding: Finding, seed: int, known: dict[str, Finding]) -> None:
    """Print a finding in full the first time that it happens there."""
    place = finding.target + finding.trace.split("\n\n")[0].rpartition("  File")[2]
    if place not in known:
        again = f"python -m fuzz --target {finding.target} --seed {seed} --case {finding.number}"
        print(
            f"\n{finding.target}: {finding.error}\n{again}\n{finding.trace}".encode(
                "ascii", "backslashreplace"
            ).decode(),
            flush=True,
        )
        known[place] = finding


def _show(target: str, seed: int, number: int) -> None:
    shown, read = draw(target, seed, number)
    print(repr(shown))
    read()


def main() -> int:
    """Read the command line; 1 when a case was found that ends as none should."""
    words = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    words.add_argument(
        "--cases",
        type=int,
        default=1_000_000,
        help="cases of the parsers, and as many of the loaders",
    )
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--processes", type=int, default=2)
    words.add_argument(
        "--target", default="", help=f"the beginning of some of: {', '.join(TARGETS)}"
    )
    words.add_argument("--case", type=int, help="read this one case of the target, and show it")
    given = words.parse_args()
    if given.case is not None:
        _show(given.target, given.seed, given.case)
        return 0
    known: dict[str, Finding] = {}
    for group in GROUPS:
        names = [
            name
            for name in TARGETS
            if name.startswith(f"{group}.") and name.startswith(given.target)
        ]
        if names:
            start = time.perf_counter()
            n, refused, slowest = fuzz(names, given.seed, given.cases, given.processes, known)
            took = time.perf_counter() - start
            print(
                f"{group}: {n:,} cases, {refused:,} refused, {took:,.0f} s; slowest {slowest[0]:.2f} s: {slowest[1]} {slowest[2]}",
                flush=True,
            )
    print(f"seed {given.seed}: {len(known)} findings")
    return min(len(known), 1)


if __name__ == "__main__":
    sys.exit(main())
