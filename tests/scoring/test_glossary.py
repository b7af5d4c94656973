"""`definitions` and `edge_cases`: what a metric is, and what it says at the edges."""

import inspect
import math
from fractions import Fraction
from numbers import Real

import numpy as np
import pandas as pd
import pytest
from support.hostile import Reader

from ragnb.errors import InputError
from ragnb.prompts.judges import TEMPLATES
from ragnb.scoring import METRICS, Metric, definitions, edge_cases, glossary, score
from ragnb.version import __version__


def own(function=len, name="own.words", source="here", **more):
    return Metric(name, function, {"response": "response"}, False, (0, 9), source, **more)


# ---- which metrics a name means ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Answer.F1", ["answer.f1"]),
        ("f1", ["answer.f1", "answer.rouge_l", "parts.span_f1"]),
        ("CR", ["rgb.error_correction", "rgb.judged_error_correction"]),
        ("correction", ["rgb.error_correction", "rgb.judged_error_correction"]),
        ("trace", [name for name in METRICS if name.startswith("trace.")]),
        ("CNBE", ["cost.cnbe"]),
        ("cost.cnbe", ["cost.cnbe"]),
        (None, list(METRICS)),
    ],
)
def test_a_name_a_word_of_it_a_family_or_an_abbreviation_means_metrics(name, meant):
    assert [metric.name for metric in definitions(name).metrics] == meant


def test_a_name_that_means_nothing_is_refused_with_the_nearest():
    with pytest.raises(
        InputError, match=r"'answer\.f3' is not the name .* did you mean 'answer\.f1'\?"
    ):
        definitions("answer.f3")


# ---- what is said ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METRICS)
def test_text_and_html_say_all_of_every_metric(name):
    metric, found = METRICS[name], definitions(name)
    said, reader = " ".join(repr(found).split()), Reader(found._repr_html_())
    meanings = [meaning for values in metric.variants.values() for meaning in values.values()]
    first_line = inspect.getdoc(metric.function).splitlines()[0].replace("`", "")
    home = f"{metric.function.__module__}.{metric.function.__name__}"
    facts = (metric.undefined, metric.condition, metric.source, metric.signature({}), home)
    for text in (name, first_line, *facts, *meanings):
        assert text in said
        assert text in reader.text


def test_a_card_shows_the_formula_and_the_prompt_of_a_judge():
    card = definitions("retrieval.ndcg")
    assert "formula                 nDCG@k = DCG@k / IDCG@k" in repr(card)
    card = " ".join(repr(definitions("judged.faithfulness")).split())
    assert TEMPLATES["answer.judge_faithfulness"].id in card
    assert "List every factual statement that the response makes" in card


def test_the_frame_of_all_has_every_metric_and_one_default_per_option():
    frame = definitions().frame
    assert frame["metric"].unique().tolist() == list(METRICS)
    assert (frame.groupby(["metric", "option"], dropna=False)["default"].sum() == 1).all()
    assert (frame["lowest"] < frame["highest"]).all()


def test_the_signature_in_the_frame_is_the_one_that_score_prints():
    rows = definitions().frame.dropna(subset="signature")
    rows = rows[rows["metric"].isin(["answer.f1", "rgb.accuracy"])]
    responses = pd.DataFrame({"response": ["Oslo"], "references": ["Oslo"], "language": ["en"]})
    for row in rows.to_dict("records"):
        options = {} if row["option"] is None else {row["option"]: row["value"]}
        scores = score(responses, row["metric"], **options)
        assert scores["signature"][0] == f"{row['signature']}|lang:en"
    assert len(rows) > 5


def test_a_metric_of_your_own_is_shown_as_far_as_it_is_known():
    metric = own(lambda response, *, limit=2: 1.0, options={"limit": 2})
    lines = [" ".join(line.split()) for line in repr(definitions(metric)).splitlines()]
    assert lines[:5] == [
        "own.words: (its function has no docstring)",
        "better lower",
        "range 0 to 9",
        "needs response",
        "limit=2 Default. (not described)",
    ]
    assert lines[-1] == f"signature ragnb:{__version__}|metric:own.words|limit:2"


# ---- at the edges ------------------------------------------------------------------------------


def test_every_metric_has_a_number_or_a_reason_at_every_edge():
    table = edge_cases()
    assert list(table.index) == list(METRICS)
    for cell in table.to_numpy().ravel():
        assert cell.startswith("nan: ") if isinstance(cell, str) else math.isfinite(cell)
    length = own(lambda response: float(len(response)), "own.length")
    assert edge_cases([length]).loc["own.length", "empty response"] == 0.0
    for names in (pd.Series(["answer.f1"]), pd.Index(["answer.f1"]), np.array(["answer.f1"])):
        assert list(edge_cases(names).index) == ["answer.f1"]
    for name, cell in table["right answer"].items():
        assert isinstance(cell, Real) or cell == f"nan: {METRICS[name].condition}"


EDGES = """
rgb.accuracy: right answer=1, refusal=0, empty response=0, no reference=nan, no response=nan
rgb.rejection: right answer=0, refusal=1, no sentence=0, no reference=0, no response=nan
rgb.rejection protocol=released: right answer=1, refusal=1, another language=0, no reference=nan
rgb.error_correction: right answer=nan, refusal=nan, refusal after an error=0
rgb.error_correction protocol=released: refusal=nan, refusal after an error=1
rgb.error_correction protocol=flexible: right answer=1, refusal=0, refusal after an error=0
rgb.judged_rejection: refusal=1, unreadable judge=nan, no reference=0
trace.relevance: right answer=1/2, empty context=nan, unreadable judge=nan
trace.relevance variant=guide: right answer=1/20, empty context=nan
trace.utilization variant=guide: right answer=1, refusal=0
trace.completeness: right answer=1, refusal=0, empty response=0, empty context=nan
trace.adherence: refusal=1, empty response=1, empty context=0, unreadable judge=nan
trace.supported_fraction: refusal=1, empty response=nan, empty context=0
answer.f1: right answer=2/5, refusal=0, empty response=0, no reference=nan
answer.recall: right answer=1, another language=0
answer.f1 variant=squad: right answer=1/2, refusal=0, empty response=0
retrieval.precision: right answer=1/2, empty context=0
language.rlc: refusal=1, no sentence=nan, empty response=nan, another language=0
language.rlc variant=lbrag: no sentence=0, empty response=1, another language=1
cost.translation_tokens: right answer=7, empty context=0, no response=nan
semantic.judged_similarity: refusal=0, empty response=nan, unreadable judge=nan
semantic.embedding_cosine: right answer=24/25, empty response=nan
annotator.verdict: refusal=0, unreadable judge=nan
"""
"""Metric, options and values at the edges, by hand from the definitions."""


def test_values_at_the_edges_are_those_of_the_definition():
    for line in EDGES.strip().splitlines():
        definition, _, cases = line.partition(": ")
        metric, *options = definition.split()
        row = edge_cases(metric, **dict(option.split("=") for option in options)).loc[metric]
        for case in cases.split(", "):
            name, _, value = case.partition("=")
            if value == "nan":
                assert row[name].startswith("nan: "), line
            else:
                assert row[name] == pytest.approx(float(Fraction(value))), line


# ---- names that people search for --------------------------------------------------------------

SEARCHED = {
    "faithfulness": "judged.faithfulness",
    "Groundedness": "trace.adherence",
    "hallucination": "abstention.hallucination",
    "citation": "parts.citation_recall",
    "citation precision": "parts.citation_precision",
    "context precision": "judged.context_precision",
    "context_recall": "retrieval.recall",
    "answer relevancy": "judged.answer_relevancy",
    "answer-relevance": "judged.answer_relevancy",
    "MRR": "retrieval.reciprocal_rank",
    "nDCG": "retrieval.ndcg",
    "nDCG@10": "retrieval.ndcg",
    "recall@5": "retrieval.recall",
    "hit rate": "retrieval.success",
    "exact match": "answer.exact_match",
    "win rate": "judged.preference",
    "G-Eval": "judged.rubric",
    "negative rejection": "rgb.rejection",
}


def test_a_name_of_the_field_leads_to_what_there_is():
    for name, metric in SEARCHED.items():
        assert metric in [found.name for found in definitions(name).metrics]


def test_a_metric_that_is_not_there_is_answered_with_the_reason():
    found = definitions("perplexity")
    assert found.metrics == ()
    assert "ragnb does not compute" in found.note
    assert " ".join(repr(found).split()) == found.note
    assert found.note in Reader(found._repr_html_()).text
    assert found.frame.empty


def test_every_term_has_metrics_that_exist_or_a_note():
    for term in glossary._terms():
        assert all(name in METRICS for name in term["metrics"]), term
        assert term["metrics"] or term["note"]
        assert all(name == name.casefold() for name in term["terms"])
    terms = [name for term in glossary._terms() for name in term["terms"]]
    assert len(terms) == len(set(terms))


@pytest.mark.parametrize("heading", ["Notes", "See Also"])
def test_a_formula_comes_from_the_text_above_the_first_section(heading):
    def share(response):
        return 0.5

    share.__doc__ = f"Share.\n\nshare = a / b.\n\n{heading}\n{'-' * len(heading)}\nOther: x = 1.\n"
    record = Metric("own.share", share, {"response": "response"}, True, (0, 1), "here")
    assert glossary.formula_of(record) == "share = a / b."
