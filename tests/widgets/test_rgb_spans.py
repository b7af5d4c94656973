import pytest
from hostile import any_text
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ragnb.metrics.rgb import answer_labels, detects_error, is_refusal
from ragnb.metrics.rgb_protocols import PROTOCOLS
from ragnb.widgets.rgb_spans import evidence_spans


def seen(response, answer="-", **options):
    """What is found, as text; what touches is one."""
    spans = []
    for start, end, what in evidence_spans(response, answer, **options):
        touches = spans and spans[-1][1:] == (start, what)
        spans.append((spans.pop()[0] if touches else start, end, what))
    return [(response[start:end], what) for start, end, what in spans]


@pytest.mark.parametrize(
    ("response", "answer", "options", "expected"),
    [
        (
            "2021 in Tampa Bay",
            [["Tampa Bay", "Tampa"], "2021"],
            {},
            [("2021", "part 2"), ("Tampa Bay", "part 1")],
        ),
        (
            "Tampa Bay",
            [["Tampa", "Tampa Bay"]],
            {},
            [("Tampa", "part 1")],
        ),  # the first alias given decides
        ("Insufficient Information", "-", {}, [("Insufficient Information", "refusal")]),
        (
            "It was Not Bergen",
            "-",
            {"false_answer": "Bergen", "protocol": "flexible"},
            [("Not Bergen", "error"), ("Bergen", "false answer")],
        ),
        # Chinese: spaces are removed from the response, the flexible protocol keeps them
        (
            "信 息 不足，巴 黎",
            "巴黎",
            {"language": "zh"},
            [("信 息 不足", "refusal"), ("巴 黎", "part 1")],
        ),
        ("信 息不足", "-", {"language": "zh", "protocol": "flexible"}, []),
        # a response is read as it is: what reads the reasoning too is decided before
        # the flexible normaliser: width, punctuation, articles, spaces, and most of the words
        ("the Ｕ.S. of\n A", "US of a", {"protocol": "flexible"}, [("Ｕ.S. of", "part 1")]),
        ("a Well-Known, place", "well known place", {"protocol": "flexible"}, []),
        (
            "The wellknown — the  place!",
            "Well-Known place",
            {"protocol": "flexible"},
            [("wellknown — the  place", "part 1")],
        ),
        ("cafe\u0301s", "Café", {"protocol": "flexible"}, [("cafe\u0301", "part 1")]),
        (
            "five, four; three in two",
            "one two three four five",
            {"protocol": "flexible"},
            [("five", "part 1"), ("four", "part 1"), ("three", "part 1"), ("two", "part 1")],
        ),
        ("so $+ it is", "$+", {"protocol": "flexible"}, [("$+", "part 1")]),
        # other scripts
        ("बड़ा दिल्ली", "दिल्ली", {"language": "hi", "protocol": "flexible"}, [("दिल्ली", "part 1")]),
        ("ｶﾞは東京", "東京", {"language": "ja", "protocol": "flexible"}, [("東京", "part 1")]),
        ("İ 👩\u200d🔬 Oslo", "Oslo", {}, [("Oslo", "part 1")]),
    ],
)
def test_what_decides_is_found_where_it_stands(response, answer, options, expected):
    assert seen(response, answer, **options) == expected


pieces = ["Oslo", "oslo ", " b.ergen", "factual errors", "insufficient information", "Unclear", " 信息 不足", "事实性错误",
          "<think>", "</think>", "however ", "not bergen", "É", "e\u0301", "Ｏslo", " the ", "，"]  # fmt: skip
responses = st.lists(st.sampled_from(pieces), max_size=6).map("".join) | any_text


@given(responses, st.sampled_from(PROTOCOLS), st.sampled_from(["en", "zh", "ar"]))
@example("<think>factual</think> errors", "paper", "en")
def test_something_is_found_exactly_where_a_metric_says_so(response, protocol, language):
    assume("Σ" not in response)  # its lower case depends on what follows
    options = {"language": language, "protocol": protocol}
    found = {
        what
        for *_, what in evidence_spans(response, ["Oslo", "É"], false_answer="Bergen", **options)
    }
    labels = answer_labels(response, ["Oslo", "É"], **options)
    if labels != [-1]:
        assert labels == [int(f"part {n}" in found) for n in (1, 2)]
    assert is_refusal(response, **options) == ("refusal" in found)
    assert detects_error(response, false_answer="Bergen", **options) == ("error" in found)


@given(any_text, st.text(min_size=1), st.sampled_from(PROTOCOLS))
def test_spans_are_stretches_of_the_response_in_order(response, answer, protocol):
    assume(answer.strip())
    spans = evidence_spans(response, answer, protocol=protocol)
    assert spans == sorted(set(spans))
    assert all(0 <= start < end <= len(response) for start, end, _ in spans)
