"""Memory that a run takes beyond the prompts' own text, measured on a process of its own."""

import pytest
from support.fault_server import FaultServer
from support.processes import context, measure_memory, start


@pytest.mark.parametrize(
    ("n", "bytes_each"),
    [
        # Room for what a small run cannot spread: pages of the store, buffers. A run that kept each
        # response, or started all requests at once, would take about 17,000.
        (400, 10_000),
        pytest.param(100_000, 5_000, marks=pytest.mark.slow),
    ],
)
def test_a_run_takes_little_memory_beside_its_prompts(tmp_path, n, bytes_each):
    # A busy machine adds chance to the peak of a process, but never takes anything away. What the run itself needs is at
    # most the smallest of three peaks.
    peaks = []
    for attempt in range(3):
        told, pipe = context.Pipe()
        with FaultServer() as server:
            start(measure_memory, n, server.base_url, tmp_path / f"{attempt}.sqlite", pipe)
            answered, used = told.recv()
        assert answered == n
        peaks.append(used)
        if used < bytes_each * n:
            break
    assert min(peaks) < bytes_each * n, peaks
