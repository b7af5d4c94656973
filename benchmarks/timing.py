"""What a benchmark says of itself, and where its numbers are kept until `benchmarks.results` makes a page of them.

`task` names what is done and on how many; tests of one task and one n are compared with each other. `ours` and `peer` say
who does it. In these names ``{parameter}`` stands for the value of a test's parameter.
"""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
RUN = HERE.parent / ".benchmarks"
"""Folder of what one run measured."""

LONG = HERE / "long.json"
"""What takes too long for every run: kept from the last time that it was asked for, with its own date."""

BESIDE = (
    "ragnb",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "scikit-learn",
    "statsmodels",
    "sacrebleu",
    "matplotlib",
    "openai",
)
"""Distributions whose versions decide how fast ragnb is; those of the peers are added."""


def task(name: str, n: int | None = None) -> Any:
    """What is done, and on how many; `n` is by default the test's parameter of that name."""
    return pytest.mark.task(name, n)


def ours(name: str = "") -> Any:
    """A way of ragnb."""
    return pytest.mark.who(f"ragnb {name}".strip(), None)


def peer(name: str, distribution: str | None = None) -> Any:
    """Somebody else's way, and the distribution that it needs, without which it is skipped and said to be missing."""
    return pytest.mark.who(name, distribution)


def installed(distribution: str) -> str | None:
    """Its version, or None."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def versions(distributions: Any) -> dict[str, str]:
    """Versions of those that are installed."""
    return {name: found for name in distributions if (found := installed(name))}


def surroundings() -> dict[str, Any]:
    """When and on what something is measured; nothing that names the machine."""
    memory = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    )
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory": round(memory / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def _cpu() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )


def keep(name: str, content: dict[str, Any]) -> None:
    """Keep what this run measured."""
    RUN.mkdir(exist_ok=True)
    (RUN / f"{name}.json").write_text(
        json.dumps({"of": surroundings(), **content}, indent=1), encoding="utf-8"
    )


def keep_long(name: str, content: dict[str, Any]) -> None:
    """Keep what is seldom measured, in the place of what was measured before."""
    kept = json.loads(LONG.read_text(encoding="utf-8")) if LONG.exists() else {}
    kept[name] = {"of": surroundings(), **content}
    LONG.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
