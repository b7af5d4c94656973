import math
import re
from fractions import Fraction

import pytest
from support.reading import parsed, tables, texts

from ragnb import load_ragbench
from ragnb.errors import InputError
from ragnb.metrics import trace_scores
from ragnb.widgets import Card
from ragnb.widgets.trace import FORMULAS

SCORES = {name.replace("rmse", "RMSE").replace("_", " "): name for name in FORMULAS["guide"]}


def said(key, supporting, fully=True):
    names = ("response_sentence_key", "supporting_sentence_keys", "fully_supported")
    return dict(zip(names, (key, supporting, fully), strict=True))


def record(**changes):
    """The guide's worked example: R = {0b, 0c, 1a, 1b}, U = {0b, 0c, 1a}, c unsupported."""
    documents = [[[f"{d}{s}", f"Sentence {s} of {d}."] for s in "abc"] for d in (0, 1)]
    return {
        "question": "What is it?",
        "documents_sentences": documents,
        "response_sentences": [["a", "One thing."], ["b", "Another."], ["c", "A third."]],
        "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
        "all_utilized_sentence_keys": ["0b", "0c", "1a"],
        "sentence_support_information": [
            said("a", ["0b", "0c"]), said("b", ["1a"]), said("c", [], False)
        ],
        "unsupported_response_sentence_keys": ["c"],
    } | changes  # fmt: skip


def card(options=None, **changes):
    return parsed(Card(record(**changes), **(options or {})))


def numbers(page):
    """The last cell of each score: its value, and the fraction behind it."""
    (rows,) = tables(page)
    return {row[0]: row[2] for row in rows if row[0] in SCORES}


def test_relevant_sentences_are_marked_and_utilized_ones_bold_each_with_its_letters():
    page = card(all_utilized_sentence_keys=["0b", "1c"])
    assert texts(page, ".r-sentence mark") == [f"Sentence {key} of {d}." for d, key in ("0b", "0c", "1a", "1b")]  # fmt: skip
    assert "Sentence c of 1." in texts(page, ".r-sentence b")
    letters = {"0a": "", "0b": "RU", "0c": "R", "1a": "R", "1b": "R", "1c": "U"}
    lines = [f"[{d}{s}] Sentence {s} of {d}.{sign}" for (d, s), sign in letters.items()]
    assert [line for line in texts(page, ".r-sentence") if re.match(r"\[\d", line)] == lines
    assert texts(page, ".r-sets span") == ["3 only relevant", "1 relevant and used", "1 only used", "1 neither"]  # fmt: skip


def test_a_document_without_a_relevant_or_utilized_sentence_is_folded():
    page = card(all_relevant_sentence_keys=["1a"], all_utilized_sentence_keys=[])
    shown = [(one.has_attr("open"), one.summary.get_text()) for one in page.select(".r-passage")]
    assert shown == [
        (False, "document 1 · 3 sentences"),
        (True, "document 2 · 3 sentences · 1 only relevant"),
    ]


def test_a_sentence_and_what_supports_it_light_up_together_and_describe_each_other():
    page = card()
    key = lambda one: re.search(r"\[(\w+)\]", one.get_text())[1]  # noqa: E731
    sentences = page.select(".r-sentence")
    linked = {key(one): set(re.findall(r"r-k\d", " ".join(one["class"]))) for one in sentences}
    assert {name: links for name, links in linked.items() if links} == {
        "0b": {"r-k0"}, "0c": {"r-k0"}, "a": {"r-k0"}, "1a": {"r-k1"}, "b": {"r-k1"}, "c": {"r-k2"}
    }  # fmt: skip
    described = {
        key(one): [key(page.find(id=by)) for by in one.get("aria-describedby").split()]
        for one in page.select("[aria-describedby]")
    }
    assert described == {"0b": ["a"], "0c": ["a"], "1a": ["b"], "a": ["0b", "0c"], "b": ["1a"]}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([said("a", ["0b", "0c"])], "✓ [a] One thing. (supported by [0b] [0c])"),
        ([said("a", [], False)], "✗ [a] One thing. (supported by nothing)"),
        ([said("a", ["general", "9z"], math.nan)], "? [a] One thing. (supported by general [9z]?)"),
        ([said("a", None, None)], "? [a] One thing. (no supporting keys given)"),
        ([], "? [a] One thing. (no support information)"),
        ([said("a", ["0b"]), said("a", [], None)], "✓? [a] One thing. (supported by [0b], supported by nothing)"),
    ],
)  # fmt: skip
def test_sentences_of_the_response_have_a_verdict_and_supporting_keys(labels, expected):
    assert texts(card(sentence_support_information=labels), ".r-sentence")[0] == expected


def test_an_empty_response_and_context_say_so_and_missing_labels_leave_numbers_undefined():
    page = card(response_sentences=[], documents_sentences=[], sentence_support_information=None,
                unsupported_response_sentence_keys=[])  # fmt: skip
    assert "no sentence" in texts(page, "p")
    assert "⚠ documents_sentences: the context has no sentence" in texts(page, "p")
    assert numbers(page)["relevance"] == numbers(page)["supported fraction"] == "nan "


def test_the_worked_example_of_the_guide_under_both_variants():
    shown = numbers(card()), numbers(card({"variant": "guide"}))
    assert [[*each.values()] for each in shown] == [
        ["0.667 4/6", "0.500 3/6", "0.750 3/4", "0 [c]", "0.667 2/3", "0.479 ", "0.597 ", "0.403 "],
        [
            "0.200 4/20",
            "0.750 3/4",
            "0.750 3/4",
            "0 [c]",
            "0.667 2/3",
            "0.425 ",
            "0.664 ",
            "0.336 ",
        ],
    ]


@pytest.mark.parametrize("variant", ["ragbench", "guide"])
def test_all_numbers_of_the_sample_are_those_of_trace_scores(variant):
    """Every fraction beside a number makes it, and every issue is told."""
    for row in load_ragbench("sample-ragbench").to_dict("records"):
        page, scores = parsed(Card(row, variant=variant)), trace_scores(row, variant=variant)
        for shown, name in SCORES.items():
            number, _, behind = numbers(page)[shown].partition(" ")
            value = getattr(scores, name)
            assert number == (f"{value:.0f}" if name == "adherence" else f"{value:.3f}")
            if "/" in behind and not behind.endswith("/0"):
                assert value == pytest.approx(min(1.0, float(Fraction(behind))))
        issues = [line[2:] for line in texts(page, "p") if line.startswith("⚠")]
        assert issues == list(scores.issues)


def test_what_another_annotator_labels_differently_is_beside_each_sentence_and_score():
    support = [said("a", ["0b", "0c"]), said("b", []), said("c", [], False)]
    theirs = record(
        all_utilized_sentence_keys=["0b", "0c", "1c"], sentence_support_information=support
    )
    page = card({"other": theirs, "named": "Ben"})
    assert [line.partition(" ≠ ")[::2] for line in texts(page, ".r-sentence") if "≠" in line] == [
        ("✓ [b] Another. (supported by [1a])", "Ben: ✓ supported by nothing"),
        ("[1a] Sentence a of 1.RU", "Ben: R"),
        ("[1c] Sentence c of 1.", "Ben: U"),
    ]
    differing = {name: cell for name, cell in numbers(page).items() if "≠" in cell}
    assert set(differing) == {"completeness", "average", "RMSE to ideal", "consistency"}
    assert differing["completeness"] == "0.750 3/4 ≠ Ben: 0.500"
    assert "≠" not in card({"other": record()}).get_text()
    with pytest.raises(InputError, match="the same documents and response"):
        card({"other": record(response_sentences=[["a", "Something else."]])})
