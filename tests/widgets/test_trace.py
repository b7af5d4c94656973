import math
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hostile import Reader, visible
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.datasets.ragbench import load_ragbench
from ragnb.errors import InputError
from ragnb.metrics.trace import trace_scores
from ragnb.metrics.trace_labels import SPECIAL_KEYS
from ragnb.widgets.trace import FOLD, TraceBrowser, TraceView

SCORES = {
    "relevance": "relevance",
    "utilization": "utilization",
    "completeness": "completeness",
    "adherence": "adherence",
    "supported fraction": "supported_fraction",
    "RMSE to ideal": "rmse_to_ideal",
    "consistency": "consistency",
}
SAMPLE = load_ragbench("sample-ragbench")
RECORDS = SAMPLE.to_dict("records")


class Page(Reader):
    """What a view shows: cells of its tables, texts of its folds, and each line on its own."""

    def __init__(self, view):
        self.rows, self.folds, self.lines, self.directions, self.utilized = [], [], [], [], []
        super().__init__(view._repr_html_())
        self.numbers = {row[0]: row[2:] for row in self.rows if row[0] in SCORES}
        self.venn = {row[0]: row[1:] for row in self.rows[len(SCORES) + 2 :]}

    def handle_starttag(self, name, attributes):
        super().handle_starttag(name, attributes)
        if name == "tr":
            self.rows.append([])
        elif name in ("td", "th"):
            self.rows[-1].append("")
        elif name == "details":
            self.folds.append("")
        elif name == "div":
            self.lines.append("")
            self.directions.append(dict(attributes).get("dir"))
        elif name == "b":
            self.utilized.append("")

    def handle_data(self, data):
        super().handle_data(data)
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data
        if "details" in self._open:
            self.folds[-1] += data
        if self._open.count("div") >= 2:
            self.lines[-1] += data
        if self._open[-1] == "b":
            self.utilized[-1] += data

    def line(self, beginning):
        (found,) = [line for line in self.lines if line.startswith(beginning)]
        return found


def said(key, supporting, fully=True, **more):
    return {
        "response_sentence_key": key,
        "supporting_sentence_keys": supporting,
        "fully_supported": fully,
        **more,
    }


def record(**changes):
    """The worked example of the visual guide: six sentences, R = {0b, 0c, 1a, 1b}, U = {0b, 0c, 1a}, c unsupported."""
    documents = [[[f"{d}{s}", f"Sentence {s} of {d}."] for s in "abc"] for d in (0, 1)]
    basis = {
        "example_id": "mini/1",
        "question": "What is it?",
        "documents_sentences": documents,
        "response_sentences": [["a", "One thing."], ["b", "Another."], ["c", "A third."]],
        "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
        "all_utilized_sentence_keys": ["0b", "0c", "1a"],
        "sentence_support_information": [
            said("a", ["0b", "0c"]),
            said("b", ["1a"]),
            said("c", [], False),
        ],
        "unsupported_response_sentence_keys": ["c"],
    }
    return basis | changes


def page(*, other=None, variant="ragbench", length="sentence", **changes):
    return Page(TraceView(record(**changes), other=other, variant=variant, length=length))


def long_document(n, *, number=0):
    return [[f"{number}{chr(97 + i)}", f"Sentence {i}."] for i in range(n)]


# ---- the context -------------------------------------------------------------------------------------------------------


def test_relevant_sentences_are_marked_and_utilized_ones_bold_each_with_its_letters():
    view = page(all_utilized_sentence_keys=["0b", "1c"])
    assert view.marked == [
        "Sentence b of 0.",
        "Sentence c of 0.",
        "Sentence a of 1.",
        "Sentence b of 1.",
    ]
    assert [text for text in view.utilized if text.startswith("Sentence")] == [
        "Sentence b of 0.",
        "Sentence c of 1.",
    ]
    assert [line for line in view.lines if re.match(r"\[\d", line)] == [
        "[0a] Sentence a of 0.",
        "[0b] Sentence b of 0.RU",
        "[0c] Sentence c of 0.R",
        "[1a] Sentence a of 1.R",
        "[1b] Sentence b of 1.R",
        "[1c] Sentence c of 1.U",
    ]


def test_every_tint_has_its_own_dark_letters():
    tinted = [
        value for name, value in page().attributes if name == "style" and "background" in value
    ]
    assert len(tinted) == 4
    assert all("color:#111" in style.split(";") for style in tinted)


def test_a_document_without_a_relevant_or_utilized_sentence_is_folded_with_its_number_of_sentences():
    view = page(all_relevant_sentence_keys=["1a"], all_utilized_sentence_keys=[])
    assert view.folds == [
        "document 0 · 3 sentences, none relevant or utilized[0a] Sentence a of 0.[0b] Sentence b of 0.[0c] Sentence c of 0."
    ]
    assert "document 1 · 3 sentences[1a]" in view.text


@pytest.mark.parametrize(("n_plain", "folds"), [(FOLD - 1, 0), (FOLD, 1), (20, 1)])
def test_only_long_runs_are_folded_inside_a_document_that_has_relevant_sentences(n_plain, folds):
    view = page(
        documents_sentences=[long_document(n_plain + 1)],
        all_relevant_sentence_keys=[f"0{chr(97 + n_plain)}"],
        all_utilized_sentence_keys=[],
    )
    assert len(view.folds) == folds
    assert f"[0a] … [0{chr(96 + n_plain)}] · {n_plain} sentences, none" in view.text or not folds
    assert view.text.count("Sentence ") == n_plain + 1


def test_every_sentence_is_shown_once_folded_or_not():
    for row in RECORDS:
        lines = Page(TraceView(row)).lines
        for document in row["documents_sentences"]:
            for key, text in document:
                assert sum(line.startswith(f"[{key}] {visible(text)}") for line in lines) == 1


def test_an_empty_document_and_an_empty_context_are_shown_as_such():
    assert (
        "document 0 · 0 sentences"
        in page(documents_sentences=[[], long_document(1, number=1)]).text
    )
    view = page(documents_sentences=[])
    assert view.numbers["relevance"] == ["nan "]
    assert "⚠ documents_sentences: the context has no sentence" in view.lines


# ---- the response ------------------------------------------------------------------------------------------------------


def test_sentences_of_the_response_stand_with_verdict_and_supporting_keys():
    view = page()
    assert view.line("✓ [a]") == "✓ [a] One thing. (supported by [0b] [0c])"
    assert view.line("✓ [b]") == "✓ [b] Another. (supported by [1a])"
    assert view.line("✗ [c]") == "✗ [c] A third. (supported by nothing, unsupported)"


@pytest.mark.parametrize(
    ("fully", "glyph"),
    [
        (True, "✓"),
        (False, "✗"),
        (None, "?"),
        (math.nan, "?"),
        ("yes", "?"),
    ],
)
def test_an_undecided_sentence_has_a_question_mark(fully, glyph):
    assert page(sentence_support_information=[said("a", ["0b"], fully)]).line(f"{glyph} [a]")


@pytest.mark.parametrize("key", SPECIAL_KEYS)
def test_special_keys_stand_by_their_name(key):
    view = page(sentence_support_information=[said("a", [key, "0b"])])
    assert view.line("✓ [a]") == f"✓ [a] One thing. (supported by {key} [0b])"
    assert "i" in view.elements
    assert f"⚠ sentence_support_information: special key '{key}' supports 'a'" in view.lines


def test_unknown_and_repeated_keys_are_shown_and_told():
    view = page(
        all_relevant_sentence_keys=["1a", "0b", "0b", "9z"],
        all_utilized_sentence_keys=["1a.", "0b"],
        sentence_support_information=[said("a", ["1a."])],
    )
    assert view.line("✓ [a]").endswith("(supported by [1a.]?)")
    assert view.venn == {"labels": ["2 [1a] [9z]?", "1 [0b]×2", "1 [1a.]?"]}
    assert view.numbers["relevance"] == ["0.667 4/6"]
    assert view.numbers["completeness"] == ["0.333 1/3"]
    assert "⚠ all_relevant_sentence_keys: '9z' names no sentence (counted)" in view.lines
    assert "⚠ all_relevant_sentence_keys: '0b' is repeated" in view.lines


def test_a_sentence_without_label_and_a_label_without_sentence_are_both_shown():
    view = page(
        sentence_support_information=[said("a.", ["0b"])], unsupported_response_sentence_keys=["z"]
    )
    assert view.line("? [a]") == "? [a] One thing. (no support information)"
    assert view.line("✓ [a.]") == "✓ [a.] names no sentence of the response (supported by [0b])"
    assert (
        view.line("? [z]")
        == "? [z] names no sentence of the response (no support information, unsupported)"
    )


def test_a_sentence_that_is_labelled_twice_shows_both_labels():
    view = page(sentence_support_information=[said("a", ["0b"]), said("a", [], None)])
    assert view.line("✓? [a]") == "✓? [a] One thing. (supported by [0b], supported by nothing)"


def test_an_empty_response_says_so_and_its_fraction_is_undefined():
    view = page(
        response_sentences=[],
        sentence_support_information=[],
        unsupported_response_sentence_keys=[],
    )
    assert "response · no sentence" in view.lines
    assert view.numbers["supported fraction"] == ["nan "]
    assert view.numbers["adherence"] == ["1 "]


def test_explanations_are_folded_and_missing_ones_left_out():
    view = page(
        relevance_explanation="Both matter.",
        overall_supported_explanation=math.nan,
        sentence_support_information=[
            said("a", [], explanation="Stands nowhere."),
            said("b", [], explanation=None),
        ],
    )
    assert view.folds == ["explanationsrelevance Both matter.[a] Stands nowhere."]
    assert "explanations" not in page().text


# ---- the numbers -------------------------------------------------------------------------------------------------------


def test_the_worked_example_of_the_guide_under_both_variants():
    assert page().numbers == {
        "relevance": ["0.667 4/6"],
        "utilization": ["0.500 3/6"],
        "completeness": ["0.750 3/4"],
        "adherence": ["0 [c]"],
        "supported fraction": ["0.667 2/3"],
        "RMSE to ideal": ["0.597 "],
        "consistency": ["0.403 "],
    }
    assert page(variant="guide").numbers == {
        "relevance": ["0.200 4/20"],
        "utilization": ["0.750 3/4"],
        "completeness": ["0.750 3/4"],
        "adherence": ["0 [c]"],
        "supported fraction": ["0.667 2/3"],
        "RMSE to ideal": ["0.664 "],
        "consistency": ["0.336 "],
    }


def test_the_sets_stand_as_a_venn_diagram_of_keys():
    view = page(all_utilized_sentence_keys=["1c", "0b"])
    assert view.rows[len(SCORES) + 1] == ["", "only R", "R∩U", "only U"]
    assert view.venn == {"labels": ["3 [0c] [1a] [1b]", "1 [0b]", "1 [1c]"]}


def test_the_convention_of_the_definition_is_named_beside_each_number():
    formulas = {row[0]: row[1] for row in page().rows if row[0] in SCORES}
    assert formulas["completeness"] == "R∩U / R; 1 if R is empty"
    assert page(all_relevant_sentence_keys=[]).numbers["completeness"] == ["1.000 0/0"]
    assert page(all_relevant_sentence_keys=[], variant="guide").numbers["completeness"] == [
        "0.000 0/0"
    ]
    assert page(length="token").rows[0] == ["ragbench", "lengths in tokens", "labels"]


def agree(view, scores, *, variant):
    """Every number shown is that of the scores, and every fraction beside it makes it."""
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
    sets = [cell.split(" ", 1) for cell in view.venn["labels"]]
    assert all(int(count) == len(re.findall(r"\[[^]]*\]", keys)) for count, keys in sets)


@pytest.mark.parametrize(
    ("variant", "length"),
    [
        ("ragbench", "sentence"),
        ("ragbench", "token"),
        ("ragbench", "character"),
        ("guide", "sentence"),
    ],
)
def test_all_numbers_of_the_sample_are_those_of_trace_scores(variant, length):
    for row in RECORDS:
        view = Page(TraceView(row, variant=variant, length=length))
        scores = trace_scores(row, variant=variant, length=length)
        agree(view, scores, variant=variant)
        assert [line[2:] for line in view.lines if line.startswith("⚠")] == list(scores.issues)


keys = st.lists(st.sampled_from(["0a", "0b", "0c", "1a", "1b", "1c", "9z", "general"]), max_size=8)
labels = st.lists(
    st.builds(
        said, st.sampled_from("abcd"), st.none() | keys, st.sampled_from([True, False, None])
    ),
    max_size=5,
)


@settings(max_examples=60)
@given(
    keys,
    keys,
    labels,
    st.none() | st.lists(st.sampled_from("abcd"), max_size=4),
    st.sampled_from(["ragbench", "guide"]),
    st.sampled_from(["sentence", "token"]),
)
def test_all_numbers_of_any_labels_are_those_of_trace_scores(
    relevant, utilized, support, unsupported, variant, length
):
    row = record(
        all_relevant_sentence_keys=relevant,
        all_utilized_sentence_keys=utilized,
        sentence_support_information=support,
        unsupported_response_sentence_keys=unsupported,
    )
    options = {"variant": variant, "length": "sentence" if variant == "guide" else length}
    agree(Page(TraceView(row, **options)), trace_scores(row, **options), variant=variant)


def test_flags_without_supporting_keys_are_not_shown_as_supported_by_nothing():
    support = [{"response_sentence_key": key, "fully_supported": key != "c"} for key in "abc"]
    view = page(sentence_support_information=support, unsupported_response_sentence_keys=None)
    assert view.line("✓ [a]") == "✓ [a] One thing. (no supporting keys given)"
    assert view.line("✗ [c]") == "✗ [c] A third. (no supporting keys given, unsupported)"
    assert view.numbers["adherence"] == ["0 [c]"]
    assert view.numbers["supported fraction"] == ["0.667 2/3"]


@pytest.mark.parametrize("gap", [None, math.nan, ...])
def test_labels_that_are_missing_leave_numbers_undefined_and_say_so(gap):
    row = record()
    for name in (
        "all_utilized_sentence_keys",
        "sentence_support_information",
        "unsupported_response_sentence_keys",
    ):
        del row[name]
        row |= {} if gap is ... else {name: gap}
    view = Page(TraceView(row))
    assert (
        view.numbers["utilization"]
        == view.numbers["adherence"]
        == view.numbers["consistency"]
        == ["nan "]
    )
    assert view.numbers["relevance"] == ["0.667 4/6"]
    assert "⚠ all_utilized_sentence_keys is missing" in view.lines
    assert view.line("? [a]") == "? [a] One thing. (no support information)"


# ---- two sets of labels ------------------------------------------------------------------------------------------------


def judged(**changes):
    return record(
        **{
            "all_relevant_sentence_keys": ["0a", "0b", "1a", "1b"],
            "all_utilized_sentence_keys": ["0b", "1a", "1c"],
            "sentence_support_information": [
                said("a", ["0c", "0b"]),
                said("b", ["1b"]),
                said("c", ["general"], None),
            ],
            "unsupported_response_sentence_keys": [],
        }
        | changes
    )


def test_two_sets_say_whose_every_mark_is_and_where_they_differ():
    view = page(other=judged())
    assert [line for line in view.lines if re.match(r"(≠ )?\[\d", line)] == [
        "≠ [0a] Sentence a of 0.R²",
        "[0b] Sentence b of 0.R¹²U¹²",
        "≠ [0c] Sentence c of 0.R¹U¹",
        "[1a] Sentence a of 1.R¹²U¹²",
        "[1b] Sentence b of 1.R¹²",
        "≠ [1c] Sentence c of 1.U²",
    ]
    assert view.line("✓ [a]") == "✓ [a] One thing. (supported by [0b] [0c])"
    assert view.line("≠ ✓ [b]") == "≠ ✓ [b] Another. (¹ supported by [1a]; ² supported by [1b])"
    assert (
        view.line("≠ ✗¹ ?² [c]")
        == "≠ ✗¹ ?² [c] A third. (¹ supported by nothing, unsupported; ² supported by general)"
    )
    assert "≠ labelled differently: 3 of 6 in the context, 2 of 3 in the response" in view.text


def test_what_two_sets_have_in_common_is_said_once():
    view = page(other=record(sentence_support_information=[said("a", ["0b", "0c"], None)]))
    assert view.line("≠ ✓¹ ?² [a]") == "≠ ✓¹ ?² [a] One thing. (supported by [0b] [0c])"
    assert (
        view.line("≠ ✓¹ ?² [b]")
        == "≠ ✓¹ ?² [b] Another. (¹ supported by [1a]; ² no support information)"
    )


def test_two_sets_have_their_numbers_and_sets_side_by_side():
    view = Page(TraceView(record(), other=judged(), names=("authors", "judge")))
    assert view.rows[0] == ["ragbench", "lengths in sentences", "authors¹", "judge²"]
    for shown, name in SCORES.items():
        values = [getattr(trace_scores(row), name) for row in (record(), judged())]
        assert [float(cell.split()[0]) for cell in view.numbers[shown]] == pytest.approx(
            values, abs=5e-4
        )
    assert view.venn == {
        "authors¹": ["1 [1b]", "3 [0b] [0c] [1a]", "0 "],
        "judge²": ["2 [0a] [1b]", "2 [0b] [1a]", "1 [1c]"],
    }
    assert [line for line in view.lines if line.startswith("⚠")] == [
        "⚠² sentence_support_information: special key 'general' supports 'c'",
        "⚠² fully_supported is null for 'c'",
    ]


def test_a_document_that_one_of_two_sets_marks_is_not_folded():
    plain = {"all_relevant_sentence_keys": [], "all_utilized_sentence_keys": []}
    assert len(page(**plain).folds) == 2
    assert page(**plain, other=judged()).folds == []


def test_one_set_of_labels_knows_no_disagreement():
    assert not set("≠¹²") & set(page().text)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"documents_sentences": [long_document(6)]}, "documents"),
        ({"documents_sentences": [[["0a", "Changed."]]]}, "documents"),
        ({"response_sentences": [["a", "One thing."]]}, "response"),
    ],
)
def test_labels_of_other_sentences_are_refused(changes, what):
    with pytest.raises(
        InputError,
        match=f"same sentences of the {what}; got others; compare labels of one response",
    ):
        TraceView(record(), other=record(**changes))


def test_sentences_are_the_same_whatever_they_are_listed_in():
    as_arrays = [np.array(document, dtype=object) for document in record()["documents_sentences"]]
    as_tuples = tuple(map(tuple, record()["response_sentences"]))
    assert (
        "0 of 6"
        in page(other=record(documents_sentences=as_arrays, response_sentences=as_tuples)).text
    )


# ---- hostile and foreign text ------------------------------------------------------------------------------------------


SCRIPTS = {
    "zh": "塔修复于一九〇九年。",
    "th": "หอคอยซ่อมเสร็จแล้ว",
    "ar": "رُمّم البرج سنة ١٩٠٩.",
    "marks": "e\u0301 a\u0308\u0323",
    "emoji": "👩\u200d🔬 🏳️\u200d🌈 👍🏽",
}


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_text_of_every_script_stays_whole_and_sets_its_own_direction(text):
    view = page(
        documents_sentences=[[["0b", text]]], response_sentences=[["a", text]], question=text
    )
    assert view.text.startswith(text)
    assert view.marked == [text]
    assert view.line("[0b]") == f"[0b] {text}RU"
    assert view.line("✓ [a]").startswith(f"✓ [a] {text} (")
    for line in ("[0b]", "✓ [a]"):
        assert view.directions[view.lines.index(view.line(line))] == "auto"


def test_keys_say_nothing_about_the_direction_of_a_sentence():
    markup = TraceView(record(documents_sentences=[[["0b", SCRIPTS["ar"]]]]))._repr_html_()
    assert '<span dir="ltr">[0b]</span> <mark' in markup
    assert '<small dir="ltr">(supported by ' in markup


# ---- input -------------------------------------------------------------------------------------------------------------


def test_a_missing_column_is_refused():
    incomplete = record()
    del incomplete["response_sentences"]
    with pytest.raises(InputError, match=r"TraceView.*without response_sentences;"):
        TraceView(incomplete)
    with pytest.raises(InputError, match=r"TraceView.*without response_sentences;"):
        TraceView(record(), other=incomplete)
    with pytest.raises(InputError, match=r"TraceBrowser.*without response_sentences;"):
        TraceBrowser(SAMPLE.drop(columns="response_sentences"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"documents_sentences": "[['0a', 'x']]"}, "documents_sentences must be a list, got str"),
        ({"documents_sentences": [[["0a"]]]}, "key, text"),
        ({"all_relevant_sentence_keys": "0a"}, "must be a list, got str"),
    ],
)
def test_fields_of_another_shape_are_refused_when_the_view_is_made(changes, message):
    with pytest.raises(InputError, match=message):
        TraceView(record(**changes))


@pytest.mark.parametrize(
    "options",
    [{"variant": "paper"}, {"variant": "guide", "length": "token"}],
    ids=str,
)
def test_unknown_options_are_refused(options):
    with pytest.raises(InputError, match="must be"):
        TraceView(record(), **options)


def test_names_that_cannot_be_told_apart_are_refused():
    with pytest.raises(InputError, match="names needs two different texts"):
        TraceView(record(), names=("same", "same"))


def test_a_row_of_a_frame_is_a_record_and_the_page_never_changes():
    pages = {
        TraceView(row)._repr_html_()
        for row in (record(), record(), pd.Series(record()), pd.DataFrame([record()]).iloc[0])
    }
    assert len(pages) == 1
    view = TraceView(record())
    assert view._repr_html_() == view._repr_html_() == pages.pop()
    assert repr(view) == "TraceView('What is it?', 6 context sentences, 3 of the response)"


def test_the_record_itself_stays_as_it_was():
    row, before = record(), record()
    TraceView(row, other=row)._repr_html_()
    assert row == before


# ---- the browser -------------------------------------------------------------------------------------------------------


def test_the_slider_shows_record_after_record():
    browser = TraceBrowser(SAMPLE)
    assert (browser.number.min, browser.number.max) == (1, len(SAMPLE))
    for number in (1, 2, 34, 1):
        browser.number.value = number
        assert browser._page.value == TraceView(RECORDS[number - 1])._repr_html_()


def test_where_no_kernel_runs_the_first_record_is_shown_wherever_the_slider_stands():
    browser = TraceBrowser(SAMPLE)
    browser.number.value = 5
    bundle = browser._repr_mimebundle_()
    assert bundle["text/plain"] == "TraceBrowser(34 records)"
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"].endswith(TraceView(RECORDS[0])._repr_html_())
    assert Reader(bundle["text/html"]).text.startswith(
        "TraceBrowser(34 records); the slider needs a running kernel, this is the first record"
    )


def test_a_browser_refuses_a_frame_without_records():
    with pytest.raises(InputError, match="TraceBrowser needs at least one record"):
        TraceBrowser(SAMPLE.iloc[:0])
