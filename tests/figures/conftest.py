"""Figures are drawn without a window and closed after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

mpl.use("agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def noise_summaries():
    """Summaries of systems whose mean at three noise rates falls from a start by half the rate."""

    def made(**starts):
        rows = [
            {"system": name, "noise_rate": rate, "mean": start - rate / 2}
            for name, start in starts.items()
            for rate in (0.8, 0.0, 0.4)
        ]
        frame = pd.DataFrame(rows).assign(confidence_level=0.95, signature="ragnb:0|metric:m")
        frame = frame.assign(n_scored=60, interval="Wilson")
        return frame.assign(low=frame["mean"] - 0.1, high=frame["mean"] + 0.05)

    return made
