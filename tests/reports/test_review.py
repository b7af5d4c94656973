"""The review of the evidence: each check on a study with its fault, and on studies without."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests
from support.studies_to_review import repeated_scores, study

import ragnb
from ragnb.errors import InputError
from ragnb.reports.reviewing.checks import ALPHA, CHECKS, NotPossible
from ragnb.reports.reviewing.evidence import Evidence
from ragnb.reports.reviewing.questions import _excess_of_zeros
from ragnb.reports.reviewing.report import review

CHECK = {check.name: check for check in CHECKS}


def findings(responses, name, scores=None):
    """The findings of one check; None if it cannot be made."""
    try:
        return list(CHECK[name].find(Evidence(responses, scores, 0.95)))
    except NotPossible:
        return None


def rng(seed=1):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def clean():
    return study(rng())


def test_a_clean_study_has_no_finding_and_what_cannot_be_checked_has_a_reason(clean):
    result = review(clean)
    assert result.findings.empty
    assert set(result.not_made["check"]) == {"dependent rows", "unreadable replies"}
    assert len(result.without_finding) == len(CHECKS) - 2
    text = repr(result)
    assert text.startswith(
        f"No findings in {len(CHECKS) - 2} checks; 2 more checks could not be made"
    )
    assert "unreadable replies: the responses have no column answerable" in text
    assert "In these calls" not in text


def test_the_order_of_the_checks_does_not_depend_on_the_module_that_was_imported_first():
    """This file imports the module `questions` before the others."""
    modules = [check.find.__module__.rpartition(".")[2] for check in CHECKS]
    assert list(dict.fromkeys(modules)) == ["design", "labels", "questions", "replies"]


# ---- one fault each --------------------------------------------------------------------------------


def test_missing_replies_are_counted_by_system_and_can_change_the_order(clean):
    few = clean.astype({"verdict": object})
    few.loc[few.index[:3], "response"] = None
    few.loc[few.index[:3], "verdict"] = None
    (row,) = review(few).findings.query("check == 'missing replies'").to_dict("records")
    assert row["number"] == 3
    assert row["rows"] == [0, 1, 2]
    assert row["finding"].startswith(
        "The reply is missing or blank in 3 of 1,200 rows (0.2%): system 0 3 of 300 (1.0%)."
    )
    many = clean.astype({"verdict": object})
    # Half of the best system's replies are missing, so that the second one could be better.
    many.loc[many.index[:150], ["response", "verdict"]] = None
    (row,) = review(many).findings.query("check == 'missing replies'").to_dict("records")
    assert row["effect"] == "could change which system is better"
    blank = clean.assign(response=clean["response"].where(clean.index > 4, " \n"))
    assert findings(blank, "missing replies")[0].number == 5


def test_cut_off_replies_are_those_that_reached_the_limit(clean):
    frame = clean.assign(finish_reason=np.where(clean.index % 100 == 0, "length", "stop"))
    (finding,) = findings(frame, "cut-off replies")
    assert finding.number == 12
    assert findings(clean.drop(columns="finish_reason"), "cut-off replies") is None


def test_a_reply_that_repeats_its_prompt_is_an_echo(clean):
    prompt = (
        "Read the passages below with care, and answer the question that follows them in one word."
    )
    frame = clean.assign(prompt=prompt + "\nWho?")
    frame.loc[[7, 9], "response"] = f"{prompt} It is Oslo."
    (finding,) = findings(frame, "echoed prompts")
    assert finding.rows == [7, 9]
    assert "contain a sentence of their prompt" in finding.sentence


def test_a_reply_that_quotes_a_passage_of_its_prompt_is_no_echo(clean):
    instruction = (
        "Read the passages below with care, and answer the question that follows them in one word."
    )
    passages = [
        f"In the year {1000 + row % 300}, the king moved the court to the town at the mouth of the river."
        for row in clean.index
    ]
    frame = clean.assign(prompt=[f"{instruction}\n\n{passage}\n\nWho?" for passage in passages])
    frame.loc[[7, 9], "response"] = [f"Passage 1 says: {passages[row]}" for row in (7, 9)]
    assert findings(frame, "echoed prompts") == []
    frame.loc[[3], "response"] = f"{instruction} It is Oslo."
    (finding,) = findings(frame, "echoed prompts")
    assert finding.rows == [3]
    # With one question, the instructions cannot be distinguished from the passages.
    one_question = frame.groupby("system").head(1)
    echo = one_question.assign(response=one_question["prompt"])
    assert findings(echo, "echoed prompts") == []


def test_a_column_without_any_value_is_not_filled_in_and_no_missing_reply(clean):
    grades = clean.drop(columns="response").assign(score=np.nan, value=1.0)
    assert findings(grades, "missing replies") is None
    assert findings(grades, "missing labels") == []
    grades.loc[4, "value"] = np.nan
    (finding,) = findings(grades, "missing labels")
    assert finding.sentence.startswith("The value is missing in 1 of 1,200 rows")


def test_another_language_is_a_finding_only_if_it_is_frequent():
    assert findings(study(rng(), german=0.02), "other languages") == []
    (finding,) = findings(study(rng(), german=0.5), "other languages")
    assert "of system 0, en" in finding.sentence
    assert {row < 300 for row in finding.rows} == {True}


def test_right_answers_that_people_reject_for_one_system_only():
    frame = study(rng(), n=1000, rejected=0.1)
    (finding,) = findings(frame, "labels of different kinds")
    rejected = frame.index[
        frame["response"].str.contains("Reference") & ~frame["verdict"].astype(bool)
    ]
    assert finding.rows == rejected.tolist()
    assert findings(study(rng(), n=1000, label_errors=0.1), "labels of different kinds") == []


def test_a_judge_without_labels_is_unchecked(clean):
    without = clean.drop(columns="verdict")
    (finding,) = findings(without, "unchecked judge")
    assert "no response has the verdict of a person" in finding.sentence
    assert findings(clean, "unchecked judge") == []
    assert findings(clean.drop(columns="judged_correct"), "unchecked judge") is None
    judged = ragnb.score(without, "semantic.judged_correctness")
    assert len(findings(without.drop(columns="judged_correct"), "unchecked judge", judged)) == 1


def test_a_judge_that_guesses_cannot_tell_right_from_wrong():
    (finding,) = findings(study(rng(3), judge_errors=0.5), "judge cannot tell")
    assert abs(finding.number) < 0.1
    assert findings(study(rng(3), judge_errors=0.4), "judge cannot tell") == []


def test_a_judge_that_errs_more_often_for_one_system_or_on_longer_answers():
    (finding,) = findings(study(rng(), judge_bias=0.3), "judge errs by system")
    assert "of system 0 in" in finding.sentence
    (finding,) = findings(study(rng(), n=1000, judge_length=0.2), "judge errs by length")
    assert "more often if they are longer" in finding.sentence
    assert findings(study(rng()), "judge errs by length") == []


def test_rows_of_one_question_that_are_alike():
    scores = repeated_scores(rng(), correlation=0.5)
    (finding,) = findings(scores, "dependent rows", scores)
    # With a correlation r, an interval over m rows must be sqrt(1 + (m - 1) r) times as wide.
    assert finding.number == pytest.approx(np.sqrt(1 + 4 * 0.5), rel=0.15)
    independent = repeated_scores(rng())
    assert findings(independent, "dependent rows", independent) == []
    assert review(scores).findings["check"].tolist()[-1] == "dependent rows"


def test_questions_that_not_all_systems_have(clean):
    # System 1 has only the easy questions, which the weakest system answers as well. Its mean is then
    # above that of system 0 over all questions, and below it over the shared ones.
    even = study(rng(), shares=(0.65, 0.6, 0.45, 0.3))
    of_weakest = even[even["system"] == "system 3"].set_index("example_id")["verdict"]
    is_hard = ~even["example_id"].map(of_weakest).astype(bool)
    is_left_out = (even["system"] == "system 1") & is_hard
    frame = even[~is_left_out]
    (row,) = (
        review(frame)
        .findings.query("check == 'questions that some systems lack'")
        .to_dict("records")
    )
    assert row["effect"] == "could change which system is better"
    assert row["number"] == is_left_out.sum()
    one = clean.drop(index=5)
    (finding,) = findings(one, "questions that some systems lack")
    assert finding.sentence.startswith(
        "1 of 300 questions have no row of at least one of the 4 systems: system 0 1 of 300 (0.3%)."
    )
    assert finding.effect == "affects systems differently"


def test_the_verdicts_of_people_order_the_systems_wherever_they_are_in_the_scores(clean):
    metrics = ["answer.contains", "annotator.verdict"]
    scores = ragnb.score(clean, metrics)
    result = review(clean, scores)
    assert result.main_metric == "annotator.verdict"
    assert "Main metric: accepted by people" in repr(result)
    assert review(clean, scores[scores["metric"] == metrics[0]]).main_metric == metrics[0]
    assert review(clean.head(0)).main_metric == ""


def test_a_review_without_another_order_names_where_weaker_signs_are(clean):
    assert "ragnb.compare_definitions(responses)" in repr(review(clean)).replace("\n    ", " ")


def test_an_undecided_order_has_the_p_value_after_the_correction():
    # With three systems, the interval of one pair may exclude 0 although the corrected test does not.
    frame = study(rng(), shares=(0.5, 0.5, 0.3))
    (finding,) = findings(frame, "undecided order")
    assert "after Holm's correction for 3 comparisons, all pairs of 3 systems)" in finding.sentence


def test_a_limit_that_is_printed_as_zero_has_no_sign():
    noise = rng().normal(0, 1e-5, 40)
    scores = pd.DataFrame(
        {
            "example_id": [*range(40)] * 2,
            "system": ["a"] * 40 + ["b"] * 40,
            "metric": "own.metric",
            "value": [0.5] * 40 + list(0.5 + noise - noise.mean()),
            "signature": "s",
        }
    )
    (sentence,) = review(scores).findings["finding"]
    assert "interval 0.000 to 0.000)" in sentence


def test_the_best_two_systems_may_be_undecided():
    frame = study(rng(), shares=(0.6, 0.6))
    (finding,) = findings(frame, "undecided order")
    table = ragnb.compare(ragnb.score(frame, "annotator.verdict"))
    assert finding.number == table["mde"].item()
    assert f"{abs(table['difference'].item()):.3f}" in finding.sentence
    assert findings(study(rng(), shares=(0.8, 0.3)), "undecided order") == []


def test_a_difference_that_only_the_correction_removes():
    frame = study(rng(0), n=60, shares=(0.65, 0.6, 0.55, 0.5, 0.45))
    table = ragnb.compare(ragnb.score(frame, "annotator.verdict"))
    only_before = ((table["p_value"] < 0.05) & (table["p_adjusted"] >= 0.05)).sum()
    assert only_before > 0
    (finding,) = findings(frame, "many comparisons")
    assert finding.number == only_before


def test_one_conversation_with_most_of_the_difference():
    rows = {"system": ["a"] * 60 + ["b"] * 60, "turn": [*range(60)] * 2}
    conversation = ["long"] * 40 + [f"short {number}" for number in range(20)]
    frame = pd.DataFrame(rows).assign(
        conversation_id=conversation * 2, metric="accuracy", signature="s"
    )
    frame["example_id"] = frame["conversation_id"] + "/" + frame["turn"].astype(str)
    # In 10 of 20 short conversations and in all turns of the long one, a is better.
    is_better = [1.0] * 40 + [1.0, 0.0] * 10
    frame["value"] = is_better + [0.0] * 60
    (finding,) = findings(frame, "one dominating question", frame)
    assert finding.number == pytest.approx(40 / 50)
    assert "from conversation_id long (40 of 60 rows)" in finding.sentence


def test_settings_that_differ_between_systems(clean):
    frame = clean.assign(temperature=np.where(clean["system"] == "system 0", 0.7, 0.0))
    (finding,) = findings(frame, "different settings")
    assert "differ in temperature" in finding.sentence


def test_more_dead_questions_than_hard_ones_explain():
    (finding,) = findings(study(rng(), n=600, nobody=0.25), "questions that nobody answers")
    frame = study(rng(), n=600, nobody=0.25)
    nobody = frame.groupby("example_id")["verdict"].sum().eq(0).sum()
    assert finding.number == nobody


def test_the_test_of_dead_questions_is_that_of_a_beta_binomial_distribution():
    """Its fit without extra zeros has the likelihood that scipy computes at the fitted values."""
    from scipy.optimize import minimize
    from scipy.stats import betabinom

    n_right = rng().binomial(5, rng().beta(2, 1.5, 400))
    p_value, expected = _excess_of_zeros(n_right, 5)
    fit = minimize(lambda x: -betabinom.logpmf(n_right, 5, *np.exp(x)).sum(), [0, 0])
    zeros = 400 * betabinom.pmf(0, 5, *np.exp(fit.x))
    assert p_value > ALPHA
    assert expected == pytest.approx(zeros, rel=0.35)


def test_references_that_lack_an_accepted_answer(clean):
    frame = clean.assign(
        references=clean["references"].where(clean["example_id"] != "q1", "Bergen")
    )
    is_q1 = frame["example_id"] == "q1"
    frame["verdict"] = frame["verdict"].astype(bool) | is_q1
    (finding,) = findings(frame, "incomplete references")
    assert finding.rows == frame.index[is_q1].tolist()


def test_negative_passages_that_contain_the_answer(clean):
    negative = [["Reference3 is mentioned here."]] * len(clean)
    (finding,) = findings(clean.assign(negative=negative), "negatives with the answer")
    assert finding.rows == [3]


def test_the_same_question_under_two_ids(clean):
    frame = clean.assign(
        question=clean["question"].replace(
            "What is the answer to question 4?", "what is the answer to  question 5?"
        )
    )
    (finding,) = findings(frame, "repeated questions")
    assert "1 question with 2 ids" in finding.sentence


def test_repeated_questions_are_those_of_one_language_and_list_ids_with_a_reference(clean):
    clean = clean.assign(
        language="en", question=clean["question"].where(clean["example_id"] != "q4", "Wer?")
    )
    for name in ("q5", "q6"):
        clean["question"] = clean["question"].where(clean["example_id"] != name, "Wer?")
    clean["language"] = clean["language"].where(clean["example_id"] != "q4", "de")
    is_q5 = clean["example_id"] == "q5"
    # Example q5 has no reference, so nothing can be said about whether the references differ.
    without = clean.assign(references=clean["references"].where(~is_q5, None))
    (finding,) = findings(without, "repeated questions")
    assert "1 question with 2 ids" in finding.sentence
    assert "different references" not in finding.sentence
    assert finding.rows == clean.index[clean["example_id"].isin(["q5", "q6"])].tolist()


def test_examples_of_one_question_are_no_repeated_questions(clean):
    twice = clean["question"].replace(
        "What is the answer to question 4?", "What is the answer to question 5?"
    )
    # The examples 4 and 5 have the same words. They are two questions, or one under two conditions.
    two_questions = clean.assign(question=twice, question_id=clean["example_id"])
    (finding,) = findings(two_questions, "repeated questions")
    assert "1 question with 2 ids" in finding.sentence
    ids = clean.loc[:, "example_id"].tolist()
    same = {ids[4]: ids[5]}
    one_question = clean.assign(question=twice, question_id=clean["example_id"].replace(same))
    assert findings(one_question, "repeated questions") == []


def test_the_order_of_systems_depends_on_extra_words(clean):
    short = clean[clean["system"] == "system 1"].copy()
    short["response"] = short["response"].str.extract(r"(Reference\d+|Other\d+)", expand=False)
    frame = pd.concat([clean[clean["system"] == "system 0"], short])
    (finding,) = findings(frame, "order depends on the definition")
    assert finding.sentence.startswith("Best system by metric: exact match, token F1: system 1; ")
    assert findings(clean, "order depends on the definition") == []


# ---- published studies -----------------------------------------------------------------------------


def found(result, name):
    return result.findings.set_index("check").loc[name]


def test_the_review_finds_the_echoed_prompts_of_nomiracl():
    result = review(ragnb.load_study("nomiracl"))
    echoes = found(result, "echoed prompts")
    assert "llama-2-13b-chat 867 of 3,967" in echoes["finding"]
    responses = ragnb.load_study("nomiracl").loc[result.rows_of("echoed prompts"), "response"]
    assert responses.str.contains("answer is present", case=False).all()
    unreadable = found(result, "unreadable replies")
    # As the outcomes of the benchmark's own rule count them.
    report = ragnb.score(
        ragnb.load_study("nomiracl"), "abstention.coverage", rule="nomiracl", explain=True
    )
    assert unreadable["number"] == report["evidence"].str.contains("of the two replies").sum()


def test_the_review_finds_the_missing_grades_of_three_judges():
    result = review(ragnb.load_study("trec-rag-judges"))
    missing = found(result, "missing labels")
    assert missing["number"] == 445 + 410 + 325
    for judge in ("Gemini 2.5 Pro 445", "Gemini 3.1 Pro Preview 410", "DeepSeek V4 Pro 325"):
        assert f"{judge} of 537" in missing["finding"]


@pytest.mark.slow
def test_the_review_finds_what_is_known_about_evouna():
    result = review(ragnb.load_study("evouna-nq", usable=True))
    kinds = found(result, "labels of different kinds")["finding"]
    assert "ChatGPT 65 of 1,748 (3.7%), New Bing 45 of 1,966 (2.3%), GPT-3.5 6 of" in kinds
    assert "50 times people reject ChatGPT and accept GPT-4, and 2 times the reverse" in kinds
    order = found(result, "order depends on the definition")["finding"]
    assert (
        "Best system by metric: exact match, token F1: FiD; contains the reference, accepted by people: "
        "New Bing; " in order
    )
    assert "the answers of FiD are shorter (median 2 words; New Bing" in order


# ---- edges -----------------------------------------------------------------------------------------


def test_what_has_nothing_to_check_gets_its_sentence(clean):
    empty = review(clean.iloc[:0])
    assert set(empty.not_made["reason"]) == {"there are no responses"}
    assert repr(empty).startswith("No findings in 0 checks")
    one = review(clean[clean["system"] == "system 0"])
    assert "it needs 2 systems or more, got 1" in set(one.not_made["reason"])
    bare = review(clean[["example_id", "system", "response"]])
    assert "the responses have no column references" in set(bare.not_made["reason"])
    with pytest.raises(InputError, match="review needs a frame, got the name of a file"):
        review("answers.csv")
    with pytest.raises(InputError, match="check must be one with a finding"):
        empty.rows_of("missing replies")


def test_rows_are_index_labels_and_the_html_escapes_names(clean):
    frame = clean.iloc[:600].replace({"system": {"system 0": "<b>a</b>"}})
    frame = frame.set_axis([f"row {number}" for number in range(600)])
    frame.loc["row 3", "response"] = None
    result = review(frame)
    assert result.rows_of("missing replies") == ["row 3"]
    html = result._repr_html_()
    assert "&lt;b&gt;a&lt;/b&gt; 1 of 300" in html
    assert "<b>a</b>" not in html


# ---- error rates -----------------------------------------------------------------------------------

N_STUDIES = 500


def bound(rate, n=N_STUDIES):
    """Largest number of false findings that a rate makes plausible, at the 0.1 % level."""
    return binom.ppf(0.999, n, rate)


def loses_significance(frame):
    """Whether a difference in people's verdicts is significant only without Holm's correction (McNemar's mid-p)."""
    wide = frame.pivot(index="example_id", columns="system", values="verdict").astype(float)
    p_values = []
    for first, second in combinations(wide.columns, 2):
        n_first = int((wide[first] > wide[second]).sum())
        n_second = int((wide[first] < wide[second]).sum())
        least, n = min(n_first, n_second), n_first + n_second
        p_values.append(min(1, 2 * binom.cdf(least, n, 0.5) - binom.pmf(least, n, 0.5)))
    p_adjusted = multipletests(p_values, method="holm")[1]
    return any(p < 0.05 <= corrected for p, corrected in zip(p_values, p_adjusted, strict=True))


@pytest.mark.slow
def test_clean_studies_have_hardly_any_finding():
    """Per check and all together, over 500 studies without a fault."""
    counts, n_lose_significance = Counter(), 0
    for seed in range(N_STUDIES):
        clean_study = study(rng(seed))
        counts.update(review(clean_study).findings["check"])
        n_lose_significance += loses_significance(clean_study)
    # The systems differ, and by chance a difference may be significant only without the correction. This is no false
    # finding, so it has to be found whenever it is so.
    assert counts.pop("many comparisons", 0) == n_lose_significance
    tests = [check.name for check in CHECKS if check.is_test]
    assert all(counts[name] <= bound(ALPHA) for name in tests), counts
    assert sum(counts[name] for name in tests) <= bound(len(tests) * ALPHA), counts
    assert not [name for name in counts if name not in tests], counts


@pytest.mark.slow
def test_labels_with_the_same_errors_and_independent_rows_have_hardly_any_finding():
    counts = Counter()
    for seed in range(N_STUDIES):
        noisy = study(rng(seed), label_errors=0.05)
        for name in ("labels of different kinds", "questions that nobody answers"):
            counts[name] += len(findings(noisy, name))
        scores = repeated_scores(rng(seed))
        counts["dependent rows"] += len(findings(scores, "dependent rows", scores))
    assert all(count <= bound(ALPHA) for count in counts.values()), counts


# Check, fault, its sizes, numbers of questions, and the least share of studies in which the largest
# fault is found with the most questions.
PLANTED = [
    ("labels of different kinds", "rejected", (0.02, 0.05, 0.1), (200, 1000)),
    ("judge errs by system", "judge_bias", (0.1, 0.2, 0.3), (200, 600)),
    ("judge errs by length", "judge_length", (0.1, 0.2, 0.3), (200, 600)),
    ("questions that nobody answers", "nobody", (0.05, 0.15, 0.3), (200, 600)),
    ("other languages", "german", (0.05, 0.2, 0.4), (100, 300)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fault", "sizes", "numbers"), PLANTED)
def test_a_planted_fault_is_found_more_often_if_it_is_larger(name, fault, sizes, numbers):
    n_studies = 40
    shares = pd.DataFrame(index=numbers, columns=sizes, dtype=float)
    for n in numbers:
        for size in sizes:
            found = [
                len(findings(study(rng(seed), n, **{fault: size}), name))
                for seed in range(n_studies)
            ]
            shares.loc[n, size] = np.mean(found)
    print(f"\n{name}: share of studies with a finding, by n (rows) and {fault} (columns)\n{shares}")
    assert shares.iloc[-1, -1] >= 0.9
    assert (shares.iloc[-1] >= shares.iloc[0] - 0.2).all()
    assert shares.iloc[-1].is_monotonic_increasing


def test_a_missing_reply_is_not_among_the_replies_that_could_be_read():
    study = ragnb.load_study("nomiracl").iloc[::37].copy()
    study.loc[study.index[:5], "response"] = None
    unreadable = found(review(study), "unreadable replies")
    assert f"of {len(study) - 5:,} replies" in unreadable["finding"]
