"""Makes nbval strict: notebooks were executed, a trailing semicolon means what it says, and exercises can be solved."""

import gc
from functools import partial

import pytest


def pytest_addoption(parser):
    """Add ``--shuffle=SEED``: files in random order, and the tests of each file, to find tests that depend on others."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="random order with this seed")


def pytest_configure(config):
    """Collect without looking for garbage, and compare notebooks strictly where nbval compares them."""
    gc.disable()
    if config.getoption("nbval", default=False):
        make_strict()


def make_strict():
    """Change how nbval runs cells."""
    from nbval import kernel
    from support.forked import ForkedKernelManager

    def execute(self, cell_input, allow_stdin=None):
        return self.kc.execute(
            cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False
        )

    # nbval runs cells without history, where IPython ignores the semicolon.
    kernel.RunningKernel.execute_cell_input = execute
    # The kernel's messages are encrypted, as `make figures` has them; nbval offers no option for it.
    kernel.KernelManager = partial(ForkedKernelManager, transport_encryption="auto")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """After the cell of an exercise, run its folded solution, which must satisfy the check."""
    outcome = yield
    if item.path.suffix == ".ipynb":
        from support.exercises import solutions, solve

        found = solutions(item.parent.nb)
        if item.cell.id in found:
            solve(item.parent.kernel, item.cell, found[item.cell.id])
    return outcome


def pytest_collection_finish():
    """Look for garbage less often from now on, and not among what was collected."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


def pytest_collection_modifyitems(items):
    """Refuse cells stored without an execution count: nbval would run them and compare nothing."""
    unexecuted = [
        f"{item.parent.name}::{item.name}"
        for item in items
        if item.path.suffix == ".ipynb"
        and item.cell.source.strip()
        and item.cell.execution_count is None
    ]
    if unexecuted:
        raise pytest.UsageError(
            f"notebook cells stored without execution: {', '.join(unexecuted[:5])}; run `make figures`"
        )
