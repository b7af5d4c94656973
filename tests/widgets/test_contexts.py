import math

import pandas as pd
import pytest
from hostile import Reader

from ragnb.errors import InputError
from ragnb.widgets.contexts import ContextBrowser, ContextView


def row(**changes):
    basis = {
        "example_id": "mini/1",
        "noise_rate": 0.4,
        "question": "Where is the harbour?",
        "references": [["Oslo", "Kristiania"]],
        "passages": ["The harbour is in OSLO.", "It rains.", "The harbour is in Bergen."],
        "kinds": ["positive", "negative", "wrong"],
        "language": "en",
        "response": "In Oslo, I think.",
    }
    return basis | changes


def page(**changes):
    return Reader(ContextView(row(**changes))._repr_html_())


# ---- the static view ---------------------------------------------------------------------------------------------------


def test_passages_stand_numbered_with_the_sign_of_their_kind_and_every_alias_marked():
    view = page()
    assert view.text == (
        "Where is the harbour?✓ positive · ✗ negative · ≠ wrong"
        "[1] ✓ The harbour is in OSLO.[2] ✗ It rains.[3] ≠ The harbour is in Bergen."
        "response: In Oslo, I think.✓ right (part 1: 'Oslo')"
    )
    assert view.marked == ["OSLO", "Oslo"]


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"response": "Bergen"}, "response: Bergen✗ not right (part 1: not found)"),
        ({"response": ""}, "response: ✗ not right (part 1: not found)"),
        (
            {"response": "insufficient information"},
            "✗ not right (refusal: 'insufficient information')",
        ),
        (
            {"response": "<think>Oslo</think>Bergen"},
            "response: <think>Oslo</think>Bergen✗ not right (part 1: not found)",
        ),
        (
            {"response": "Bergen", "reasoning": "<think>Oslo</think>"},
            "response: <think>Oslo</think>Bergen✗ not right (part 1: not found)",
        ),
        ({"response": None, "reason": "timed out <b>"}, "? unscored (timed out <b>)"),
        ({"response": math.nan, "reason": None}, "? unscored (no response)"),
        ({"response": None, "reason": math.nan}, "? unscored (no response)"),
        ({"response": "O s l o", "language": "zh"}, "✓ right (part 1: 'Oslo')"),
    ],
)
def test_the_verdict_says_what_decided_and_is_never_wrong_for_a_missing_response(changes, verdict):
    assert page(**changes).text.endswith(verdict)


def test_a_context_that_was_not_asked_yet_says_so():
    context = row()
    del context["response"]
    assert Reader(ContextView(context)._repr_html_()).text.endswith("not asked yet")


def test_a_closed_book_context_says_that_it_has_no_passages():
    assert "closed book" in page(passages=[], kinds=[]).text


def test_only_the_kinds_shown_are_explained():
    assert "≠" not in page(passages=["a"], kinds=["negative"]).text


def test_the_same_row_gives_the_same_page():
    assert ContextView(row())._repr_html_() == ContextView(row())._repr_html_()
    assert repr(ContextView(row())) == "ContextView('Where is the harbour?', 3 passages)"


def test_the_verdict_is_that_of_the_metric_at_the_rows_noise_rate():
    refusal = "Insufficient information: insufficient information."
    for rate, verdict in (
        (1.0, "✓ right"),
        (0.4, "✗ not right"),
        (None, "✗ not right"),
        (math.nan, "✗ not right"),
    ):
        shown = ContextView(row(response=refusal, noise_rate=rate), protocol="released")
        assert verdict in Reader(shown._repr_html_()).text


# ---- the browser -------------------------------------------------------------------------------------------------------


@pytest.fixture
def browser():
    cells = [(example_id, rate) for rate in (0.4, 0.0) for example_id in ("mini/1", "mini/2")]
    return ContextBrowser(
        pd.DataFrame(
            [
                row(example_id=i, noise_rate=rate, response=f"said of {i} at {rate}")
                for i, rate in cells
            ]
        )
    )


def test_where_no_kernel_runs_the_first_response_is_shown(browser):
    bundle = browser._repr_mimebundle_()
    assert bundle["text/plain"] == "ContextBrowser(2 questions)"
    assert "application/vnd.jupyter.widget-view+json" in bundle
    text = Reader(bundle["text/html"]).text
    assert "said of mini/1 at 0.0" in text
    assert "first response" in text


def test_the_sliders_change_the_page(browser):
    assert "said of mini/1 at 0.0" in browser._page.value
    browser.question.value = 2
    assert "said of mini/2 at 0.0" in browser._page.value
    browser.noise.value = 0.4
    assert "said of mini/2 at 0.4" in browser._page.value
    browser.question.value = 1
    assert "said of mini/1 at 0.4" in browser._page.value


def test_several_systems_are_refused():
    two = pd.DataFrame([row(system=name) for name in ("a", "b", "c")])
    with pytest.raises(
        InputError,
        match="a question and noise rate; got 2 more; choose one system, or use ragnb.view",
    ):
        ContextBrowser(two)
    assert repr(ContextBrowser(two[two["system"] == "b"])) == "ContextBrowser(1 questions)"


def test_a_question_without_a_response_at_a_rate_says_so():
    cells = [("mini/1", 0.0), ("mini/2", 0.4)]
    browser = ContextBrowser(
        pd.DataFrame([row(example_id=i, noise_rate=rate) for i, rate in cells])
    )
    browser.question.value = 2
    assert "no response" in browser._page.value


@pytest.mark.parametrize("column", ["passages", "noise_rate"])
def test_a_browser_refuses_a_frame_without_a_column_it_needs(column):
    with pytest.raises(InputError, match=rf"ContextBrowser.*without {column};"):
        ContextBrowser(pd.DataFrame([row()]).drop(columns=column))


def test_a_browser_refuses_a_frame_without_responses():
    with pytest.raises(InputError, match="ContextBrowser"):
        ContextBrowser(pd.DataFrame([row()]).iloc[:0])
