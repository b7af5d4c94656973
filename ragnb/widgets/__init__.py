"""Viewers for notebooks: static pages, and live widgets if a kernel is running."""

from ragnb.widgets.annotator import Annotator
from ragnb.widgets.browser import Interactive
from ragnb.widgets.judge import JudgeView
from ragnb.widgets.language import LanguageView
from ragnb.widgets.rgb import RgbView
from ragnb.widgets.trace import TraceView
from ragnb.widgets.view import FrameView, view

__all__ = [
    "Annotator",
    "FrameView",
    "Interactive",
    "JudgeView",
    "LanguageView",
    "RgbView",
    "TraceView",
    "view",
]
