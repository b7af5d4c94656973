"""Viewers for the notebook: static first, live where a kernel runs."""

from ragnb.widgets.annotator import Annotator
from ragnb.widgets.browser import Interactive
from ragnb.widgets.contexts import ContextBrowser, ContextView
from ragnb.widgets.judge import JudgeView
from ragnb.widgets.language import LanguageBrowser, LanguageView
from ragnb.widgets.rgb import RgbView
from ragnb.widgets.trace import TraceBrowser, TraceView
from ragnb.widgets.view import FrameView, view

__all__ = [
    "Annotator",
    "ContextBrowser",
    "ContextView",
    "FrameView",
    "Interactive",
    "JudgeView",
    "LanguageBrowser",
    "LanguageView",
    "RgbView",
    "TraceBrowser",
    "TraceView",
    "view",
]
