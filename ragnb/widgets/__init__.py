"""Viewers for notebooks: static pages, and live widgets if a kernel is running."""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.widgets.annotator import Annotator
    from ragnb.widgets.card import Card
    from ragnb.widgets.frame_view import FrameView, view
    from ragnb.widgets.handout import export_annotator
else:
    __getattr__, __dir__ = face(__name__)

__all__ = [
    "Annotator",
    "Card",
    "FrameView",
    "export_annotator",
    "view",
]
