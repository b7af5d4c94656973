"""Anchors that links lead to."""

import re


def anchors(text):
    """The anchors that the headings of a page get."""
    lines = [line.lstrip("# ").lower() for line in text.splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", line).replace(" ", "-") for line in lines}
