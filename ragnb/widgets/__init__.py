"""Viewers for notebooks: static pages, and live widgets if a kernel is running."""

from ragnb.widgets.annotator import Annotator
from ragnb.widgets.card import Card
from ragnb.widgets.handout import export_annotator
from ragnb.widgets.view import FrameView, view

__all__ = ["Annotator", "Card", "FrameView", "export_annotator", "view"]
