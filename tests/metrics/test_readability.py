import math

import pytest

from ragnb.metrics import flesch_reading_ease
from ragnb.metrics.answer import FLESCH

GERMAN = "Der Hund läuft schnell nach Hause. Die Katze wartet lange am Fenster."
TEXTSTAT = [  # textstat 0.7.13 with pyphen 0.18.1; its English needs a download
    ("de", GERMAN, 91.125),
    ("es", "El perro corre muy deprisa a casa. La gata espera en la ventana.", 94.056154),
    ("fr", "Le chien court vite vers sa maison. Le chat attend sur la fenêtre.", 109.817885),
    ("it", "Il cane corre veloce verso casa. La gatta aspetta alla finestra.", 89.85),
    ("nl", "De hond rent heel snel naar huis. De kat wacht lang bij het raam.", 123.325),
    ("ru", "Собака быстро бежит к себе домой. Кошка долго ждёт её у окна.", 93.86),
]


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("The cat sat. The dog ran.", "en", 206.835 - 1.015 * 6 / 2 - 84.6 * 6 / 6),
        ("The cat sat on a mat", "en", 206.835 - 1.015 * 6 - 84.6),
        ("Der Hund schläft. Die Katze auch.", "de", 180 - 6 / 2 - 58.5 * 7 / 6),  # Kat-ze
        (None, "en", math.nan),
        ("Kissa istui.", "fi", math.nan),
    ],
)
def test_reading_ease_worked_by_hand(text, language, value):
    assert flesch_reading_ease(text, language) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(("language", "text", "value"), TEXTSTAT)
def test_reading_ease_is_textstats(language, text, value):
    assert flesch_reading_ease(text, language) == pytest.approx(value, abs=5e-7)


ENGLISH = [  # text, words, sentences, syllables as in the CMU Pronouncing Dictionary
    ("The area of Ohio is inhabited by a million people.", 10, 1, 19),
    ("Photosynthesis creates oxygen. Each animal needs it to live.", 9, 2, 18),
    ("Isaac Newton discovered the law of universal gravitation.", 8, 1, 18),
    ("I don't know the answer to this question.", 8, 1, 10),
    ("I don’t know the answer to this question.", 8, 1, 10),
]


@pytest.mark.parametrize(("text", "words", "sentences", "syllables"), ENGLISH)
def test_english_reading_ease_has_the_syllables_of_cmudict(text, words, sentences, syllables):
    expected = 206.835 - 1.015 * words / sentences - 84.6 * syllables / words
    assert flesch_reading_ease(text, "en") == pytest.approx(expected)


def test_every_formula_has_a_reference_value():
    assert {language for language, *_ in TEXTSTAT} | {"en"} == set(FLESCH)
