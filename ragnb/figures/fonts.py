"""Fonts for characters that the font of the figures lacks, such as Chinese ones."""

import unicodedata
import warnings
from functools import cache

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.text import Text

MAIN_FONT = "DejaVu Sans"
# Fonts with many characters. Common systems have one or another of them.
WIDE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans",
    "Malgun Gothic",
    "Noto Sans Devanagari",
    "Nirmala UI",
    "Arial Unicode MS",
)


def use_fonts_for_all_characters(figure: Figure) -> None:
    """Give the texts that the main font cannot write a list of fonts, and warn if none can.

    Only these texts get other fonts, so that figures in other scripts are the same on all machines.
    """
    missing: set[str] = set()
    for text in figure.findobj(Text):
        written = text.get_text()
        if not _missing(written, (MAIN_FONT,)):
            continue
        families = (MAIN_FONT, *_installed())
        text.set_fontfamily(list(families))
        missing |= _missing(written, families)
    if missing:
        characters = "".join(sorted(missing))[:10]
        warnings.warn(
            f"no installed font has the characters {characters}, so the figure shows boxes; install a "
            f"font such as {WIDE_FONTS[0]}, or use names= for other names",
            stacklevel=2,
        )


def _missing(text: str, families: tuple[str, ...]) -> set[str]:
    """The characters of a text that none of the fonts has."""
    # Almost all texts are ASCII, which every font has.
    if text.isascii():
        return set()
    charmaps = [_characters(family) for family in families]
    return {
        character
        for character in text
        if _is_drawn(character) and not any(ord(character) in charmap for charmap in charmaps)
    }


def _is_drawn(character: str) -> bool:
    """Whether a character needs a glyph: white space and marks of direction need none."""
    return not character.isspace() and unicodedata.category(character) != "Cf"


@cache
def _characters(family: str) -> frozenset[int]:
    """The code points that a font has."""
    path = findfont(FontProperties(family=family), fallback_to_default=False)
    return frozenset(get_font(path).get_charmap())


@cache
def _installed() -> tuple[str, ...]:
    """The fonts with many characters that this machine has."""
    names = {font.name for font in fontManager.ttflist}
    return tuple(name for name in WIDE_FONTS if name in names)
