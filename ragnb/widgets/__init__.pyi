"""What `ragnb.widgets` contains. Written by ``python -m tools.stubs``."""

from ragnb.widgets.annotator import Annotator
from ragnb.widgets.card import Card
from ragnb.widgets.frame_view import FrameView, view
from ragnb.widgets.handout import export_annotator

__all__ = ["Annotator", "Card", "FrameView", "export_annotator", "view"]
