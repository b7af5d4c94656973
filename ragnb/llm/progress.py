"""Send requests in a thread of their own, and show the progress."""

# Tested in tests/llm/test_lost_replies.py.

import asyncio
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from ragnb.llm.budget import dollars
from ragnb.llm.run import Run
from ragnb.llm.store import Request


def send_in_thread(run: Run, jobs: Mapping[str, Request], *, n_stored: int, show: bool) -> None:
    """Send requests in a thread with a loop of its own, so that the loop of Jupyter is left alone.

    ``jobs`` has the requests by key. ``n_stored`` is the number of requests whose replies are stored, with which the
    bar begins. With ``show``, the bar is shown if there is a terminal or a notebook.
    """
    is_visible = show and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    # If it is visible, the environment variable TQDM_DISABLE decides.
    options: dict[str, bool] = {} if is_visible else {"disable": True}
    progress = progress_bar(
        total=n_stored + len(jobs), initial=n_stored, unit="reply", leave=False, **options
    )
    with progress as bar, ThreadPoolExecutor(1, "ragnb-complete") as thread:
        try:
            sending = thread.submit(asyncio.run, run.send(jobs))
            while not sending.done():
                # Look at the counts ten times per second.
                wait([sending], 0.1)
                _update(bar, run, n_stored)
        except BaseException:
            # Ctrl-C or the stop button. What was received is stored already.
            run.stop()
            raise
    # This raises the exception of the run, if it ended with one.
    sending.result()


def _update(bar: Any, run: Run, n_stored: int) -> None:
    """Show the present counts of a run."""
    n_failed = len(run.failures)
    counts: dict[str, Any] = {"failed": n_failed, "retried": run.n_retried}
    if run.price is not None:
        counts = {"cost": dollars(run.spent), **counts}
    bar.set_postfix(counts, refresh=False)
    n_finished = n_stored + run.n_done + n_failed
    # The bar takes the difference from the last count.
    bar.update(n_finished - bar.n)


@contextmanager
def progress_bar(**options: Any) -> Iterator[Any]:
    """Yield a progress bar that leaves no output behind.

    The output of a widget would stay in the notebook, and show the bar at 0 % when the notebook is read without its kernel.
    """
    from tqdm.auto import tqdm

    # `tqdm.auto` is a widget only in a notebook where widgets are installed.
    is_widget = any(base.__name__ == "tqdm_notebook" for base in tqdm.__mro__)
    bar: Any = tqdm(**options, display=False) if is_widget else tqdm(**options)
    if not is_widget or bar.disable:
        with bar:
            yield bar
        return
    from tqdm.notebook import display  # type: ignore[attr-defined]

    display_handle = display(bar.container, display_id=True)
    try:
        with bar:
            yield bar
    finally:
        display_handle.update({"text/plain": ""}, raw=True)
