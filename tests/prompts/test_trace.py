import json
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.metrics.trace_labels import SPECIAL_KEYS
from ragnb.prompts import (
    TraceLabels,
    parse_reply,
    render_labelling,
    strict_schema,
    texts_between_tags,
)
from ragnb.prompts.trace import repaired_labels
from ragnb.text import keyed_response, keyed_sentences, well_formed

LABEL = {
    "response_sentence_key": "a",
    "explanation": "e",
    "supporting_sentence_keys": ["0a"],
    "fully_supported": True,
}
RECORD = {
    "relevance_explanation": "r",
    "all_relevant_sentence_keys": ["0a"],
    "overall_supported_explanation": "o",
    "overall_supported": True,
    "sentence_support_information": [LABEL],
    "all_utilized_sentence_keys": ["0a"],
}
DOCUMENT_KEYS, RESPONSE_KEYS = ["0a", "0b", "1a"], ["a", "b"]


def mended(**fields):
    return repaired_labels({**RECORD, **fields}, DOCUMENT_KEYS, RESPONSE_KEYS)


def mended_keys(written):
    labels = mended(sentence_support_information=[{**LABEL, "supporting_sentence_keys": written}])
    return labels["sentence_support_information"][0]["supporting_sentence_keys"]


# ---- rendering ---------------------------------------------------------------------------------------------------------


def test_documents_and_response_are_shown_with_their_keys():
    system, user = render_labelling(
        "Where?", keyed_sentences(["One. Two.", "Three."]), keyed_response("Yes. No.")
    )
    assert (system["role"], user["role"]) == ("system", "user")
    assert texts_between_tags([user]) == [
        "[0a] One.\n[0b] Two.\n\n[1a] Three.",
        "Where?",
        "[a] Yes.\n[b] No.",
    ]


TEXTS = st.lists(st.text(st.characters(codec=None)), max_size=3)


@given(st.lists(TEXTS, max_size=3), TEXTS, st.text(st.characters(codec=None)))
def test_no_text_begins_a_line_of_its_own(documents, response, question):
    keyed = [
        [[f"{d}s{n}", text] for n, text in enumerate(each)] for d, each in enumerate(documents)
    ]
    said = [[f"r{n}", text] for n, text in enumerate(response)]
    messages = render_labelling(question, keyed, said)
    messages[1]["content"].encode("utf-8")
    shown_documents, shown_question, shown_response = texts_between_tags(messages)
    assert shown_question == well_formed(question)
    for sentences, text in (([*chain(*keyed)], shown_documents), (said, shown_response)):
        lines = [line for line in text.splitlines() if line and not line.startswith("    ")]
        assert [line.partition("]")[0].lstrip("[") for line in lines] == [
            key for key, _ in sentences
        ]


# ---- what is accepted --------------------------------------------------------------------------------------------------


def test_a_reply_in_the_asked_form_needs_no_repair():
    record = parse_reply(json.dumps(RECORD), TraceLabels).record.model_dump(mode="json")
    assert record == RECORD
    assert repaired_labels(record, DOCUMENT_KEYS, RESPONSE_KEYS) == RECORD


def test_the_schema_that_is_sent_asks_for_lists_and_booleans_only():
    schema = strict_schema(TraceLabels)
    assert "anyOf" not in json.dumps(schema)
    assert schema["properties"]["overall_supported"]["type"] == "boolean"
    assert schema["properties"]["all_relevant_sentence_keys"]["items"] == {"type": "string"}
    assert schema["required"] == list(RECORD)
    assert schema["$defs"]["SentenceSupport"]["required"] == list(LABEL)


# ---- repairs -----------------------------------------------------------------------------------------------------------


WRITTEN = {  # a list of one key -> what is meant
    "Supported-Without-A-Sentence": ["supported_without_sentence"],
    "General": ["general"],
    "`numerical reasoning`": ["numerical_reasoning"],
    "0a.": ["0a"],
    "'0A'": ["0a"],
    "０ａ": ["0a"],
    "【1a】": ["1a"],
    "0a, 0b": ["0a", "0b"],
    "['0a', '1A']": ["0a", "1a"],
    "0a；general": ["0a", "general"],
    "None": [],
    "N/A": [],
    "": [],
    "unsupported": [],
}


@pytest.mark.parametrize(("written", "meant"), WRITTEN.items())
def test_near_misses_are_read(written, meant):
    assert mended_keys([written, written]) == meant * 2
    assert mended_keys(written) == meant


def test_what_is_no_near_miss_stays_as_it_is():
    record = {**RECORD, "all_utilized_sentence_keys": ["０ａ", "0a and 0b"]}
    labels = repaired_labels(record, ["0a", "0A", "0b"], RESPONSE_KEYS)
    assert labels["all_utilized_sentence_keys"] == ["０ａ", "0a and 0b"]
    assert mended_keys(None) == []


@pytest.mark.parametrize(
    ("written", "meant"),
    [("true", True), ("Yes.", True), ("NO", False), ("Partially supported", False)],
)
def test_words_for_true_and_false(written, meant):
    assert mended(overall_supported=written)["overall_supported"] is meant


KEY_LISTS = st.lists(st.text(max_size=12)) | st.text(max_size=12) | st.none()


@given(
    KEY_LISTS,
    st.text(max_size=12),
    st.lists(st.text(min_size=1, max_size=4), max_size=4, unique=True),
)
def test_any_text_for_a_key_is_named_or_kept(written, response_key, known):
    label = {**LABEL, "response_sentence_key": response_key, "supporting_sentence_keys": written}
    record = {**RECORD, "sentence_support_information": [label]}
    labels = repaired_labels(record, known, RESPONSE_KEYS)
    keys = labels["sentence_support_information"][0]["supporting_sentence_keys"]
    items = written if isinstance(written, list) else [written]
    assert all(key in {*known, *SPECIAL_KEYS} or key in items for key in keys)
    assert repaired_labels(labels, known, RESPONSE_KEYS) == labels  # what is mended stays
