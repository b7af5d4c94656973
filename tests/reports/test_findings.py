"""Sentences about comparisons claim what the interval and the p-value show, and no more."""

import hashlib

import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError


def scores(values, metric="answer.contains"):
    """Scores of two systems on the same questions."""
    frames = [
        pd.DataFrame({"example_id": range(len(column)), "system": system, "value": column})
        for system, column in values.items()
    ]
    return pd.concat(frames, ignore_index=True).assign(metric=metric, signature="s")


def sentence(values, metric="answer.contains", **options):
    compared = ragnb.compare(scores(values, metric), baseline="a", **options)
    (text,) = ragnb.sentences(compared, names={"b": "B"})
    return text, compared.iloc[0]


def test_a_difference_that_is_shown_is_stated_with_its_interval():
    text, row = sentence({"a": [0.0] * 30 + [1.0] * 10, "b": [1.0] * 38 + [0.0] * 2})
    assert row["p_adjusted"] < 0.05
    assert text.startswith("contains the reference: B is 0.70 higher than a (")
    assert f"95 % Tango interval {row['low']:.2f} to {row['high']:.2f}, 40 questions" in text
    assert "do not show" not in text


def test_lower_is_said_of_a_lower_mean():
    text, _ = sentence({"a": [1.0] * 38 + [0.0] * 2, "b": [0.0] * 30 + [1.0] * 10})
    assert "B is 0.70 lower than a" in text


def test_a_difference_that_is_not_shown_is_not_claimed_and_names_what_would_be_missed():
    text, row = sentence({"a": [0.0, 1.0] * 20, "b": [0.0, 1.0] * 18 + [1.0, 1.0, 1.0, 1.0]})
    assert row["p_adjusted"] > 0.05
    assert "the data do not show which of B and a is higher; the difference is 0.05" in text
    assert f"a difference below {row['mde']:.2f} is missed more than one time in 5" in text


def test_questions_left_out_and_few_clusters_are_named():
    frame = scores({"a": [0.0] * 30 + [1.0] * 10, "b": [1.0] * 38 + [0.0] * 2})
    frame = frame[~((frame["system"] == "b") & (frame["example_id"] == 0))]
    frame["topic"] = frame["example_id"] % 5
    (text,) = ragnb.sentences(ragnb.compare(frame, baseline="a", unpaired="drop"))
    assert "1 question was left out because a score is missing." in text
    compared = ragnb.compare(frame, baseline="a", unpaired="drop", cluster="topic")
    (text,) = ragnb.sentences(compared)
    assert "1 pair was left out because a score is missing." in text
    assert "There are only 5 clusters, so the interval is too narrow." in text


def test_translations_of_a_question_are_pairs_and_not_questions():
    """Forty questions in six languages: 240 pairs of scores, and 40 independent units."""
    values = [float(number % 7 == 0) for number in range(240)]
    frame = scores({"a": values, "b": values[::-1]})
    frame["question_id"] = frame["example_id"] // 6
    (text,) = ragnb.sentences(ragnb.compare(frame, baseline="a", cluster="question_id"))
    assert "40 clusters, 240 pairs, cluster-robust t-test" in text
    assert "240 questions" not in text
    assert "With this number of clusters, a difference below" in text


def test_verdicts_of_a_model_are_a_reservation():
    judged, _ = sentence(
        {"a": [0.0] * 30 + [1.0] * 10, "b": [1.0] * 40}, "semantic.judged_correctness"
    )
    people, _ = sentence({"a": [0.0] * 30 + [1.0] * 10, "b": [1.0] * 40}, "annotator.verdict")
    assert "verdicts of a model" in judged
    assert "verdicts of a model" not in people


def test_conditions_are_named():
    values = {"a": [0.0] * 30 + [1.0] * 10, "b": [1.0] * 40}
    frames = [scores(values).assign(language=code) for code in ("en", "de")]
    compared = ragnb.compare(pd.concat(frames), baseline="a", by="language")
    first, second = ragnb.sentences(compared)
    assert first.startswith("contains the reference, language en: ")
    assert second.startswith("contains the reference, language de: ")
    assert "after Holm's correction for 2 comparisons" in first


@pytest.mark.parametrize(
    ("correction", "name"),
    [("holm", "Holm"), ("benjamini-hochberg", "Benjamini-Hochberg"), ("bonferroni", "Bonferroni")],
)
def test_a_correction_has_the_name_of_its_authors(correction, name):
    frame = scores({"a": [0.0] * 30 + [1.0] * 10, "b": [1.0] * 40, "c": [0.0, 1.0] * 20})
    compared = ragnb.compare(frame, baseline="a", correction=correction)
    texts = ragnb.sentences(compared)
    assert all(f" after {name}'s correction for 2 comparisons" in text for text in texts)
    summaries = ragnb.summarize(frame)
    assert f" {name} over 2)" in ragnb.to_html(summaries, comparisons=compared)


def test_only_comparisons_have_sentences():
    frame = scores({"a": [0.0, 1.0], "b": [1.0, 1.0]})
    with pytest.raises(InputError, match="sentences needs"):
        ragnb.sentences(ragnb.summarize(frame))


def test_provenance_names_data_model_and_definitions_once():
    study = ragnb.load_study("evouna-nq").head(50)
    scored = ragnb.score(study, ["answer.f1", "answer.contains"])
    block = ragnb.provenance(study, scored, ragnb.summarize(scored), ragnb.recorded("rgb_noise"))
    headings = [heading for heading, _ in block]
    assert headings.count("data") == 2
    assert headings.count("model") == 1
    assert headings.count("definition") == 2
    texts = " ".join(text for _, text in block)
    assert "arXiv 2305.12421" in texts
    assert "Apache 2.0" in texts
    assert "SmolLM2-135M-Instruct" in texts
    assert repr(block).count("metric:answer.f1") == 1
    assert block._repr_html_().count("<tr>") == len(block)
    with pytest.raises(InputError, match="frames and reports of ragnb, or .* got 5"):
        ragnb.provenance(study, 5)


@pytest.mark.parametrize(
    ("n_languages", "named"),
    [(6, "lang:aa, bb, cc, dd, ee, ff"), (7, "ff and 1 more"), (9, "ff and 3 more")],
)
def test_provenance_names_the_first_languages_of_a_definition(n_languages, named):
    languages = "aa bb cc dd ee ff gg hh ii".split()[:n_languages]
    signatures = [f"ragnb:0|metric:m|lang:{language}" for language in languages]
    block = ragnb.provenance(pd.DataFrame({"signature": signatures}))
    assert dict(block)["definition"].endswith(named)


def test_provenance_names_your_own_files_with_the_checksum_that_git_computes(tmp_path):
    files = [tmp_path / "ours.csv", tmp_path / "theirs.csv"]
    for number, file in enumerate(files):
        file.write_text(f"question,response,references\nWhen?,In 190{number}.,1905\n")
    responses = [ragnb.load_responses(file) for file in files]
    joined = ragnb.load_responses(files)
    expected = []
    for file in files:
        content = file.read_bytes()
        sha1 = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        expected.append(("data", f"{file.name}: git SHA-1 {sha1[:12]}"))
    assert ragnb.provenance(*responses)[:2] == expected
    assert ragnb.provenance(joined)[:2] == expected


def test_a_number_that_is_printed_as_zero_has_no_sign():
    _, row = sentence({"a": [0.0, 1.0] * 20, "b": [1.0, 0.0] * 20})
    tiny = pd.DataFrame([row]).assign(difference=-0.001, low=-0.2, high=-0.002)
    (text,) = ragnb.sentences(tiny)
    assert "the difference is 0.00 (" in text
    assert "interval −0.20 to 0.00, " in text
