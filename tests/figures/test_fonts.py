"""Characters that the font of the figures lacks."""

import warnings

import matplotlib.pyplot as plt
import pytest

from ragnb.figures import fonts
from ragnb.figures.fonts import use_fonts_for_all_characters


@pytest.fixture
def figure():
    yield plt.figure()
    plt.close("all")


def test_texts_of_the_main_font_keep_it(figure):
    text = figure.text(0, 0, "naïve α → 95 % Москва سؤال")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        use_fonts_for_all_characters(figure)
    assert text.get_fontfamily() == figure.text(0, 0, "a").get_fontfamily()


def test_a_text_gets_an_installed_font_that_has_its_characters(figure, monkeypatch):
    """STIXGeneral, which comes with matplotlib, has a symbol that DejaVu Sans lacks."""
    monkeypatch.setattr(fonts, "_installed", lambda: ("STIXGeneral",))
    plain, other = figure.text(0, 0, "plain"), figure.text(0, 0, "circle \u20dd")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        use_fonts_for_all_characters(figure)
    assert other.get_fontfamily() == ["DejaVu Sans", "STIXGeneral"]
    assert plain.get_fontfamily() != other.get_fontfamily()


def test_without_such_a_font_one_warning_names_the_characters(figure, monkeypatch):
    monkeypatch.setattr(fonts, "_installed", lambda: ())
    figure.text(0, 0, "系统甲")
    figure.text(0, 0, "系统乙")
    with pytest.warns(UserWarning, match="no installed font has the characters 乙甲系统") as caught:
        use_fonts_for_all_characters(figure)
    assert len(caught) == 1
