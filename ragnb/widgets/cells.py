"""Which cell of a notebook runs, so that what its earlier run displayed can be freed."""

import sys
from typing import Any, NamedTuple
from weakref import WeakSet


class Run(NamedTuple):
    """One run of a cell: the id of the cell, and the id of the run."""

    cell: str
    execution: str


def current_run() -> Run | None:
    """Return the run of the cell that is running; None outside of a notebook that reports the ids of its cells."""
    # Outside of notebooks, IPython need not be installed, so it is not imported.
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    # The message by which the notebook requested this run. Not every shell of IPython has one.
    request: Any = shell.get_parent() if hasattr(shell, "get_parent") else None
    try:
        return Run(str(request["metadata"]["cellId"]), str(request["header"]["msg_id"]))
    except (TypeError, KeyError):
        # There is no request, or the notebook does not report the ids of its cells.
        return None


class Displays:
    """Views, the run that made each of them, and the runs that display it.

    A notebook keeps every widget as long as its kernel runs. A view is closed when the cell that made it runs again and no
    other cell displays it.
    """

    def __init__(self) -> None:
        self._views: WeakSet[Any] = WeakSet()

    def made(self, view: Any) -> None:
        """Register a new view, and close those that earlier runs of the same cell made."""
        run = current_run()
        view.made_by, view.displayed_by = run, set()
        self._close_replaced(run)
        self._views.add(view)

    def displayed(self, view: Any) -> None:
        """Record that the running cell displays a view. Its output no longer shows what it displayed in an earlier run."""
        run = current_run()
        if run is None:
            return
        view.displayed_by.add(run)
        for other in list(self._views):
            earlier = {display for display in other.displayed_by if display.cell == run.cell}
            other.displayed_by -= earlier - {run}

    def _close_replaced(self, run: Run | None) -> None:
        if run is None:
            return
        for view in list(self._views):
            made_before = view.made_by and view.made_by.cell == run.cell and view.made_by != run
            elsewhere = [display for display in view.displayed_by if display.cell != run.cell]
            if made_before and not elsewhere:
                self._views.discard(view)
                view.close()
