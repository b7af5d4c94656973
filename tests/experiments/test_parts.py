"""Labels of parts from a judge on a real server, and from the packaged model on FActScore."""

import math

import pandas as pd
import pytest
from support.judge import Judge, shown

import ragnb
from ragnb.datasets import one_row_per_part
from ragnb.errors import InputError
from ragnb.prompts.judges import cited_statements

PASSAGES = ["Oslo is the capital of Norway.", "Oslo has 700,000 inhabitants.", "It rains."]
RESPONSES = pd.DataFrame(
    {
        "example_id": ["q/1", "q/1", "q/2", "q/2"],
        "system": ["a", "b", "a", "b"],
        "question": ["What is Oslo?", "What is Oslo?", "Why?", "Why?"],
        "references": [[["the capital of Norway"]]] * 2 + [[["rain"]]] * 2,
        "passages": [PASSAGES] * 4,
        "response": ["Oslo is the capital. It is huge [2].", "It is a city.", "No idea.", None],
    }
)
SPLIT = {
    "Oslo is the capital. It is huge [2].": ["Oslo is the capital.", "Oslo is huge."],
    "It is a city.": ["Oslo is a city."],
    "No idea.": [],
}
LABELS = {"Oslo is the capital.": "supported", "Oslo is huge.": "contradicted"}
NUGGETS = [
    {"text": "It is a capital.", "importance": "vital"},
    {"text": "It is in Norway.", "importance": "okay"},
]


def reply(call):
    """What the judge of these tests replies to each of the four prompts."""
    texts = shown(call.body["messages"])
    if "reference" in texts:
        return {"nuggets": NUGGETS}
    if "fact" in texts:
        full = "capital" in texts["response"]
        return {"assignment": "support" if full else "not_support"}
    if "text" in texts:
        return {"label": LABELS.get(texts["text"], "not supported")}
    return {"claims": SPLIT[texts["response"]]}


def labelled_by(server, kind, responses=RESPONSES, **options):
    with server:
        return ragnb.label_parts(responses, kind, model="judge", **{**server.options, **options})


def test_claims_are_split_labelled_and_scored():
    server = Judge(reply)
    labelled = labelled_by(server, "claims")
    assert labelled["parts"].tolist() == [
        [
            {"text": "Oslo is the capital.", "label": "supported"},
            {"text": "Oslo is huge.", "label": "contradicted"},
        ],
        [{"text": "Oslo is a city.", "label": "not supported"}],
        None,
        None,
    ]
    assert labelled["judge_reason"].tolist() == [None, None, "no parts", "no response"]
    assert labelled["judge_keys"].str.len().tolist() == [3, 2, 1, 0]
    assert len(server.calls) == 6
    scores = ragnb.score(labelled, ["parts.supported", "parts.contradicted"])
    expected = [0.5, 0, math.nan, math.nan, 0.5, 0, math.nan, math.nan]
    assert scores["value"].tolist() == pytest.approx(expected, nan_ok=True)
    assert scores["signature"].str.contains("judge:judge parts.split_claims:2:").all()
    pooled = ragnb.score(one_row_per_part(labelled), "parts.supported")
    assert pooled["value"].tolist() == [1, 0, 0]


def test_sentences_are_cut_and_existing_parts_keep_their_words():
    labelled = labelled_by(Judge(reply), "sentences", RESPONSES.head(1))
    assert [(part["text"], part["label"]) for part in labelled["parts"][0]] == [
        ("Oslo is the capital.", "supported"),
        ("It is huge [2].", "not supported"),
    ]
    given = [{"text": "Oslo is huge.", "label": "supported", "source_label": "S"}]
    again = labelled_by(Judge(reply), "claims", RESPONSES.head(1).assign(parts=[given]))
    assert again["parts"][0] == [given[0] | {"label": "contradicted"}]
    people = RESPONSES.head(1).assign(parts=[given])
    assert "judge" not in ragnb.score(people, "parts.supported")["signature"][0]


def test_nuggets_are_listed_once_per_question_and_assigned_to_each_response():
    server = Judge(reply)
    labelled = labelled_by(server, "nuggets", RESPONSES.head(3))
    asked = [shown(call.body["messages"]) for call in server.calls]
    assert sum("reference" in each for each in asked) == 2
    assert labelled["nuggets"][0] == [nugget | {"assignment": "support"} for nugget in NUGGETS]
    scores = ragnb.score(labelled, "parts.nuggets", over="all")
    assert scores["value"].tolist() == [1, 0, 0]


def test_citations_are_checked_together_alone_and_without_each_other():
    """Two passages that support a statement only together, one superfluous citation, and faults."""
    said = "Both are so [1][2]. One is so [1, 3]. Nothing is cited. Nothing is there [9]."
    support = {"Both are so.": [{1, 2}], "One is so.": [{1}, {1, 3}]}

    def verdict(call):
        texts = shown(call.body["messages"])
        seen = {n for n, passage in enumerate(PASSAGES, 1) if passage in texts["passages"]}
        return {"label": "supported" if seen in support[texts["text"]] else "not supported"}

    server = Judge(verdict)
    labelled = labelled_by(server, "citations", RESPONSES.head(1).assign(response=said))
    assert [each["supported"] for each in labelled["statements"][0]] == [True, True, False, False]
    assert len(server.calls) == 6  # three for each set of two, of which equal ones are sent once
    scores = ragnb.score(labelled, ["parts.citation_recall", "parts.citation_precision"])
    assert scores["value"].tolist() == [0.5, 3 / 5]


@pytest.mark.parametrize(
    ("said", "texts", "cited"),
    [
        ("It is so.[1] It rains. [2]", ["It is so.", "It rains."], [[1], [2]]),
        ("下雨了[1]。是的。", ["下雨了。", "是的。"], [[1], []]),
        ("It is so [2, 1][2].", ["It is so."], [[2, 1]]),
    ],
)
def test_marks_belong_to_their_sentence(said, texts, cited):
    statements = cited_statements(said)
    assert [each["text"] for each in statements] == texts
    numbers = [[one["passage"] for one in each["citations"]] for each in statements]
    assert numbers == cited


def test_one_verdict_that_cannot_be_read_leaves_the_response_without_labels():
    def odd(call):
        text = shown(call.body["messages"]).get("text")
        repair = len(call.body["messages"]) > 2
        if text == "Oslo is huge." or (repair and "Oslo is huge." in str(call.body)):
            return "perhaps"
        return reply(call)

    labelled = labelled_by(Judge(odd), "claims", RESPONSES.head(2))
    assert labelled["parts"].isna().tolist() == [True, False]
    assert "after a repair turn" in labelled["judge_reason"][0]
    assert labelled["judge_keys"].str.len().tolist() == [4, 2]


def test_without_passages_nothing_is_asked():
    server = Judge(reply)
    bare = RESPONSES.head(1).assign(passages=None)
    labelled = labelled_by(server, "citations", bare)
    assert (labelled["statements"][0], labelled["judge_reason"][0]) == (None, "no passages")
    assert not server.calls
    with pytest.raises(InputError, match="label_parts needs the columns passages"):
        labelled_by(Judge(reply), "claims", RESPONSES.drop(columns="passages"))


@pytest.mark.parametrize(
    ("kind", "said", "words"),
    [
        ("claims", {"claims": [f"Claim {n}." for n in range(51)]}, "got 51 claims for 4 words"),
        ("claims", {"claims": ["It is a city.", ""]}, "claims must not be blank"),
        (
            "nuggets",
            {"nuggets": [{"text": "It is.", "importance": word} for word in ("vital", "okay")]},
            "one verdict on each text, got importance both 'vital' and 'okay'",
        ),
        (
            "nuggets",
            {"nuggets": [{"text": f"Fact {n}.", "importance": "vital"} for n in range(51)]},
            "got 51 nuggets for 7 words",
        ),
    ],
)
def test_a_list_of_parts_that_is_invented_is_unscored_with_a_reason(kind, said, words):
    labelled = labelled_by(Judge(said), kind, RESPONSES.iloc[[1]])
    assert words in labelled["judge_reason"].item()
    assert labelled[{"claims": "parts"}.get(kind, kind)].tolist() == [None]


def test_a_repeated_claim_counts_once():
    def judge(call):
        if "response" in shown(call.body["messages"]):
            return {"claims": ["Oslo is a city.", "oslo is a city.", "Oslo is huge."]}
        return reply(call)

    labelled = labelled_by(Judge(judge), "claims", RESPONSES.iloc[[1]])
    assert [part["text"] for part in labelled["parts"].item()] == [
        "Oslo is a city.",
        "Oslo is huge.",
    ]


def test_a_mark_that_cannot_be_read_leaves_the_response_unscored_with_a_reason():
    server = Judge(reply)
    frame = RESPONSES.head(2).assign(response=["Oslo is the capital [3-1].", "It is a city [1]."])
    labelled = labelled_by(server, "citations", frame)
    assert labelled["statements"].isna().tolist() == [True, False]
    assert (
        "numbers of passages from 1 on, such as [1], [1, 2] or [1-3], got '[3-1]'"
        in (labelled["judge_reason"][0])
    )
    scores = ragnb.score(labelled, "parts.citation_recall")
    assert scores["value"].isna().tolist() == [True, False]
