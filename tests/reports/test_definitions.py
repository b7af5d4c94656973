"""The same responses under several definitions: rates, paired differences, and where they differ."""

import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.experiments import recorded_responses
from ragnb.metrics import PROTOCOLS
from ragnb.reports import compare_definitions

ERROR = "There are factual errors in the provided documents."
REFUSAL = "I can not answer the question because of the insufficient information in documents."


@pytest.fixture(scope="module")
def rejections():
    return recorded_responses("rgb_rejection")


@pytest.fixture(scope="module")
def compared(rejections):
    return compare_definitions(rejections, "rgb.rejection")


def test_the_code_of_the_released_benchmark_and_a_lenient_one_disagree_on_corrections():
    """Counts by hand: corrected / detected in the first two, corrected / all in the third."""
    made = [f"{ERROR} It is Paris.", ERROR + REFUSAL, f"{ERROR} It is Marseille.", "It is Paris."]
    frame = pd.DataFrame(
        {"response": made, "references": [["Paris"]] * 4, "false_answers": [["Marseille"]] * 4}
    )
    names = ["paper", "released", "flexible"]
    compared = compare_definitions(frame, "rgb.error_correction", names)
    rates = compared.rates.set_index("definition")
    assert rates["count"].to_dict() == {"paper": 1, "released": 2, "flexible": 2}
    assert rates["n"].to_dict() == {"paper": 3, "released": 3, "flexible": 4}
    differences = compared.differences
    assert differences["n_pairs"].tolist() == [3, 3, 3]
    assert differences["n_dropped"].tolist() == [1, 1, 1]
    assert differences["difference"].tolist() == pytest.approx([1 / 3, 0, -1 / 3])


def test_rates_are_those_of_each_definition_alone(rejections, compared):
    for protocol in PROTOCOLS:
        alone = ragnb.summarize(ragnb.score(rejections, "rgb.rejection", protocol=protocol))
        rows = compared.rates[compared.rates["definition"] == protocol]
        wanted = ["system", "mean", "low", "high", "n", "n_scored", "signature"]
        assert rows[wanted].values.tolist() == alone[wanted].values.tolist()


def test_where_definitions_differ_each_says_why(rejections, compared):
    differing = compared.differing
    assert len(differing) == 9
    first = differing.iloc[0]
    assert (first["paper"], first["released"], first["flexible"]) == (0, 1, 0)
    assert first["released: evidence"] == "no refusal phrase; part 1: 'vitamin B1'"
    assert set(rejections.columns) <= set(differing.columns)
    shown = ragnb.view(compared)
    assert (shown.kinds, len(shown.rows)) == (["rgb"], 9)


def test_graded_values_with_clusters_and_definitions_by_name():
    some = "language in ['hi', 'zh'] and system in ['direct', 'cross']"
    answers = recorded_responses("multilingual").query(some)
    two, cells = ["unicode", "lbrag"], {"by": "system", "cluster": "question_id"}
    compared = compare_definitions(answers, "answer.f1", two, **cells)
    assert "count" not in compared.rates
    assert compared.differences["n_clusters"].eq(40).all()
    both = {"words": {"variant": "unicode"}, "published": {"variant": "lbrag"}}
    named = compare_definitions(answers, "answer.f1", both, **cells)
    assert named.rates["definition"].tolist() == ["words", "published"] * 2
    assert named.rates["mean"].tolist() == compared.rates["mean"].tolist()


def test_what_cannot_be_compared_is_refused(rejections):
    with pytest.raises(
        InputError, match=f"definitions of rgb.rejection must be among {', '.join(PROTOCOLS)}"
    ):
        compare_definitions(rejections, "rgb.rejection", ["paper", "released_code"])
    with pytest.raises(InputError, match="needs two definitions or more, got 0 of annotator"):
        compare_definitions(rejections, "annotator.verdict")
    with pytest.raises(InputError, match="did you mean 'rgb.rejection'"):
        compare_definitions(rejections, "rgb.rejections")


def test_a_definition_that_cannot_score_the_responses_is_left_out_unless_it_is_named():
    frame = pd.DataFrame({"example_id": ["a"], "language": "ru", "response": "Осло."})
    frame = frame.assign(references="Осло")
    compared = compare_definitions(frame, "answer.f1")
    assert list(compared.left_out) == ["mlqa"]
    assert "mlqa" not in compared.definitions
    assert "Left out: answer.f1, row 0 (a): the language under variant 'mlqa'" in repr(compared)
    with pytest.raises(InputError, match="the language under variant 'mlqa'"):
        compare_definitions(frame, "answer.f1", ["squad", "mlqa"])
