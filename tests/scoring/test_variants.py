"""What the record of a metric promises: its options, its bounds, and when it is undefined."""

import inspect
import math
import re
from pathlib import Path

import pandas as pd
import pytest

from ragnb.columns import COLUMNS
from ragnb.errors import InputError
from ragnb.metrics import PROTOCOLS
from ragnb.scoring import METRICS, score

REFUSAL = "I can not answer the question because of the insufficient information in documents."
CASES = {  # a value of every column that some metric takes; None last: a response that is missing
    "response": ["Oslo", "", REFUSAL, "There are factual errors: it is 🙂 שלום", None],
    "verdict": [True, "refuse", 0, "correct", None],
    "right_language": ["yes", "no", "mixed", "none", None],
    "preferred": ["a", "b", "tie", "neither", None],
    "judged_refusal": [1, 0, True, 0.0, None],
    "judged_detection": [1, 0, True, 0.0, None],
    "judged_similarity": [1, 0, 0.94, 0.0, None],
    "judged_correct": [1, 0, True, 0.0, None],
    "judged_statements": [[{"statement": "", "supported": one}] for one in (1, 0, True, 0.0)]
    + [None],
    "judged_relevant_statements": [[{"statement": "", "relevant": n > 1}] * n for n in (1, 2, 3, 4)]
    + [None],
    "judged_passages": [[1], [0, 1], [True, False], [0.0], None],
    "judged_rubric": [1, 5, 3.0, 4, None],
    "judged_preference": [1, 0, 0.5, 0.75, None],
    "response_embedding": [[1.0, 0.0], [0.5, -0.5], [-1.0, 0.0], [3, 4], None],
    "reference_embedding": [[1.0, 0.0]] * 4 + [None],
    "translations": [[{"text": "Oslo", "token_count": 3}]] * 4 + [None],
    "f1_system": [1.0, 0, 0.5, 0.25, None],
    "f1_direct": [0.5, 0.5, 0, 1.0, None],
    "tokens_spent": [3, 12.0, 1, 40, None],
    "answerable": [1, 0, 0, True, None],
    "parts": [[{"text": "", "label": one}] for one in ("supported", "irrelevant", "contradicted")]
    + [[{"text": "", "label": "not supported"}], None],
    "nuggets": [
        [{"text": "", "importance": "vital", "assignment": one}]
        for one in ("support", "partial_support", "not_support", "support")
    ]
    + [None],
    "statements": [
        [{"text": "", "supported": one, "citations": [{"alone": one, "rest": 0}]}]
        for one in (1, 0, True, 0.0)
    ]
    + [None],
    "spans": [[[0, 2]], [], [[0, 4], [1, 3]], [[5, 6]], None],
    "reference_spans": [[[0, 1]]] * 4 + [None],
    "retrieved": [["p1", "p2"], [], ["p2", "p1"], [1, 2], None],
    "relevant": [["p1"], ["p1"], {"p1": 2, "p2": 0}, {1: 1, 2: 3}, None],
    "documents_sentences": [[[["0a", "Oslo."], ["0b", "雨。"]]]] * 4 + [None],
    "response_sentences": [[["a", "Oslo."]]] * 4 + [None],
    "all_relevant_sentence_keys": [["0a"], [], ["0a", "0b"], ["0b"], None],
    "all_utilized_sentence_keys": [["0a"], [], ["0b"], [], None],
    "sentence_support_information": [
        [
            {
                "response_sentence_key": "a",
                "supporting_sentence_keys": keys,
                "fully_supported": bool(keys),
                "explanation": "",
            }
        ]
        for keys in (["0a"], [], ["0b"], ["0a", "0b"])
    ]
    + [None],
}
ONE = {name: values[0] for name, values in CASES.items()} | {
    "references": "Oslo",
    "language": "en",
    "refusal": False,
    "error_detected": True,
    "relevant": {"p1": 1},
}
"""A value of every column, for which every metric has a value."""

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
        {"judged_detection": 0, "protocol": name} for name in PROTOCOLS
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
    "abstention.coverage": [{"response": " "}, {"rule": "label", "refusal": None}],
    "abstention.alignment": [{"response": " "}, {"rule": "judge", "judged_refusal": None}],
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
    "annotator.right_language": [{"right_language": "none"}],
    "cost.cnbe": [{"tokens_spent": 0}],
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
    "cost.cnbe": {"variant": "lbrag"},
}
"""Metrics that have a value of everything under one definition and not under another."""

HERE = Path(__file__)
OTHER_TESTS = "".join(
    path.read_text("utf-8") for path in HERE.parents[1].rglob("*.py") if path != HERE
)

NEVER = [name for name, metric in METRICS.items() if metric.undefined.startswith("Only")]


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


# ---- every option, with every value --------------------------------------------------------------


def test_columns_and_options_are_documented_the_default_first(entry):
    doc = inspect.getdoc(entry.function)
    assert "Source:" in doc, "add Source: to the section Notes of the docstring"
    assert "NaN" in doc
    assert ">>> " in doc
    assert set(entry.columns.values()) <= set(COLUMNS)
    parameters = inspect.signature(entry.function).parameters
    assert set(entry.columns) | set(entry.options) == set(parameters)
    assert list(entry.variants) == list(entry.options)
    for option, default in entry.options.items():
        values = list(entry.variants[option])
        assert values[0] == parameters[option].default == default
        assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY
        assert ... not in values[:-1]
    if entry.evidence:
        inspect.signature(entry.evidence).bind(**dict.fromkeys(parameters))


ERROR = {
    "response": "There are factual errors in the provided documents; the answer is present: Oslo"
}


def test_values_listed_are_accepted_and_others_are_refused_with_those_listed(entry):
    for option, each in listed_values(entry):
        assert not math.isnan(value(entry, ERROR, **{option: each}))
    for option, values in entry.variants.items():
        if ... in values:
            continue
        with pytest.raises(InputError, match=rf"^{option} must be one of") as refused:
            value(entry, **{option: "sacred"})
        named = re.search(r"must be one of (.*), got", str(refused.value))[1].replace("'", "")
        known = [each for each in values if each is not None]
        assert [each for each in named.split(", ") if each != "None"] == known


def test_every_metric_is_tested_with_values_of_its_own(entry):
    """The tests in this file take any metric. Values worked by hand are in another file."""
    function = re.escape(entry.function.__name__)
    pattern = rf"{re.escape(entry.name)}\b|\b{function}\b"
    assert re.search(pattern, OTHER_TESTS), (
        f"add a test of {entry.name} to tests/metrics, with values worked by hand"
    )


# ---- when there is no value ----------------------------------------------------------------------


def test_a_metric_stays_within_its_bounds_and_leaves_the_missing_unscored(entry):
    columns = {name: pd.Series(values, dtype=object) for name, values in CASES.items()}
    frame = pd.DataFrame(columns).assign(references="Oslo", language="en", system="tiny")
    scores = score(frame, entry.name)
    assert math.isnan(scores["value"].iloc[-1])
    said = scores[[bool(text) for text in CASES["response"]]]
    unscored = said["reason"].dropna()
    # Nothing else may leave a response that says something without a value.
    assert set(unscored) <= {entry.condition}
    assert len(unscored) < 4
    assert scores["value"].dropna().between(*entry.bounds).all()
    assert not entry.binary or set(scores["value"].dropna()) <= {0.0, 1.0}


def test_every_value_of_an_option_has_a_signature_of_its_own(entry):
    frame = pd.DataFrame([ONE], dtype=object)
    for option, values in entry.variants.items():
        signatures = [
            score(frame, entry.name, **{option: each})["signature"][0]
            for each in values
            if each is not ...
        ]
        assert len(set(signatures)) == len(signatures)


def test_every_metric_says_when_it_is_undefined(entry):
    assert re.fullmatch(r"(Only if|If) .*\.", entry.undefined)
    if entry.undefined.startswith("If"):
        assert entry.name in UNDEFINED, (
            f"add {entry.name} to UNDEFINED in this file, with an input that gives NaN"
        )
    else:
        assert entry.name not in UNDEFINED, (
            f'remove {entry.name} from UNDEFINED in this file, or let `undefined` begin with "If"'
        )
    assert ("never under" in entry.undefined) == (entry.name in NEVER_UNDER)
    assert all(option in entry.undefined for option in NEVER_UNDER.get(entry.name, {}).values())


@pytest.mark.parametrize("name", UNDEFINED)
def test_a_metric_is_undefined_where_it_says_so_and_only_for_that(name):
    metric = METRICS[name]
    for changes in UNDEFINED[name]:
        assert math.isnan(value(metric, changes)), changes
        without = ERROR if name == "rgb.error_correction" or "rule" in changes else {}
        options = {each: changes[each] for each in changes if each in metric.options}
        if options.get("variant", "guide") == "guide":
            assert not math.isnan(value(metric, without, **options)), changes


@pytest.mark.parametrize("name", [*NEVER, *NEVER_UNDER])
def test_never_undefined_is_never_undefined(name):
    metric = METRICS[name]
    columns = [column for column in metric.columns.values() if column in CASES]
    rows = [{column: CASES[column][row] for column in columns} for row in range(4)]
    if "response" in columns:
        rows += [
            {**rows[0], "response": text} for text in (" ", "…", "👩‍🔬", "\u0301", "東京タワー")
        ]
    for changes in rows:
        if name in NEVER_UNDER:
            assert not math.isnan(value(metric, changes, **NEVER_UNDER[name])), changes
            continue
        for option, each in listed_values(metric):
            assert not math.isnan(value(metric, changes, **{option: each})), changes
        assert not math.isnan(value(metric, changes)), changes


BOTH, LABELS = ["unicode", "lbrag"], ["ragbench", "guide"]
