"""The views of a widget in a browser, whose messages can be on their way while a cell runs."""

# Tested in tests/widgets/test_annotator.py.

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any

from IPython import get_ipython

# Seconds within which the browser must say how many actions are on their way, and make progress.
NO_ANSWER = 2.0
NO_PROGRESS = 10.0
# Seconds in which other views answer, too.
OTHER_VIEWS = 0.1
# Seconds after which a browser that does not answer is taken as closed.
JUST_NOW = 10.0
# The number of the question whose answer shows how messages arrive.
_FIRST_QUESTION = 0


class Browser:
    """What a widget knows of its views in a browser, and waits for.

    JupyterLab handles clicks while a cell runs, so that a cell could read labels before the last clicks
    have arrived. Where clicks are handled between cells, as in other front ends, what the browser has
    sent before is there already, and nothing has to be waited for.

    Parameters
    ----------
    send
        Sends content to all views.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        # The context of the last message that need not have waited for a cell; None if there is none.
        self._context: Context | None = None
        # The threads that handle a message at the moment.
        self._handlers: set[threading.Thread] = set()
        # When the browser sent something; minus infinity if it never did.
        self._heard = -math.inf
        # The views on the screen, and the number of keys that were lost with views that were closed.
        self._views: set[int] = set()
        self._n_lost = 0
        # The last question how many actions are on their way, and the last answer of each view.
        self._question = _FIRST_QUESTION
        self._pending: dict[int, int] = {}
        self._answered = threading.Condition()

    def answer(self, send: Callable[..., None], *content: Any) -> None:
        """Send something as an answer to the browser's last message.

        ipykernel 7.4 handles the next message of a view in the thread that has sent it something last.
        If that were the thread of a cell, the message would have to wait until the cell has run.
        """
        context = self._context
        if context is None:
            send(*content)
        else:
            context.copy().run(send, *content)

    # ---- messages --------------------------------------------------------------------------------

    @contextmanager
    def handling(self) -> Iterator[None]:
        """While a message is handled; any message is a sign of life."""
        if _arrives_while_a_cell_runs():
            self._context = copy_context()
        with self._answered:
            self._heard = time.monotonic()
            self._answered.notify_all()
        self._handlers.add(threading.current_thread())
        try:
            yield
        finally:
            self._handlers.remove(threading.current_thread())

    def open(self, view: int) -> None:
        """A view is on the screen."""
        self._views.add(view)
        if self._context is None:
            # The first message may leave before the browser can send messages while a cell runs. The
            # answer shows whether it can.
            self._send({"kind": "pending", "question": _FIRST_QUESTION})

    def close(self, view: int, n_lost: int) -> None:
        """A view is no longer on the screen, and the keys that it still held did nothing.

        If no view is left, nothing is waited for.
        """
        with self._answered:
            self._n_lost += n_lost
            self._views.discard(view)
            if not self._views:
                self._context = None

    def keep(self, view: int, question: int, n_pending: int) -> None:
        """A view has answered how many of its actions are on their way."""
        if question == _FIRST_QUESTION:
            self._send({"kind": "heard"})  # so that the next message arrives as this one did
        with self._answered:
            if question == self._question:
                self._pending[view] = n_pending
                self._answered.notify_all()

    # ---- waiting ---------------------------------------------------------------------------------

    def wait(self, annotator: str) -> list[str]:
        """Wait until everything that the annotator did has arrived; return sentences about what has not."""
        missing = self._lost_keys(annotator)
        is_handled_here = threading.current_thread() in self._handlers
        if self._context is None or is_handled_here:
            return missing
        with self._answered:
            self._question += 1
            self._pending = {}
        self.answer(self._send, {"kind": "pending", "question": self._question})
        with self._answered:
            # A busy browser sends actions before its answer.
            while not self._pending and self._answered.wait(NO_ANSWER):
                pass
            if not self._pending:
                return missing + self._silence(annotator)
            # Any message is progress. If nothing is on its way, other views may still answer.
            makes_progress = True
            while makes_progress:
                limit = NO_PROGRESS if sum(self._pending.values()) else OTHER_VIEWS
                makes_progress = self._answered.wait(limit)
            n_pending = sum(self._pending.values())
        if n_pending:
            actions = "1 action" if n_pending == 1 else f"{n_pending} actions"
            missing.append(
                f"{actions} of {annotator!r} {'is' if n_pending == 1 else 'are'} still on the way from "
                "the browser and not in these labels; read them again when the annotator says that they "
                "are saved"
            )
        return missing

    def _silence(self, annotator: str) -> list[str]:
        """Take a browser that does not answer as closed; its next message says that it is open."""
        self._context = None
        if time.monotonic() - self._heard >= JUST_NOW:
            return []
        return [
            f"the page of {annotator!r} does not answer; if it is still open, its last actions may not "
            "be in these labels; read them again when the annotator says that they are saved"
        ]

    def _lost_keys(self, annotator: str) -> list[str]:
        """Say once how many keys did nothing because their view was closed."""
        with self._answered:
            n_lost = self._n_lost
            self._n_lost = 0
        if not n_lost:
            return []
        keys = "1 key" if n_lost == 1 else f"{n_lost} keys"
        return [
            f"{keys} that {annotator!r} pressed shortly before the output was closed did nothing; check "
            "the last items in the annotator"
        ]


def _arrives_while_a_cell_runs() -> bool:
    """Whether the message being handled need not have waited for a cell to end.

    This is so if another thread than that of the cells handles it, or if its header names another
    thread (a "subshell").
    """
    if threading.current_thread() is not threading.main_thread():
        return True
    # Other kernels than ipykernel need not have this method; they have no subshells.
    kernel: Any = getattr(get_ipython(), "kernel", None)
    message: Mapping[str, Any] = kernel.get_parent() if hasattr(kernel, "get_parent") else {}
    header = message.get("header") or {}
    return header.get("subshell_id") is not None
