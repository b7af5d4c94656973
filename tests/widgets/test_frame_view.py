"""A whole frame in a viewer, without a kernel: what is found, which page is shown, and what stands where nothing runs."""

import datetime
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import Reader, any_text

import ragnb
from ragnb.errors import InputError
from ragnb.experiments import recorded_responses
from ragnb.reports import judge_report
from ragnb.text import fold
from ragnb.widgets import view
from ragnb.widgets.frame_view import AHEAD, SENT_AT_ONCE, FrameView
from ragnb.widgets.rows import LINE, Rows, short

NODE = shutil.which("node")
WORDS_OF = Path(__file__).parents[2] / "tools" / "js" / "test" / "words_of.mjs"
WIDGET = "application/vnd.jupyter.widget-view+json"
CONTEXT = {
    "question": "Where?", "references": [["Oslo"]], "passages": ["In Oslo."], "kinds": ["positive"], "language": "en",
    "response": "It is Oslo.", "noise_rate": 0.0, "example_id": "e/1", "system": "plain",
}  # fmt: skip
FRAME = pd.DataFrame(
    {
        "example_id": ["e/1", "e/2", "e/3", "e/4", "e/1", "e/2"],
        "question": ["Who found 北京?", "Where is Ōsaka?", "ＷＨＡＴ is ½?", "שָׁלוֹם", "Who found 北京?", None],
        "system": ["plain", "plain", "plain", "plain", "rag", "rag"],
        "noise_rate": [0.4, 0.0, 0.2, 0.4, 0.0, 0.2],
        "passages": [["It rains.", "Straße 5"], [], ["the Cat"], None, ["rain cat"], [np.nan]],
        "response": ["Ann", None, "a half", "peace", "Ann Lee", "no"],
        "label": [1, 0, 1, 0, 1, None],
        "similarity": [0.1234, 0.5678, 0.2345, math.nan, 0.9999, 0.4321],
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def labelled():
    return ragnb.load_study("sample-labelled-en")


def page(shown):
    return Reader(shown._page.value)


def wish(shown, *, filters=None, number=None, **wanted):
    """Do in the list what its user does: search, sort, choose a filter's value, select a row."""
    if filters is not None:
        choices = shown._rows.choices.items()
        wanted["chosen"] = [
            [c.names.index(short(filters[n]))] if n in filters else [] for n, c in choices
        ]
    shown._list.set_state(wanted | ({} if number is None else {"position": number - 1}))
    return shown


def bundle_of(shown):
    bundle = shown._repr_mimebundle_()
    return bundle[0] if isinstance(bundle, tuple) else bundle


# ---- kinds -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "kinds"),
    [
        (lambda: ragnb.load_ragbench("sample-ragbench"), ["trace", "language"]),
        (lambda: pd.DataFrame([CONTEXT]).drop(columns="response"), ["rgb"]),
        (lambda: ragnb.load_study("sample-labelled-multilingual"), ["language"]),
        (lambda: ragnb.load_study("sample-labelled-en"), []),
        (lambda: judge_report(ragnb.load_study("sample-labelled-en")), ["judge"]),
    ],
)
def test_the_sections_follow_from_the_columns(frame, kinds):
    assert view(frame()).kinds == kinds


def test_arrays_in_cells_are_lists_and_one_odd_row_does_not_hide_the_others():
    nested = np.empty(1, dtype=object)
    nested[0] = np.array(["Oslo"], dtype=object)
    arrays = {name: np.array(CONTEXT[name]) for name in ("passages", "kinds")}
    shown = view(
        pd.DataFrame([CONTEXT | {"language": "xx"}, CONTEXT | arrays | {"references": nested}])
    )
    assert page(shown).text.startswith("this row cannot be shown: language must be")
    assert "responseIt is Oslo." in page(shown).text
    assert page(wish(shown, number=2)).marked[:2] == ["Oslo", "Oslo"]


# ---- the list ----------------------------------------------------------------------------------------------------------


def test_search_filters_and_sort_and_the_row_that_stays(labelled):
    shown = wish(view(labelled), search="penicillin", filters={"system": "plain", "label": 1})
    penicillin = labelled["question"].str.contains("penicillin")
    expected = labelled[penicillin & (labelled["system"] == "plain") & (labelled["label"] == 1)]
    pd.testing.assert_frame_equal(shown.rows, expected)
    assert wish(shown, sort="-noise_rate").rows["noise_rate"].is_monotonic_decreasing
    pd.testing.assert_frame_equal(wish(shown, search="", filters={}, sort="").rows, labelled)
    kept = wish(shown, number=300).selected
    assert wish(shown, search=kept["question"]).selected["request_key"] == kept["request_key"]
    assert page(wish(shown, search="zzzz")).text == "no row matches"
    assert (shown.number, shown.selected, len(shown.rows)) == (0, None, 0)
    assert wish(shown, search="").number == 1
    wish(shown, number=300, sort="-embedding_cosine")
    assert shown.selected["embedding_cosine"] == labelled["embedding_cosine"].max()
    assert shown.selected["request_key"] in page(wish(shown, sort="")).text


@pytest.mark.skipif(NODE is None, reason="NO NODE: the words that the page tints are not tried")
def test_the_page_tints_the_words_of_a_search_and_not_its_comparisons():
    numbers = {
        "f1": 0.4,
        "answer.f1": 0.5,
        "noise  Rate": 0.2,
        "f1 (macro)": 1.0,
        "a|b": 2,
        "ＦＵＬＬ": 3,
    }
    shown = view(pd.DataFrame([{"question": "Where?", **numbers}]))
    words_by_search = {
        "answer.f1<0.5": [],
        "Oslo  Answer.F1 < .5 in": ["oslo", "in"],
        "noise rate >= 1e-3 rate": ["rate"],
        "f1 (macro) ≤ 2 f1=-1 a|b==2 full ＞ ٣": [],
        "xf1<1 f1<1x f1<": ["xf1<1", "f1<1x", "f1<"],
        "p<0.05 < 0.5": ["p<0.05", "<", "0.5"],
        "f1": ["f1"],
        " ": [],
    }
    searches = list(words_by_search)
    content = json.dumps({"searches": searches, "numbers": shown._list.offer["numbers"]})
    ran = subprocess.run([NODE, str(WORDS_OF)], input=content, capture_output=True, text=True, check=True)  # fmt: skip
    assert dict(zip(searches, json.loads(ran.stdout), strict=True)) == words_by_search
    assert {search: shown._rows._parts(search)[1] for search in searches} == words_by_search


def test_the_list_has_the_titles_around_the_row_and_asks_for_others(labelled):
    shown, said = view(labelled), []
    found = shown._list.found
    assert (found["count"], found["first"], len(found["rows"])) == (680, 0, AHEAD)
    title = "Who discovered penicillin in 1928?"
    assert found["rows"][0] == ["✓", title, ["answer", "noise rate 0", "sample-en/0"]]
    shown._list.send = lambda content, buffers=None: said.append(content)
    for version, first, last in ((found["version"], 600, 900), (0, -5, 10**9)):
        message = {"kind": "rows", "version": version, "first": first, "last": last}
        shown._list._handle_custom_msg(message, [])
    shown._list._handle_custom_msg({"kind": "prepare"}, [])
    answers = [(one["first"], len(one["rows"]), one["version"]) for one in said]
    assert answers == [(600, 80, found["version"]), (0, SENT_AT_ONCE, found["version"])]
    many = view(pd.concat([labelled] * 15, ignore_index=True))._list
    assert many.offer["total"] == 10200
    assert len(str(many.get_state())) < 60_000


def test_the_static_twin_has_the_cards_of_the_first_rows(labelled):
    shown = wish(wish(view(labelled), filters={"system": "plain"}), number=3)
    data = bundle_of(shown)
    assert WIDGET in data
    assert data["text/plain"] == "FrameView(340 of 680 rows)"
    text = Reader(data["text/html"]).text
    note = "Search, filters and the list need a running kernel; row 3 is open."
    assert text.startswith(f"340 of 680 rows. {note}3 ✓ ")
    assert all(question in text for question in shown.rows["question"][2:12])
    assert text.endswith("… and 328 more")
    assert data["text/html"].count('ragnb-card"') == 10
    long = view(pd.DataFrame([CONTEXT | {"response": "x" * 50_000}] * 3))
    assert bundle_of(long)["text/html"].count('ragnb-card"') == 1


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (FRAME, {"kind": "table"}, "kind must be one of .*'language', got 'table'"),
        (FRAME, {"kind": "trace"}, "of kind 'trace' needs the columns .*documents_sentences"),
        (pd.DataFrame([CONTEXT]), {"protocols": ["no"]}, "protocol must be one of .* got 'no'"),
        (pd.DataFrame([CONTEXT]), {"size": 3}, "view of kind rgb has no option size"),
        (
            FRAME.head(4),
            {"changed": ["plain", "rag"]},
            "needs the columns example_id, system and a",
        ),
        (
            FRAME.drop(columns="noise_rate"),
            {"changed": ["plain", "x"]},
            "two of the systems plain, rag, got",
        ),
        ([CONTEXT], {}, "view needs a pandas DataFrame.* got a list"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "must have different names, got a twice"),
    ],
)
def test_bad_input_says_what_is_needed(frame, options, message):
    with pytest.raises(InputError, match=message):
        view(frame, **options)


# ---- the rows: found as a slow, separate reading of the frame finds them -----------------------------------------------


@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=5), any_text)
def test_a_search_finds_what_a_plain_reading_of_every_text_finds(cells, search):
    columns = {"question": [a for a, _ in cells], "passages": [[b, {"text": b}] for _, b in cells]}
    words = fold(search).split()
    plain = [all(any(word in fold(text) for text in pair) for word in words) for pair in cells]
    found = Rows(pd.DataFrame(columns, dtype=object)).found(search, {}, "")
    assert found.tolist() == np.flatnonzero(plain).tolist()


@pytest.mark.parametrize(
    ("search", "places"),
    [
        ("score<0.5", [0, 2]),
        ("SCORE>=0.5 Oslo", [1]),
        ("score>-.5 score<=.25", [0, 2]),
        ("score=1", [3]),
        ("missing<0.5", [4]),  # no column of numbers, so it is a text
        ("score<", []),
        ("score < 0.5", [0, 2]),
        ("score <0.5 oslo", [0, 2]),
        ("score == 1", [3]),
        ("score≥ .5", [1, 3]),
        ("score <= 2.5e-1", [0, 2]),
        ("my score < 2", [1]),  # a name with a space, which ends like another name
        ("my score < 2 score < 0.5", []),
        ("xscore < 0.5", []),
    ],
)
def test_a_search_compares_scores_with_numbers(search, places):
    responses = ["in Oslo", "in Oslo", "Oslo", "in Rome", "missing<0.5"]
    columns = {"response": responses, "score": [0.25, 0.5, 0.0, 1.0, np.nan]}
    frame = pd.DataFrame(columns | {"my score": [3, 1, 4, 5, np.nan]})
    assert Rows(frame).found(search, {}, "").tolist() == places


def test_a_comparison_of_two_numbers_in_a_text_is_found_as_a_text():
    frame = pd.DataFrame({"response": ["3 < 5 holds", "it is 3", "= 1"], "score": [0.0, 1.0, 0.5]})
    rows = Rows(frame)
    assert rows.found("3 < 5", {}, "").tolist() == [0]
    assert rows.found("= 1", {}, "").tolist() == [2]
    assert rows.found("score = 1 3", {}, "").tolist() == [1]


def test_every_choice_of_every_filter_holds_exactly_its_rows():
    rows = Rows(FRAME)
    assert {name: found.names for name, found in rows.choices.items()} == {
        "system": ["plain", "rag"], "noise_rate": ["0", "0.2", "0.4"], "label": ["0", "1", "–"],
    }  # fmt: skip
    for name, choices in rows.choices.items():
        for code, value in enumerate(choices.names):
            same = FRAME[name].map(short) == value
            assert rows.found("", {name: [code]}, "").tolist() == np.flatnonzero(same).tolist()
    assert rows.found("who", {"system": [1]}, "").tolist() == [4]
    assert rows.found("", {"system": [0]}, "-noise_rate").tolist() == [0, 3, 2, 1]
    several = FRAME["noise_rate"].isin([0, 0.4]) & (FRAME["system"] == "plain")
    found = rows.found("", {"noise_rate": [0, 2], "system": [0]}, "")
    assert 0 < len(found) < len(FRAME)
    assert found.tolist() == np.flatnonzero(several).tolist()


def test_what_cannot_be_filtered_by_is_left_out():
    many = pd.DataFrame({"id": [f"id {k}" for k in range(100)]})
    many = many.assign(
        score=np.linspace(0, 1, 10).repeat(10),
        rate=np.array([0.0, 0.25, 0.5, 1.0]).repeat(25),
        long=["x" * 61, "y" * 61] * 50,
        same="one",
        thirty=many.index % 30,
        more=many.index % 31,
        lists=[["a"], ["b"]] * 50,
        response=["yes", "no"] * 50,
        reason=[None, "timeout"] * 50,
        alias=[None, "too late"] * 50,
        day=[datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)] * 50,
        on=[True, False] * 50,
    )
    assert list(Rows(many).choices) == ["rate", "thirty", "reason", "day", "on"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("noise_rate", [1, 4, 2, 5, 0, 3]),
        ("-noise_rate", [0, 3, 2, 5, 1, 4]),
        ("-similarity", [4, 1, 5, 2, 0, 3]),
        ("label", [1, 3, 0, 2, 4, 5]),
    ],
)
def test_rows_are_sorted_stably_and_what_is_missing_comes_last(sort, expected):
    assert Rows(FRAME).found("", {}, sort).tolist() == expected


def test_titles():
    rows = Rows(FRAME)
    assert rows.title(0) == ("✓", "Who found 北京?", ["plain", "noise rate 0.4", "e/1"])
    assert rows.title(5) == ("–", "–", ["rag", "noise rate 0.2", "e/2"])
    assert rows.sign_meaning == "✓ ✗ = label"
    assert Rows(FRAME.head(4)).title(0)[2] == ["noise rate 0.4", "e/1"]
    others = pd.DataFrame({"n": [1, 2], "said": ["one\n two", "three"]})
    assert Rows(others).title(0)[1] == "one two"
    assert Rows(pd.DataFrame(index=range(2))).title(1)[1] == "row 2"
    assert short("x" * 10**6) == "x" * LINE + "…"


def test_levels_of_the_index_and_of_names_are_columns():
    names = pd.MultiIndex.from_tuples([("f1", "mean"), ("n", "")])
    index = pd.MultiIndex.from_tuples([("plain", 0), ("rag", 0)], names=["system", None])
    rows = Rows(pd.DataFrame([[1, 2.5], [3, 4.0]], columns=names, index=index))
    assert rows.row(1) == {"system": "rag", "f1 / mean": 3, "n": 4.0}
    odd = Rows(pd.DataFrame([[3, "a"], [1, "b"], [2, "a"]], columns=[0, "b"]))
    assert odd.found("", {"b": [1]}, "0").tolist() == [1]


def test_a_view_that_could_not_be_made_is_freed_without_an_error():
    twice = pd.DataFrame([[1, 2]], columns=["question", "question"])
    made = FrameView.__new__(FrameView)
    with pytest.raises(InputError):
        made.__init__(twice)
    made.close()
    assert repr(made) == "FrameView(closed)"


def test_scores_beside_responses_are_filters_orders_and_signs():
    """Any run has signs, a filter of right answers and what changed between two systems."""
    responses = recorded_responses("rgb_noise").query("system in ['answer', 'plain']")
    scores = ragnb.score(responses, ["answer.f1", "rgb.accuracy"])
    shown = ragnb.view(responses, scores)
    right = scores.loc[scores["metric"] == "rgb.accuracy", "value"].tolist()
    signs = [shown._rows.title(place)[0] for place in range(len(responses))]
    assert signs == ["✓" if value == 1 else "✗" for value in right]
    assert "rgb.accuracy" in shown._rows.choices
    assert {"answer.f1", "-answer.f1"} <= {*shown._rows.sorts}
    found = shown._rows.found("answer.f1<0.5", {}, "answer.f1")
    f1 = scores.loc[scores["metric"] == "answer.f1", "value"].to_numpy()
    assert len(found) == (f1 < 0.5).sum()

    wide = responses.assign(right=right).pivot_table(
        index=["example_id", "noise_rate"], columns="system", values="right"
    )
    changed = ragnb.view(responses, scores, changed=["answer", "plain"])
    assert changed._rows.within.sum() == (wide["answer"] != wide["plain"]).sum()
