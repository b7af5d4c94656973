"""A whole frame in a viewer, without a kernel: what is found, which page is shown, and what stands where nothing runs."""

import math

import numpy as np
import pandas as pd
import pytest
from hostile import HOSTILE, Reader, any_text, visible
from hypothesis import given

import ragnb
from ragnb.errors import InputError
from ragnb.experiments.labelled import load_labelled
from ragnb.reports import judge_report
from ragnb.widgets import ContextView, FrameView, LanguageView, RgbView, TraceView, view
from ragnb.widgets.view import AHEAD, KINDS, SENT_AT_ONCE, kind_of

ELEMENTS = set("div p b i mark del ins span sup table tr td th details summary ol li small".split())
WIDGET = "application/vnd.jupyter.widget-view+json"
TEXTS = [
    "答案是北京",
    "東京です",
    "กรุงเทพฯ",
    "नई दिल्ली",
    "القاهرة",
    "שָׁלוֹם",
    "e\u0301te\u0301",
    "👩\u200d🔬",
    "می\u200cروم",
]
CONTEXT = {
    "question": "Where?", "references": [["Oslo"]], "passages": ["In Oslo."], "kinds": ["positive"], "language": "en",
    "response": "It is Oslo.", "noise_rate": 0.0, "example_id": "e/1", "system": "plain",
}  # fmt: skip
TRACE = {
    "question": "Why?", "documents_sentences": [[["0a", "It rains."], ["0b", "It pours."]]],
    "response_sentences": [["a", "Rain."]], "all_relevant_sentence_keys": ["0a"], "all_utilized_sentence_keys": ["0a"],
    "sentence_support_information": [], "unsupported_response_sentence_keys": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def labelled():
    return load_labelled("sample-labelled-en")


def page(shown):
    return Reader(shown._page.value)


def sent(shown):
    """What the list says in answer to messages."""
    said = []
    shown._list.send = lambda content, buffers=None: said.append(content)
    return said


# ---- kinds -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "kind", "static"),
    [
        (lambda: ragnb.load_ragbench("sample-ragbench"), "trace", lambda row: TraceView(row)),
        (lambda: pd.DataFrame([CONTEXT]), "rgb", lambda row: RgbView(row)),
        (lambda: pd.DataFrame([CONTEXT]).drop(columns="response"), "rgb", lambda row: RgbView(row)),
        (
            lambda: load_labelled("sample-labelled-multilingual"),
            "language",
            lambda row: LanguageView(row),
        ),
    ],
)
def test_the_kind_follows_from_the_columns_and_its_static_page_is_shown(frame, kind, static):
    frame = frame()
    shown = view(frame)
    assert shown.kind == kind_of(frame) == kind
    assert shown._page.value.startswith(static(frame.iloc[0])._repr_html_())
    assert "all columns" in page(shown).text


def test_the_disagreements_of_a_judge(labelled):
    worst = judge_report(labelled).worst
    shown = view(worst)
    assert shown.kind == "judge"
    assert "label: ✗" in page(shown).text or "label: ✓" in page(shown).text
    assert "disagreements" not in page(shown).text
    assert len(shown.rows) == len(worst)


def test_other_frames_show_what_was_asked_and_said_and_the_rest(labelled):
    shown = view(labelled)
    assert shown.kind == "plain"
    text = page(shown).text
    assert text.startswith(
        "Who discovered penicillin in 1928?references: Alexander Fleming or Fleming"
    )
    assert page(shown).marked[0] in ("Alexander Fleming", "Fleming")
    assert "noise_rate0" in text
    assert "embedding_cosine0.8987" in text
    assert text.count("Who discovered") == 1


def test_any_frame_has_a_page():
    shown = view(
        pd.DataFrame(
            {
                "tokens": [[1, 2]],
                "texts": [["a", "b"]],
                "long": ["so " * 500],
                "none": [None],
                "x": [0.1234567],
            }
        )
    )
    reader = page(shown)
    assert reader.text.startswith("tokens[1, 2]textsablongso so")
    assert reader.text.endswith("none–x0.123457")
    assert reader.elements.count("details") == 1


def test_options_go_to_the_static_viewer():
    record, row = pd.DataFrame([TRACE]), pd.DataFrame([CONTEXT])
    guide = TraceView(TRACE, variant="guide")._repr_html_()
    assert view(record, variant="guide")._page.value.startswith(guide)
    assert view(row, protocols=["paper"])._page.value.startswith(
        RgbView(CONTEXT, protocols=["paper"])._repr_html_()
    )
    lenient = ContextView(CONTEXT, protocol="released")._repr_html_()
    assert view(row, "context", protocol="released")._page.value.startswith(lenient)
    told = LanguageView(CONTEXT, identify=True)._repr_html_()
    assert view(row, "language", identify=True)._page.value.startswith(told)


# ---- the list ----------------------------------------------------------------------------------------------------------


def test_search_filters_and_sort_without_a_kernel(labelled):
    shown = view(labelled)
    shown.search = "penicillin"
    assert len(shown.rows) == labelled["question"].str.contains("penicillin").sum() == 10
    shown.filters = {"system": "plain", "label": 1}
    expected = labelled[
        labelled["question"].str.contains("penicillin")
        & (labelled["system"] == "plain")
        & (labelled["label"] == 1)
    ]
    pd.testing.assert_frame_equal(shown.rows, expected)
    assert shown.filters == {"system": "plain", "label": 1}
    shown.sort = "-noise_rate"
    assert shown.rows["noise_rate"].is_monotonic_decreasing
    shown.search, shown.filters, shown.sort = "", {}, ""
    pd.testing.assert_frame_equal(shown.rows, labelled)
    assert repr(shown) == "FrameView('plain', 680 rows)"


def test_the_row_that_is_shown_stays_where_it_is_still_found(labelled):
    shown = view(labelled)
    shown.number = 300
    kept = shown.selected["request_key"]
    shown.search = shown.selected["question"]
    assert shown.selected["request_key"] == kept
    shown.search = "zzzz"
    assert (shown.number, shown.selected, len(shown.rows)) == (0, None, 0)
    assert page(shown).text == "no row matches"
    shown.search = ""
    assert shown.number == 1


def test_a_new_order_begins_at_its_first_row(labelled):
    shown = view(labelled)
    shown.number = 300
    shown.sort = "-embedding_cosine"
    assert shown.number == 1
    assert shown.selected["embedding_cosine"] == labelled["embedding_cosine"].max()
    kept = shown.selected["request_key"]
    shown.sort = ""
    assert shown.selected["request_key"] == kept
    assert kept in page(shown).text


def test_the_page_follows_the_number():
    shown = view(pd.DataFrame({"question": [f"question {k}" for k in range(5)]}))
    for number in (3, 1, 5):
        shown.number = number
        assert f"question {number - 1}" in page(shown).text
        assert shown.selected["question"] == f"question {number - 1}"


def test_what_the_browser_sends_counts_as_what_python_says(labelled):
    shown = view(labelled)
    shown._list.set_state(
        {"search": "penicillin", "chosen": [2, 0, 0, 0, 0, 0], "sort": "-noise_rate"}
    )
    assert (shown.search, shown.filters, shown.sort) == (
        "penicillin",
        {"system": "plain"},
        "-noise_rate",
    )
    assert len(shown.rows) == 5
    shown._list.set_state({"position": 3})
    assert shown.number == 4
    assert shown.selected["noise_rate"] == 0.2


def test_the_list_has_the_titles_around_the_row_and_asks_for_others(labelled):
    shown = view(labelled)
    found = shown._list.found
    assert (found["count"], found["first"], len(found["rows"])) == (680, 0, AHEAD)
    assert found["rows"][0] == [
        "✓",
        "Who discovered penicillin in 1928?",
        ["answer", "noise rate 0", "sample-en/0"],
    ]
    said = sent(shown)
    shown._list._handle_custom_msg(
        {"kind": "rows", "version": found["version"], "first": 600, "last": 900}, []
    )
    assert (said[0]["first"], len(said[0]["rows"]), said[0]["version"]) == (
        600,
        80,
        found["version"],
    )
    shown._list._handle_custom_msg({"kind": "rows", "version": 0, "first": -5, "last": 10**9}, [])
    assert (said[1]["first"], len(said[1]["rows"])) == (0, SENT_AT_ONCE)
    shown._list._handle_custom_msg({"kind": "prepare"}, [])
    shown._list._handle_custom_msg({"kind": "something else"}, [])
    assert len(said) == 2


def test_ten_thousand_rows_are_sent_by_the_window_only(labelled):
    many = pd.concat([labelled] * 15, ignore_index=True)
    shown = view(many)
    assert shown._list.total == 10200
    assert len(str(shown._list.get_state())) < 60_000


# ---- where no kernel runs ----------------------------------------------------------------------------------------------


def test_the_static_twin_says_what_it_is(labelled):
    shown = view(labelled)
    shown.filters = {"system": "plain"}
    bundle = shown._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert WIDGET in data
    assert data["text/plain"] == "FrameView('plain', 340 of 680 rows)"
    reader = Reader(data["text/html"])
    assert reader.text.startswith(
        "FrameView('plain', 340 of 680 rows); search, filters and the list need a running kernel, this is row 1"
    )
    assert "10✓" in reader.text or "10✗" in reader.text
    assert "… and 330 more" in reader.text
    assert data["text/html"].endswith(shown._page.value)
    assert data == _data(shown._repr_mimebundle_())
    assert (
        view(labelled, "plain")._repr_mimebundle_()["text/html"]
        == view(labelled)._repr_mimebundle_()["text/html"]
    )


def _data(bundle):
    return bundle[0] if isinstance(bundle, tuple) else bundle


@pytest.mark.parametrize("given", [{WIDGET: 1}, ({WIDGET: 1}, {"meta": 2}), None])
def test_every_shape_of_a_bundle_gets_its_static_twin(given, monkeypatch):
    monkeypatch.setattr("ipywidgets.Widget._repr_mimebundle_", lambda self, **options: given)
    bundle = view(pd.DataFrame({"question": ["Who?"]}))._repr_mimebundle_()
    assert isinstance(bundle, tuple) == isinstance(given, tuple)
    assert "Who?" in _data(bundle)["text/html"]
    if given:
        assert _data(bundle)[WIDGET] == 1


# ---- odd frames --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame(columns=list(TRACE)),
    ],
)
def test_a_frame_without_rows(frame):
    shown = view(frame)
    assert page(shown).text == "no rows"
    assert (shown.number, shown.selected, len(shown.rows)) == (0, None, 0)
    shown.search = "x"
    assert "0 rows" in _data(shown._repr_mimebundle_())["text/plain"]


def test_arrays_in_cells_are_lists_to_the_viewers():
    nested = np.empty(1, dtype=object)
    nested[0] = np.array(["Oslo"], dtype=object)
    row = CONTEXT | {
        "references": nested,
        "passages": np.array(["In Oslo."]),
        "kinds": np.array(["positive"]),
    }
    assert view(pd.DataFrame([row]))._page.value.startswith(RgbView(CONTEXT)._repr_html_())


def test_one_odd_row_does_not_hide_the_others():
    shown = view(pd.DataFrame([TRACE | {"documents_sentences": 5}, TRACE]))
    assert page(shown).text.startswith("this row cannot be shown: ")
    shown.number = 2
    assert "It rains." in page(shown).text


def test_missing_cells_are_dashes():
    frame = pd.DataFrame({"question": [None, "q"], "response": [pd.NA, "r"], "label": pd.array([1, None], dtype="Int64"),
                          "when": pd.to_datetime([None, "2020-01-01"])})  # fmt: skip
    shown = view(frame)
    assert page(shown).text == "question–response–label1when–"
    shown.number = 2
    assert page(shown).text == "qresponse: rlabel–when2020-01-01 00:00:00"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: view(pd.DataFrame([CONTEXT]), "table"), "'plain', got 'table'"),
        (
            lambda: view(pd.DataFrame([CONTEXT]), "trace"),
            "view of kind 'trace' needs the columns .* without documents_sentences",
        ),
        (
            lambda: view(pd.DataFrame([CONTEXT]), protocol="released"),
            "'rgb' has the options: protocols; got protocol",
        ),
        (lambda: setattr(view(pd.DataFrame([CONTEXT])), "sort", "colour"), "a sort needs one of"),
        (
            lambda: setattr(view(pd.DataFrame([CONTEXT])), "filters", {"colour": 1}),
            "a filter needs one of",
        ),
        (
            lambda: setattr(view(pd.DataFrame([CONTEXT])), "number", 2),
            "a number from 1 to 1; got 2",
        ),
    ],
)
def test_bad_input_says_what_is_needed(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_refused_wish_changes_nothing():
    shown = view(pd.DataFrame([CONTEXT, CONTEXT | {"system": "rag"}]))
    shown.filters = {"system": "rag"}
    for name, value in {"filters": {"system": "x"}, "sort": "x", "number": 7}.items():
        with pytest.raises(InputError):
            setattr(shown, name, value)
    assert (shown.filters, shown.sort, shown.number, len(shown.rows)) == (
        {"system": "rag"},
        "",
        1,
        1,
    )


# ---- hostile text ------------------------------------------------------------------------------------------------------


def hostile_frames(text):
    context = CONTEXT | {
        "question": text,
        "passages": [text],
        "response": text,
        "references": [[text or "x"]],
        "system": text,
    }
    trace = TRACE | {
        "question": text,
        "documents_sentences": [[["0a", text]]],
        "response_sentences": [["a", text]],
        "system": text,
    }
    judged = {"question": text, "references": [[text or "x"]], "response": text, "judged_by": text, "judge_score": 0.0,
              "judge_verdict": 0.0, "human_label": 1.0, "annotations": {text: 1.0}, "disagreement": 1.0}  # fmt: skip
    yield "rgb", context
    yield "context", context
    yield "language", context
    yield "trace", trace
    yield "judge", judged
    yield (
        "plain",
        {"question": text, text or "x": text, "listed": [text, {text: text}], "response": text},
    )


def test_every_kind_is_tried():
    assert {kind for kind, _ in hostile_frames("x")} == set(KINDS)


@pytest.mark.parametrize("text", [*HOSTILE, *TEXTS])
def test_hostile_and_foreign_text_is_shown_and_nothing_else(text):
    for kind, row in hostile_frames(text):
        frame = pd.DataFrame([row, row | {"system": "other"}], dtype=object)
        shown = view(frame, kind)
        reader = Reader(_data(shown._repr_mimebundle_())["text/html"])
        assert set(reader.elements) <= ELEMENTS, kind
        assert {name for name, _ in reader.attributes} <= {"class", "dir", "style"}, kind
        assert (
            visible(text).strip()[:20] in reader.text.replace("\u2028", " ") or kind == "trace"
        ), kind
        assert shown._list.found["rows"][0][1] == " ".join(visible(text).split()), kind


@given(any_text)
def test_any_text_can_be_shown_searched_and_sent(text):
    shown = view(pd.DataFrame({"question": ["a", text], "response": [text, "b"]}, dtype=object))
    shown.search = text
    assert len(shown.rows) == 2
    reader = Reader(_data(shown._repr_mimebundle_())["text/html"])
    assert set(reader.elements) <= ELEMENTS
    assert not {c for row in shown._list.found["rows"] for c in row[1]} & set(
        "\u202e\u2066\x00\x1b"
    )


def test_nan_is_found_by_any_name_of_nothing():
    shown = view(pd.DataFrame({"label": [1.0, math.nan, 1.0, math.nan], "question": list("abcd")}))
    for nothing in (None, math.nan, pd.NA):
        shown.filters = {"label": nothing}
        assert shown.rows["question"].tolist() == ["b", "d"]
    assert isinstance(shown, FrameView)
