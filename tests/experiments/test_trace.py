import json

import pandas as pd
import pytest
from support.judge import Judge

import ragnb
from ragnb.errors import InputError
from ragnb.experiments import label_trace, labels_as_replies
from ragnb.metrics import trace_scores

PASSAGES = ["A heat pump moves warmth. It can cool rooms.", "Boilers burn fuel. They need a flue."]
RESPONSES = pd.DataFrame(
    {
        "question": ["How do they differ?"],
        "passages": [PASSAGES],
        "response": ["One moves warmth. The other burns fuel."],
    }
)
METRICS = [f"trace.{name}" for name in ("relevance", "utilization", "completeness", "adherence")]


def support(key, *keys, fully=None):
    fully = bool(keys) if fully is None else fully
    return {
        "response_sentence_key": key,
        "explanation": "",
        "supporting_sentence_keys": list(keys),
        "fully_supported": fully,
    }


def labels(*sentences, overall=True, relevant=("0a", "1a"), utilized=("0a", "1a")):
    record = {
        "relevance_explanation": "Both kinds.",
        "all_relevant_sentence_keys": list(relevant),
        "overall_supported_explanation": "Each.",
        "overall_supported": overall,
        "sentence_support_information": sentences or (support("a", "0a"), support("b", "1a")),
        "all_utilized_sentence_keys": list(utilized),
    }
    return json.dumps(record)


GOOD = labels()
CONTRADICTORY = labels(support("a", "0a"), support("b"))
TURNED = labels(support("a", "0a"), support("b"), overall=False)
GAPPY = labels(support("a", "0a"))


def replies(*said):
    """A judge that gives its replies in turn, the last one for ever."""
    return Judge(lambda call: said[min(call.number, len(said) - 1)])


def label(judge, responses=RESPONSES, **options):
    with judge:
        return label_trace(responses, model="judge", **{**judge.options, **options})


def asked(judge, number):
    return [message["content"] for message in judge.calls[number].body["messages"]]


def only(frame):
    assert len(frame) == 1
    assert (frame["label_reason"][0] is None) == (
        frame["all_relevant_sentence_keys"][0] is not None
    )
    return frame.iloc[0]


LACKS = {
    "there is no question": {"question": None},
    "there are no passages": {"passages": None},
    "the context has no sentence": {"passages": ["", "  "]},
    "there is no response": {"response": None},
    "the response has no sentence": {"response": " \n"},
}


def test_what_cannot_be_labelled_is_not_asked_about_and_says_why():
    rows = [{**RESPONSES.iloc[0], **changed} for changed in LACKS.values()]
    lacking = pd.DataFrame([*rows, dict(RESPONSES.iloc[0])], index=[5, 5, 6, 7, 8, 8])
    judge = replies(GOOD)
    labelled = label(judge, lacking)
    assert len(judge.calls) == 1
    assert labelled["label_reason"].tolist() == [*LACKS, None]
    assert labelled.index.equals(lacking.index)
    assert labelled["label_keys"].str.len().tolist() == [0] * len(LACKS) + [1]
    scores = ragnb.score(labelled, METRICS).pivot_table(
        index="metric", values="value", aggfunc="count"
    )
    assert (scores["value"] == 1).all()


def test_a_judge_s_labels_become_a_trace_record_with_the_scores_of_hand_counting():
    judge = replies(
        labels(
            support("a", "0a"), support("b"), overall=False, relevant=("0a", "1a"), utilized=("0a",)
        )
    )
    labelled = label(judge)
    row = only(labelled)
    assert row["unsupported_response_sentence_keys"] == ["b"]
    assert (row["overall_supported"], row["annotating_model_name"]) == (False, "judge")
    assert row["label_contradiction"] is None
    assert len(row["label_keys"]) == 1
    values = ragnb.score(labelled, METRICS)["value"].tolist()
    assert values == [2 / 4, 1 / 4, 1 / 2, 0.0]
    scores = trace_scores(row)
    assert [scores.relevance, scores.utilization, scores.completeness, scores.adherence] == values
    assert scores.issues == ()


def test_a_contradiction_is_named_and_resolved():
    judge = replies(CONTRADICTORY, TURNED)
    row = only(label(judge))
    assert row["label_contradiction"] is None
    assert row["overall_supported"] is False
    fault = "overall_supported is true, yet no key supports 'b'"
    first, second = asked(judge, 0), asked(judge, 1)
    assert second[:2] == first
    assert json.loads(second[2]) == json.loads(CONTRADICTORY)
    assert fault in second[3]
    assert len(set(row["label_keys"])) == 2


@pytest.mark.parametrize(
    ("said", "contradiction"),
    [
        (
            labels(overall=False),
            "overall_supported is false, yet every sentence is fully supported",
        ),
        (labels(support("a", "0a"), support("b", "1a", fully=False), overall=False), None),
        (labels(support("a", "general"), support("b", "supported_without_sentence")), None),
    ],
)
def test_what_contradicts_the_verdict(said, contradiction):
    assert only(label(replies(said)))["label_contradiction"] == contradiction


def test_labels_that_contradict_themselves_are_better_than_labels_with_a_gap():
    row = only(label(replies(CONTRADICTORY, GAPPY)))
    assert row["label_reason"] is None
    assert row["label_contradiction"] == "overall_supported is true, yet no key supports 'b'"


def test_a_reply_that_cannot_be_read_leaves_the_response_unlabelled_with_its_reason():
    row = only(label(replies("Hm.")))
    assert "no JSON object in the reply: Hm." in row["label_reason"]


def test_only_the_faulty_are_asked_again():
    two = pd.concat([RESPONSES.assign(question=q) for q in ("One?", "Two?")], ignore_index=True)

    judge = Judge(lambda call: CONTRADICTORY if "Two?" in str(call.body["messages"][1]) else GOOD)
    labelled = label(judge, two)
    assert len(judge.calls) == 3
    assert labelled["label_contradiction"].isna().tolist() == [True, False]


# ---- the simplified form of the guide ------------------------------------------------------------


def simplified(*flags, name="response_sentence_key"):
    """The simplified reply of the *Visual Guide*, as JSON."""
    record = {
        "all_relevant_sentence_keys": ["0a", "1a"],
        "all_utilized_sentence_keys": ["0a"],
        "sentence_support_information": [
            {name: key, "fully_supported": flag} for key, flag in zip("ab", flags, strict=True)
        ],
    }
    return json.dumps(record)


SIMPLIFIED = {
    "the guide's first form": simplified(True, False),
    "the guide's second form": simplified(True, False, name="key"),
    "numbers for flags": simplified(1, 0, name="key"),
    "words for flags": simplified("True", "no"),
    "bare names": """{all_relevant_sentence_keys: ["0a", "1a"], all_utilized_sentence_keys: ["0a"],
        sentence_support_information: [{key: "a", fully_supported: true}, {key: "b", fully_supported: false}]}""",
}


@pytest.mark.parametrize("form", SIMPLIFIED)
def test_the_simplified_form_of_the_guide_is_read_live_as_from_a_file(form, tmp_path):
    judge = replies(SIMPLIFIED[form])
    labelled = label(judge)
    row = only(labelled)
    assert len(judge.calls) == 1
    assert row["label_contradiction"] is None
    assert row["unsupported_response_sentence_keys"] == ["b"]
    live = ragnb.score(labelled, METRICS)["value"].tolist()
    assert live == [2 / 4, 1 / 4, 1 / 2, 0.0]
    file = tmp_path / "labelled.jsonl"
    record = RESPONSES.rename(columns={"passages": "documents"}).iloc[0].to_dict()
    file.write_text(json.dumps(record | {"labels": SIMPLIFIED[form]}), encoding="utf-8")
    assert ragnb.score(ragnb.load_ragbench(file), METRICS)["value"].tolist() == live


def test_flags_that_are_all_true_are_adherent_without_supporting_keys():
    labelled = label(replies(simplified(1, 1)))
    assert ragnb.score(labelled, "trace.adherence")["value"].tolist() == [1.0]


def test_neither_keys_nor_a_flag_is_a_gap_and_never_supported():
    row = only(label(replies(simplified(True, None))))
    assert row["label_reason"] == (
        "sentence_support_information has neither supporting_sentence_keys nor fully_supported for 'b'"
    )


@pytest.mark.parametrize(
    "second", [support("b"), support("b", "1a", fully=False)], ids=["no keys", "another flag"]
)
def test_two_labels_of_one_sentence_that_differ_are_a_gap(second):
    said = labels(support("a", "0a"), support("b", "1a"), second)
    row = only(label(replies(said)))
    assert row["label_reason"] == "sentence_support_information contradicts itself about 'b'"
    twice = labels(support("a", "0a"), support("b", "1a"), support("b", "1a"))
    assert only(label(replies(twice)))["label_reason"] is None


# ---- labels that exist already, replayed ---------------------------------------------------------


def replayed(records, responses=None):
    responses = records if responses is None else responses
    with labels_as_replies(records, model="labeller") as store:
        return label_trace(responses, model="labeller", store=store, offline=True)


def test_the_labels_of_ragbench_replayed_give_the_scores_that_it_publishes():
    published = ragnb.load_study("ragbench-delucionqa")
    assert set(published["annotating_model_name"]) == {"gpt-4-turbo-2024-04-09"}
    texts = published[["question", "documents_sentences", "response_sentences"]]
    labelled = replayed(published, texts)
    assert labelled["label_reason"].isna().all()
    for metric, name in zip(
        METRICS,
        ("relevance_score", "utilization_score", "completeness_score", "adherence_score"),
        strict=True,
    ):
        scores = ragnb.score(labelled, metric)["value"]
        assert scores.tolist() == pytest.approx(published[name].astype(float).tolist())


def test_labels_are_replayed_from_the_texts_alone():
    """The worked example of the visual guide: 4 of 20, 3 of 4, 3 of 4, and sentence c is unsupported."""
    record = ragnb.load_ragbench("sample-ragbench").head(1)
    labelled = replayed(record, record[["question", "passages", "response"]])
    assert only(labelled)["unsupported_response_sentence_keys"] == ["c"]
    values = ragnb.score(labelled, [*METRICS, "trace.average"], variant="guide")["value"]
    assert values.tolist() == pytest.approx([0.2, 0.75, 0.75, 0, 0.425])


@pytest.mark.parametrize("said", [CONTRADICTORY, GAPPY])
def test_labels_with_a_fault_are_replayed_as_the_reply_to_both_requests(said):
    records = RESPONSES.assign(**{name: [value] for name, value in json.loads(said).items()})
    row = only(replayed(records))
    live = only(label(replies(said)))
    for name in ("label_reason", "label_contradiction", "unsupported_response_sentence_keys"):
        assert row[name] == live[name]
    assert len(row["label_keys"]) == 2


def test_a_response_without_labels_has_no_reply_to_replay():
    records = pd.concat([RESPONSES, RESPONSES], ignore_index=True)
    given = json.loads(GOOD)
    records = records.assign(**{name: [value, None] for name, value in given.items()})
    with pytest.raises(InputError, match="row 1 has no all_relevant_sentence_keys, "):
        labels_as_replies(records, model="labeller")
    with pytest.raises(InputError, match="all_utilized_sentence_keys"):
        labels_as_replies(RESPONSES, model="labeller")
