"""The contract of `Metric.variants` and `Metric.undefined`, held for every metric, and what a variant moves."""

import inspect
import math
import re

import numpy as np
import pytest
from hostile import any_text
from hypothesis import given
from hypothesis import strategies as st

from ragnb.datasets.benchmarks import load_ragbench
from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.metrics.normalization import MLQA_ARTICLES
from ragnb.scoring import METRICS, score

TEXTS = any_text | st.sampled_from(
    [
        "奥斯陆是首都。",
        "東京タワー",
        "กรุงเทพมหานคร",
        "दिल्ली",
        "العربية",
        "ירושלים",
        "e\u0301",
        "👩‍🔬",
        "\u0301",
        "٤٢",
        " ",
        "",
    ]
)
WORDS = TEXTS.filter(lambda text: any(map(str.isalnum, text)))
KEYS = st.lists(st.sampled_from(["0a", "0b", "1a", "a", "b", "general", "0v."]), max_size=4)
SENTENCES = st.lists(st.tuples(st.sampled_from(["0a", "0b", "1a"]), TEXTS).map(list), max_size=3)
LABEL = st.fixed_dictionaries(
    {
        "response_sentence_key": st.sampled_from("abc"),
        "supporting_sentence_keys": KEYS,
        "fully_supported": st.none() | st.booleans(),
    }
)
YES_OR_NO = st.sampled_from([0, 1, True, False, 0.0, 1.0])
TRANSLATION = st.fixed_dictionaries(
    {"text": TEXTS, "token_count": st.integers(0, 10**6)}
) | st.just({"text": None, "token_count": None})

VALUES = {
    "response": TEXTS,
    "references": st.lists(st.lists(WORDS, min_size=1, max_size=2), min_size=1, max_size=2),
    "false_answers": st.none() | st.lists(WORDS, min_size=1, max_size=2),
    "language": st.sampled_from("en zh ja th hi ar he ru".split()),
    "noise_rate": st.none() | st.sampled_from([0, 0.4, 1]),
    "judged_refusal": YES_OR_NO,
    "judged_detection": YES_OR_NO,
    "refusal": YES_OR_NO,
    "error_detected": YES_OR_NO,
    "judged_correct": YES_OR_NO,
    "judged_similarity": st.floats(0, 1),
    "verdict": YES_OR_NO | st.sampled_from(["correct", "incorrect", "refuse"]),
    "translations": st.lists(TRANSLATION, max_size=3),
    "documents_sentences": st.lists(SENTENCES, min_size=1, max_size=2),
    "response_sentences": SENTENCES,
    "all_relevant_sentence_keys": KEYS,
    "all_utilized_sentence_keys": KEYS,
    "sentence_support_information": st.lists(LABEL, max_size=3),
    "unsupported_response_sentence_keys": st.none() | KEYS,
    "response_embedding": st.just([3.0, 4.0]),
    "reference_embedding": st.just([4.0, 3.0]),
    "answerable": YES_OR_NO,
    "judged_rubric": st.sampled_from([1, 2, 3.0, 4, 5]),
    "judged_preference": st.sampled_from([0, 0.25, 0.5, 0.75, 1]),
}
"""What a column may hold where it holds something."""

ONE = {
    "response": "Oslo",
    "references": "Oslo",
    "language": "en",
    "documents_sentences": [[["0a", "Oslo."]]],
    "response_sentences": [["a", "Oslo."]],
    "all_relevant_sentence_keys": ["0a"],
    "all_utilized_sentence_keys": ["0a"],
    "sentence_support_information": [
        {"response_sentence_key": "a", "supporting_sentence_keys": ["0a"], "fully_supported": True}
    ],
    "judged_refusal": 1,
    "judged_detection": 1,
    "refusal": False,
    "error_detected": True,
    "judged_correct": 1,
    "judged_similarity": 1.0,
    "verdict": True,
    "translations": [],
    "retrieved": ["p2", "p1"],
    "relevant": {"p1": 1},
    "answerable": 1,
    "parts": [{"text": "Oslo", "label": "supported"}],
    "nuggets": [{"text": "Oslo", "importance": "vital", "assignment": "support"}],
    "statements": [{"text": "Oslo", "supported": 1, "citations": [{"alone": 1, "rest": 0}]}],
    "spans": [[0, 2]],
    "reference_spans": [[0, 4]],
    "judged_statements": [{"statement": "Oslo", "supported": True}],
    "judged_relevant_statements": [{"statement": "Oslo", "relevant": True}],
    "judged_passages": [1, 0],
    "judged_rubric": 4,
    "judged_preference": 0.5,
    "response_embedding": [3.0, 4.0],
    "reference_embedding": [4.0, 3.0],
}
"""A value of every column that some metric needs; every metric has a value for them."""

OWN = {"abstention.hallucination": {"answerable": 0}, "abstention.risk": {"judged_refusal": 0}}
"""Changes to `ONE` for metrics that are defined for a part of the responses only."""

EMPTY = {"response": "…", "references": "!"}
BLANK = {"response": " ", "references": ""}
NO_SENTENCE = {"documents_sentences": [[]]}
NO_LENGTH = {"documents_sentences": [[["0a", "…"]]], "length": "token"}
UNKNOWN_ALONE = {"all_relevant_sentence_keys": ["0v"], "length": "character"}
NOT_LABELLED = {"sentence_support_information": [{"response_sentence_key": "a"}]}
UNDEFINED = {
    "rgb.error_correction": [{}, {"protocol": "released"}],
    "rgb.judged_error_correction": [
        {"judged_detection": 0, "protocol": name} for name in ("paper", "released", "flexible")
    ],
    "trace.relevance": [NO_SENTENCE, {**NO_SENTENCE, "variant": "guide"}, NO_LENGTH],
    "trace.utilization": [NO_SENTENCE, {**NO_SENTENCE, "variant": "guide"}, NO_LENGTH],
    "trace.completeness": [
        NO_SENTENCE,
        {**NO_SENTENCE, "variant": "guide"},
        NO_LENGTH,
        UNKNOWN_ALONE,
        {"all_relevant_sentence_keys": [], "when_none_relevant": "undefined"},
    ],
    "trace.adherence": [NOT_LABELLED, {**NOT_LABELLED, "variant": "guide"}],
    "trace.supported_fraction": [
        {"response_sentences": []},
        {"sentence_support_information": [], "variant": "guide"},
        NOT_LABELLED,
        {**NOT_LABELLED, "variant": "guide"},
    ],
    "trace.average": [NO_SENTENCE, NO_LENGTH],
    "trace.rmse_to_ideal": [NO_SENTENCE, NO_LENGTH],
    "trace.consistency": [NO_SENTENCE, NO_LENGTH],
    "answer.exact_match": [EMPTY, BLANK],
    "answer.f1": [EMPTY, BLANK],
    "answer.precision": [EMPTY, BLANK],
    "answer.recall": [EMPTY, BLANK],
    "answer.rouge_l": [EMPTY, BLANK],
    "answer.contains": [{"references": ["Oslo", "!"]}, {"references": "दिल्ली", "variant": "lbrag"}],
    "answer.chrf": [BLANK],
    "answer.bleu": [BLANK],
    "answer.flesch_reading_ease": [{"response": "…"}, {"language": "zh"}],
    "language.rlc": [{"response": "42, 🙂"}],
    "language.rlc_ok": [{"response": "42, 🙂"}],
    "language.rlc_lid": [{"response": "42, 🙂"}],
    "semantic.embedding_cosine": [{"response_embedding": [0, 0]}, {"reference_embedding": [0, 0]}],
    **{name: [{"relevant": []}] for name in METRICS if name.startswith("retrieval.")},
    "abstention.coverage": [{"rule": "nomiracl"}, {"rule": "label", "refusal": None}],
    "abstention.alignment": [{"rule": "nomiracl"}, {"rule": "judge", "judged_refusal": None}],
    "abstention.hallucination": [{"answerable": 1}],
    "abstention.over_refusal": [{"answerable": 0}],
    "abstention.risk": [{"response": "I don't know"}, {"verdict": None}],
    "parts.supported": [
        {"parts": []},
        {"parts": [{"text": "", "label": "irrelevant"}], "irrelevant": "left_out"},
    ],
    "parts.contradicted": [{"parts": []}],
    "parts.all_supported": [{"parts": []}],
    "parts.nuggets": [{"nuggets": []}],
    "parts.citation_recall": [{"statements": []}],
    "parts.citation_precision": [{"statements": [{"supported": 0, "citations": []}]}],
    "parts.span_f1": [
        {"spans": [], "reference_spans": []},
        {"spans": [], "measure": "precision"},
        {"reference_spans": [], "measure": "recall"},
    ],
    "judged.faithfulness": [{"judged_statements": []}],
    "judged.answer_relevancy": [{"judged_relevant_statements": []}],
    "judged.context_precision": [{"judged_passages": []}],
}
"""Metric → what makes it undefined, as changes to `ONE` or as options."""

NEVER_UNDER = {
    "rgb.error_correction": {"protocol": "flexible"},
    "answer.exact_match": {"variant": "lbrag"},
    "answer.f1": {"variant": "lbrag"},
    "answer.precision": {"variant": "lbrag"},
    "answer.recall": {"variant": "lbrag"},
    "answer.rouge_l": {"variant": "lbrag"},
    "language.rlc": {"variant": "lbrag"},
    "language.rlc_ok": {"variant": "lbrag"},
}
"""Metrics that have a value of everything under one definition and not under another."""

NEVER = [name for name, metric in METRICS.items() if metric.undefined.startswith("Never")]


@pytest.fixture(params=METRICS.values(), ids=METRICS)
def entry(request):
    return request.param


def value(metric, changes=(), **options):
    """A metric's value of `ONE` after changes, which may be options too."""
    changes = {**dict(changes), **options}
    chosen = {name: changes[name] for name in changes if name in metric.options}
    given = {**ONE, **OWN.get(metric.name, {})}
    given |= {name: each for name, each in changes.items() if name not in chosen}
    columns = {
        argument: given[column] for argument, column in metric.columns.items() if column in given
    }
    return metric.function(**columns, **chosen)


def listed_values(metric):
    options = metric.variants.items()
    return [(option, each) for option, values in options for each in values if each is not ...]


# ---- every option, with every value ------------------------------------------------------------------------------------


def test_every_option_is_described_the_default_first(entry):
    assert list(entry.variants) == list(entry.options)
    for option, default in entry.options.items():
        values = list(entry.variants[option])
        assert values[0] == default
        assert ... not in values[:-1]
        assert inspect.signature(entry.function).parameters[option].default == default


ERROR = {
    "response": "There are factual errors in the provided documents; the answer is present: Oslo"
}


def test_every_value_listed_is_accepted(entry):
    for option, each in listed_values(entry):
        assert not math.isnan(value(entry, ERROR, **{option: each}))


def test_what_is_not_listed_is_refused_and_the_refusal_names_what_is_listed(entry):
    for option, values in entry.variants.items():
        if ... in values:
            continue
        with pytest.raises(InputError, match=rf"^{option} must be one of") as refused:
            value(entry, **{option: "sacred"})
        named = re.search(r"must be one of (.*), got", str(refused.value))[1].replace("'", "")
        known = [each for each in values if each is not None]
        assert [each for each in named.split(", ") if each != "None"] == known


@pytest.mark.parametrize(
    ("name", "option", "others"),
    [
        ("language.rlc_ok", "threshold", [0.01, 1]),
        ("language.rlc_lid", "candidates", [["de"], ["de", "fr"]]),
        ("answer.chrf", "word_order", [1, 3]),
        ("rgb.accuracy", "refusal", [["no idea"], {"en": ["no idea"]}]),
        ("rgb.error_detection", "detection", [["no idea"], {"en": ["no idea"]}]),
        ("answer.bleu", "tokenize", ["flores200"]),
    ],
)
def test_an_option_that_says_so_takes_other_values_too(name, option, others):
    metric = METRICS[name]
    assert ... in metric.variants[option]
    if others == ["flores200"]:  # needs a download; known to sacreBLEU all the same
        from sacrebleu.metrics import BLEU

        assert set(others) <= set(BLEU.TOKENIZERS) - set(metric.variants[option])
        return
    assert all(not math.isnan(value(metric, **{option: other})) for other in others)


# ---- when there is no value --------------------------------------------------------------------------------------------


def test_every_metric_says_when_it_is_undefined(entry):
    assert re.fullmatch(r"(Never|If) .*\.", entry.undefined)
    assert (entry.name in UNDEFINED) == entry.undefined.startswith("If")
    assert ("never under" in entry.undefined) == (entry.name in NEVER_UNDER)
    assert all(option in entry.undefined for option in NEVER_UNDER.get(entry.name, {}).values())


@pytest.mark.parametrize(
    ("name", "changes"), [(name, each) for name, several in UNDEFINED.items() for each in several]
)
def test_a_metric_is_undefined_where_it_says_so_and_only_for_that(name, changes):
    assert math.isnan(value(METRICS[name], changes))
    without = ERROR if name == "rgb.error_correction" or "rule" in changes else {}
    options = {each: changes[each] for each in changes if each in METRICS[name].options}
    if options.get("variant", "guide") == "guide":
        assert not math.isnan(value(METRICS[name], without, **options))


@pytest.mark.parametrize("name", [*NEVER, *NEVER_UNDER])
@given(data=st.data())
def test_never_undefined_is_never_undefined(name, data):
    metric = METRICS[name]
    options = NEVER_UNDER.get(name) or {
        option: data.draw(st.sampled_from([each for each in values if each is not ...]))
        for option, values in metric.variants.items()
    }
    values = {argument: data.draw(VALUES[column]) for argument, column in metric.columns.items()}
    assert not math.isnan(metric.function(**values, **options))


@given(VALUES["documents_sentences"], KEYS, KEYS)
def test_trace_is_undefined_of_no_other_context_than_one_without_sentences(
    documents, relevant, utilized
):
    labels = {"all_relevant_sentence_keys": relevant, "all_utilized_sentence_keys": utilized}
    for variant in ("ragbench", "guide"):
        changes = labels | {"documents_sentences": documents, "variant": variant}
        for name in ("relevance", "utilization", "completeness", "rmse_to_ideal", "consistency"):
            assert math.isnan(value(METRICS[f"trace.{name}"], changes)) == (not any(documents))


# ---- the definition moves the number -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded():
    return {
        "noise": recorded_responses("rgb_noise"),
        "counterfactual": recorded_responses("rgb_counterfactual"),
        "multilingual": recorded_responses("multilingual"),
        "ragbench": load_ragbench("sample-ragbench"),
    }


def scores_by_value(metric, responses):
    """Scores of recorded responses under each value of each option of a metric.

    The script of MLQA refuses languages other than its own.
    """
    in_mlqa = responses["language"].isin(MLQA_ARTICLES)
    return {
        (option, each): score(
            responses[in_mlqa] if each == "mlqa" else responses, metric.name, **{option: each}
        )
        for option, each in listed_values(metric)
    }


def computable(metric, responses):
    return all(
        column in responses for argument, column in metric.columns.items() if metric.needs(argument)
    )


def test_real_responses_have_finite_values_and_signatures_of_their_own_under_every_variant(
    entry, recorded
):
    for responses in (frame for frame in recorded.values() if computable(entry, frame)):
        scores = scores_by_value(entry, responses.groupby("system").head(60))
        for frame in scores.values():
            assert np.isfinite(frame["value"].dropna()).all()
            assert (frame["reason"].isna() == frame["value"].notna()).all()
        for option in entry.variants:
            own = [set(frame["signature"]) for (name, _), frame in scores.items() if name == option]
            assert len(set().union(*own)) == sum(map(len, own))


BOTH, LABELS = ["unicode", "lbrag"], ["ragbench", "guide"]
MOVED = [  # metric, option, recording; the values of the option listed have different means there
    ("rgb.accuracy", "protocol", "multilingual", ["paper", "flexible"]),
    ("rgb.rejection", "protocol", "noise", ["paper", "released", "flexible"]),
    ("rgb.error_detection", "protocol", "noise", ["paper", "flexible"]),
    ("rgb.error_correction", "protocol", "noise", ["paper", "flexible"]),
    ("trace.relevance", "variant", "ragbench", LABELS),
    ("trace.utilization", "variant", "ragbench", LABELS),
    ("trace.completeness", "variant", "ragbench", LABELS),
    ("trace.adherence", "variant", "ragbench", LABELS),
    ("trace.supported_fraction", "variant", "ragbench", LABELS),
    ("trace.consistency", "variant", "ragbench", LABELS),
    ("trace.utilization", "unknown_keys", "ragbench", ["count", "drop"]),
    ("trace.relevance", "length", "ragbench", ["sentence", "token", "character"]),
    ("answer.exact_match", "variant", "multilingual", BOTH),
    ("answer.f1", "variant", "multilingual", BOTH),
    ("answer.precision", "variant", "multilingual", BOTH),
    ("answer.recall", "variant", "multilingual", BOTH),
    ("answer.contains", "variant", "multilingual", BOTH),
    ("answer.rouge_l", "variant", "multilingual", BOTH),
    ("answer.chrf", "word_order", "multilingual", [0, 2]),
    ("answer.bleu", "tokenize", "multilingual", [None, "13a", "zh", "char", "intl", "none"]),
    ("language.rlc", "variant", "multilingual", BOTH),
    ("language.rlc_ok", "variant", "multilingual", BOTH),
]


@pytest.mark.parametrize(("name", "option", "recording", "differing"), MOVED)
def test_the_definition_moves_the_number(name, option, recording, differing, recorded):
    scores = scores_by_value(METRICS[name], recorded[recording])
    means = [scores[option, each]["value"].mean() for each in differing]
    assert len({f"{mean:.6f}" for mean in means}) == len(differing)


def test_the_published_code_finds_more_answers_equal_in_hindi_and_nowhere_else(recorded):
    responses = recorded["multilingual"]
    unicode, lbrag = (
        score(responses, "answer.exact_match", variant=variant)["value"]
        for variant in ("unicode", "lbrag")
    )
    moved = responses[(unicode != lbrag) & lbrag.notna()]
    assert set(moved["language"]) == {"hi"}
    assert (lbrag[moved.index] == 1).all()
