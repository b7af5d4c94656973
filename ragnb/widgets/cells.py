"""Which cell of a notebook runs, so that what its earlier run displayed can be freed."""

# Tested in tests/widgets/test_card.py.

import sys
from typing import Any, NamedTuple
from weakref import WeakSet


class Run(NamedTuple):
    """One run of a cell: the id of the cell, and the id of the run."""

    cell: str
    execution: str


def current_run() -> Run | None:
    """Return the run of the cell that is running; None if there is none, or if the notebook does not report its id."""
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
        """Register a new view, and close those that earlier runs of the same cell made and no other cell displays."""
        run = current_run()
        view.made_by, view.displayed_by = run, set()
        self._close_replaced(run)
        self._views.add(view)

    def displayed(self, view: Any) -> None:
        """Record that the running cell displays a view, and no longer those that it displayed in earlier runs."""
        run = current_run()
        if run is None:
            return
        view.displayed_by.add(run)
        for other in list(self._views):
            # What this run has displayed before stays.
            earlier = {display for display in other.displayed_by if display.cell == run.cell}
            other.displayed_by -= earlier - {run}

    def _close_replaced(self, run: Run | None) -> None:
        """Close the views that earlier runs of this cell made, except those that another cell displays."""
        if run is None:
            return
        for view in list(self._views):
            is_of_this_cell = view.made_by is not None and view.made_by.cell == run.cell
            is_of_earlier_run = is_of_this_cell and view.made_by != run
            is_displayed_elsewhere = any(display.cell != run.cell for display in view.displayed_by)
            if is_of_earlier_run and not is_displayed_elsewhere:
                self._views.discard(view)
                view.close()
