import math
import re
from fractions import Fraction

import pytest
from hostile import Reader
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb import load_ragbench
from ragnb.errors import InputError
from ragnb.metrics.trace import trace_scores
from ragnb.widgets import Card
from ragnb.widgets.trace import FOLD, FORMULAS

SCORES = {name.replace("rmse", "RMSE").replace("_", " "): name for name in FORMULAS["guide"]}
RECORDS = load_ragbench("sample-ragbench").to_dict("records")


class Page(Reader):
    """What a card shows: cells of its tables, texts of its folds, its sentences, and its issues."""

    def __init__(self, card):
        self.rows, self.folds, self.lines, self.issues, self.utilized = [], [], [], [], []
        self.bar, self.sentence = {}, False
        super().__init__(card._repr_html_())
        self.numbers = {row[0]: row[2:] for row in self.rows if row[0] in SCORES}

    def handle_starttag(self, name, attributes):
        super().handle_starttag(name, attributes)
        given = dict(attributes)
        if given.get("style", "").startswith("flex:"):
            n, words = given["title"].split(" ", 1)
            self.bar[words] = int(n)
        lists = {"tr": self.rows, "details": self.folds, "b": self.utilized, "p": self.issues}
        if name in ("td", "th"):
            self.rows[-1].append("")
        elif name == "div":
            self.sentence = "r-sentence" in given["class"]
            self.lines += [""] if self.sentence else []
        elif name in lists:
            lists[name].append([] if name == "tr" else "")

    def handle_endtag(self, name):
        super().handle_endtag(name)
        self.sentence = self.sentence and name != "div"

    def handle_data(self, data):
        super().handle_data(data)
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data
        if "details" in self._open:
            self.folds[-1] += data
        if "p" in self._open:
            self.issues[-1] += data
        if self._open and self._open[-1] == "b":
            self.utilized[-1] += data
        if self.sentence:
            self.lines[-1] += data

    def beginning(self, pattern):
        return [line for line in self.lines if re.match(pattern, line)]


def said(key, supporting, fully=True, **more):
    names = ("response_sentence_key", "supporting_sentence_keys", "fully_supported")
    return dict(zip(names, (key, supporting, fully), strict=True)) | more


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


def page(*, variant="ragbench", length="sentence", **changes):
    return Page(Card(record(**changes), variant=variant, length=length))


# ---- the context -------------------------------------------------------------------------------------------------------


def test_relevant_sentences_are_marked_and_utilized_ones_bold_each_with_its_letters():
    view = page(all_utilized_sentence_keys=["0b", "1c"])
    assert view.marked == [f"Sentence {key} of {d}." for d, key in ("0b", "0c", "1a", "1b")]
    assert "Sentence c of 1." in view.utilized
    letters = {"0a": "", "0b": "RU", "0c": "R", "1a": "R", "1b": "R", "1c": "U"}
    lines = [f"[{d}{s}] Sentence {s} of {d}.{sign}" for (d, s), sign in letters.items()]
    assert view.beginning(r"\[\d") == lines
    assert view.bar == {"only relevant": 3, "relevant and used": 1, "only used": 1, "neither": 1}


def test_a_document_without_a_relevant_or_utilized_sentence_is_folded():
    def documents(**changes):
        markup = Card(record(**changes))._repr_html_()
        return re.findall(r'<details class="r-passage" (open)?><summary.*?>(.*?)</summary>', markup)

    labels = {"all_relevant_sentence_keys": ["1a"], "all_utilized_sentence_keys": []}
    assert documents(**labels) == [
        ("", "document 1 · 3 sentences"),
        ("open", "document 2 · 3 sentences · 1 only relevant"),
    ]


@pytest.mark.parametrize(("n_plain", "folds"), [(FOLD - 1, 0), (FOLD, 1)])
def test_only_long_runs_are_folded_inside_a_document_that_has_relevant_sentences(n_plain, folds):
    document = [[f"0{chr(97 + i)}", f"Sentence {i}."] for i in range(n_plain + 1)]
    relevant = {"all_relevant_sentence_keys": [document[-1][0]], "all_utilized_sentence_keys": []}
    view = page(documents_sentences=[document], **relevant)
    assert len(view.folds) == folds + 1
    assert view.text.count("Sentence ") == n_plain + 1


def test_a_sentence_and_what_supports_it_light_up_together():
    markup = Card(record())._repr_html_()
    linked = re.findall(
        r'class="r-sentence [^"]*(r-k\d)"[^>]*><span[^>]*>[^[]*(?:<span[^>]*>)?\[(\w+)\]', markup
    )
    assert sorted(linked) == [
        ("r-k0", "0b"),
        ("r-k0", "0c"),
        ("r-k0", "a"),
        ("r-k1", "1a"),
        ("r-k1", "b"),
        ("r-k2", "c"),
    ]
    ids = dict(
        re.findall(
            r'id="([^"]*)" tabindex="0"[^>]*><span[^>]*>[^[]*(?:<span[^>]*>)?\[(\w+)\]', markup
        )
    )
    described = re.findall(r'id="([^"]*)" tabindex="0" aria-describedby="([^"]*)"', markup)
    assert {ids[one]: [ids[other] for other in by.split()] for one, by in described} == {
        "0b": ["a"], "0c": ["a"], "1a": ["b"], "a": ["0b", "0c"], "b": ["1a"]
    }  # fmt: skip


# ---- the response ------------------------------------------------------------------------------------------------------


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
def test_sentences_of_the_response_stand_with_verdict_and_supporting_keys(labels, expected):
    assert page(sentence_support_information=labels).beginning(r"\S+ \[a\]") == [expected]


def test_an_empty_response_and_context_say_so_and_missing_labels_leave_numbers_undefined():
    view = page(response_sentences=[], documents_sentences=[], sentence_support_information=None,
                unsupported_response_sentence_keys=[])  # fmt: skip
    assert "no sentence" in view.issues
    assert "⚠ documents_sentences: the context has no sentence" in view.issues
    assert view.numbers["relevance"] == view.numbers["supported fraction"] == ["nan "]


# ---- the numbers -------------------------------------------------------------------------------------------------------


def test_the_worked_example_of_the_guide_under_both_variants():
    shown = page().numbers, page(variant="guide").numbers
    assert [[*numbers.values()] for numbers in shown] == [
        [["0.667 4/6"], ["0.500 3/6"], ["0.750 3/4"], ["0 [c]"], ["0.667 2/3"], ["0.597 "], ["0.403 "]],
        [["0.200 4/20"], ["0.750 3/4"], ["0.750 3/4"], ["0 [c]"], ["0.667 2/3"], ["0.664 "], ["0.336 "]],
    ]  # fmt: skip
    assert page().rows[0] == ["ragbench", "lengths in sentences", ""]
    assert page().rows[3][:2] == ["completeness", "R∩U / R; 1 if R is empty"]


def agree(view, scores, *, variant):
    """Every number shown is that of the scores, every fraction beside it makes it, and every issue is told."""
    for shown, name in SCORES.items():
        number, _, behind = view.numbers[shown][0].partition(" ")
        value = getattr(scores, name)
        assert number == (f"{value:.0f}" if name == "adherence" else f"{value:.3f}")
        if "/" not in behind:
            assert math.isnan(value) or name in ("adherence", "rmse_to_ideal", "consistency")
            assert bool(behind) == (value == 0.0 and name == "adherence")
        elif not behind.endswith("/0"):
            fraction = float(Fraction(behind))
            assert value == pytest.approx(min(1.0, fraction) if variant == "guide" else fraction)
    assert [line[2:] for line in view.issues if line.startswith("⚠")] == list(scores.issues)


@pytest.mark.parametrize("length", ["sentence", "token", "character"])
def test_all_numbers_of_the_sample_are_those_of_trace_scores(length):
    for row in RECORDS:
        for variant in ("ragbench", "guide") if length == "sentence" else ("ragbench",):
            options = {"variant": variant, "length": length}
            agree(Page(Card(row, **options)), trace_scores(row, **options), variant=variant)


keys = st.lists(st.sampled_from(["0a", "0b", "0c", "1a", "9z", "general"]), max_size=8)
flags = st.sampled_from([True, False, None])
labels = st.lists(st.builds(said, st.sampled_from("abcd"), st.none() | keys, flags), max_size=5)
unsupported = st.none() | st.lists(st.sampled_from("abcd"), max_size=4)


@settings(max_examples=60)
@given(keys, keys, labels, unsupported, st.sampled_from(["ragbench", "guide"]))
def test_all_numbers_of_any_labels_are_those_of_trace_scores(
    relevant, utilized, support, listed, variant
):
    row = record(all_relevant_sentence_keys=relevant, all_utilized_sentence_keys=utilized,
                 sentence_support_information=support, unsupported_response_sentence_keys=listed)  # fmt: skip
    agree(Page(Card(row, variant=variant)), trace_scores(row, variant=variant), variant=variant)


# ---- text and input ----------------------------------------------------------------------------------------------------


def test_text_of_every_script_stays_whole_and_keys_say_nothing_about_its_direction():
    for text in ("塔修复于一九〇九年。", "رُمّم البرج سنة ١٩٠٩.", "e\u0301 👩\u200d🔬"):
        sentences = {"documents_sentences": [[["0b", text]]], "response_sentences": [["a", text]]}
        view = Card(record(**sentences, question=text))
        assert Page(view).beginning(r"\[0b") == [f"[0b] {text}RU"]
        line = r'<div dir="auto" class="r-sentence [^"]*"[^>]*><span dir="ltr"'
        assert re.search(rf"{line} class=\"r-name\">\[0b\]</span> <mark", view._repr_html_())
        assert re.search(rf'{line}>✓ .*</span> {text} <small dir="ltr">', view._repr_html_())


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"documents_sentences": "[['0a', 'x']]"}, {}, "documents_sentences must be a list, got str"),
        ({"all_relevant_sentence_keys": "0a"}, {}, "must be a list, got str"),
        ({}, {"variant": "paper"}, "variant must be"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_when_the_view_is_made(changes, options, message):
    with pytest.raises(InputError, match=message):
        Card(record(**changes), **options)


def test_what_another_annotator_labels_differently_is_beside_each_sentence_and_score():
    support = [said("a", ["0b", "0c"]), said("b", []), said("c", [], False)]
    theirs = record(
        all_utilized_sentence_keys=["0b", "0c", "1c"], sentence_support_information=support
    )
    view = Page(Card(record(), other=theirs, named="Ben"))
    assert [line.partition(" ≠ ")[::2] for line in view.lines if "≠" in line] == [
        ("✓ [b] Another. (supported by [1a])", "Ben: ✓ supported by nothing"),
        ("[1a] Sentence a of 1.RU", "Ben: R"),
        ("[1c] Sentence c of 1.", "Ben: U"),
    ]
    assert {name for name, (cell, *_) in view.numbers.items() if "≠" in cell} == {
        "completeness",
        "RMSE to ideal",
        "consistency",
    }
    assert view.numbers["completeness"] == ["0.750 3/4 ≠ Ben: 0.500"]
    assert "≠" not in Page(Card(record(), other=record())).text
    with pytest.raises(InputError, match="the same documents and response"):
        Card(record(), other=record(response_sentences=[["a", "Something else."]]))
