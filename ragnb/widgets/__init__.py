"""Viewers for the notebook: static first, live where a kernel runs."""

from ragnb.widgets.contexts import ContextBrowser, ContextView

__all__ = ["ContextBrowser", "ContextView"]
