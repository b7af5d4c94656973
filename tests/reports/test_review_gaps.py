"""The review of missing values, of rules for refusals, and how its result is printed."""

import numpy as np
import pandas as pd
from support.studies_to_review import study

import ragnb
from ragnb.reports.reviewing.checks import CHECKS, NotPossible
from ragnb.reports.reviewing.evidence import Evidence, counts_in_words
from ragnb.reports.reviewing.gaps import explanation
from ragnb.reports.reviewing.labels import _n_within_words
from ragnb.reports.reviewing.report import review

CHECK = {check.name: check for check in CHECKS}
ORDER, SYSTEMS = "could change which system is better", "affects systems differently"


def findings(responses, name, scores=None):
    """The findings of one check; None if it cannot be made."""
    try:
        return list(CHECK[name].find(Evidence(responses, scores, 0.95)))
    except NotPossible:
        return None


def labelled(**n_by_system):
    """Responses with verdicts: for each system its numbers of right, wrong and missing replies.

    A missing reply has no verdict.
    """
    frames = []
    for system, (n_right, n_wrong, n_missing) in n_by_system.items():
        verdicts = [True] * n_right + [False] * n_wrong + [None] * n_missing
        frame = pd.DataFrame({"verdict": pd.Series(verdicts, dtype=object)})
        frame["response"] = frame["verdict"].map(
            lambda verdict: None if verdict is None else "Oslo"
        )
        frame["example_id"] = [f"q{number}" for number in range(len(verdicts))]
        frames.append(frame.assign(system=system))
    return pd.concat(frames, ignore_index=True)


# ---- missing replies and missing labels ------------------------------------------------------------


def test_missing_replies_are_counted_as_right_and_as_wrong():
    # Without them 60/80 against 70/100, as right 80/100, and as wrong 60/100.
    frame = labelled(a=(60, 20, 20), b=(70, 30, 0))
    (finding,) = findings(frame, "missing replies")
    assert finding.effect == ORDER
    assert (
        "The best system by mean score (accepted by people) is a (0.750; b 0.700) without these rows, "
        "a (0.800; b 0.700) if all of them count as right, and b (0.700; a 0.600) if all of them count "
        "as wrong." in finding.sentence
    )


def test_the_best_system_rests_on_what_is_missing():
    """A reply without a verdict is a missing label, and does not enter the sentence about missing replies."""
    frame = labelled(a=(90, 8, 2), b=(30, 20, 50))
    of_b_without_verdict = (frame["system"] == "b") & frame["verdict"].isna()
    frame.loc[of_b_without_verdict, "response"] = "Oslo"
    (replies,) = findings(frame, "missing replies")
    assert replies.number == 2
    # The mean of b rests on its 50 verdicts. Those of a are 90/98, 92/100 and 90/100.
    assert "a (0.918; b 0.600) without these rows, a (0.920; b 0.600)" in replies.sentence
    assert replies.sentence.endswith(
        "a (0.900; b 0.600) if all of them count as wrong. So a is the best in any case."
    )
    assert replies.effect == SYSTEMS
    (labels,) = findings(frame, "missing labels")
    assert labels.number == 52
    assert (
        "b 50 of 100 (50.0%), a 2 of 100 (2.0%). 2 of these rows have no reply either."
        in labels.sentence
    )
    assert "50 of 100 questions have a value in all rows." in labels.sentence
    # As right 92/100 against 80/100, and as wrong 90/100 against 30/100.
    assert (
        "a (0.920; b 0.800) if all of them count as right, and a (0.900; b 0.300)"
        in labels.sentence
    )


def test_another_system_can_be_the_best_if_missing_values_differ_between_systems():
    # As right 80/100 against 79/100, as wrong 60/100 against 59/100; but b would lead by 79 to 60.
    frame = labelled(a=(60, 20, 20), b=(59, 21, 20))
    (finding,) = findings(frame, "missing replies")
    assert finding.effect == ORDER
    assert finding.sentence.endswith(
        "If those of a count as wrong and those of b count as right, it is b (0.790; a 0.600)."
    )


def test_equal_means_name_both_systems():
    frame = labelled(a=(60, 30, 10), b=(65, 35, 0))
    frame.loc[frame["system"] == "b", "verdict"] = [True] * 70 + [False] * 30
    # As right, both have 70/100.
    (finding,) = findings(frame, "missing replies")
    assert "b with the same mean as a (0.700) if all of them count as right" in finding.sentence


def test_missing_values_of_a_metric_of_which_lower_is_better():
    frame = labelled(a=(50, 50, 0), b=(50, 50, 0)).drop(columns="verdict")
    scores = frame.drop(columns="response").assign(metric="abstention.hallucination", signature="s")
    scores["value"] = [0.0] * 60 + [1.0] * 40 + [0.0] * 40 + [1.0] * 40 + [np.nan] * 20
    (finding,) = findings(frame, "missing labels", scores)
    # Rates of hallucinations: a 40/100; b 40/80, at best 40/100 and at worst 60/100.
    assert "a (0.400; b 0.500) without these rows" in finding.sentence
    assert "a with the same mean as b (0.400) if all of them get the best" in finding.sentence
    assert "a (0.400; b 0.600) if all of them get the worst" in finding.sentence
    # A score that the metric leaves out by definition is not missing.
    left_out = scores.assign(
        reason=np.where(scores["value"].isna(), "the question is answerable", None)
    )
    assert findings(frame, "missing labels", left_out) == []


def test_a_column_that_explains_missing_values_is_named_with_a_call_that_leaves_them_out():
    frame = labelled(a=(60, 30, 10), b=(60, 30, 10))
    # The missing rows are those of the last 10 questions, and one other question has the same value.
    number = frame["example_id"].str[1:].astype(int)
    frame["unusable"] = (number >= 90) | (number == 3)
    # A column of another kind, and one that has nothing to do with them.
    frame["usable_text"] = np.where(number >= 90, "no", "yes")
    frame["odd"] = number % 2 == 1
    missing = frame["verdict"].isna()
    why = explanation(Evidence(frame, None, 0.95), missing)
    assert why.sentence == (
        "All 20 rows have unusable = True, as do 2 of the other 180 rows. The next "
        "call leaves out these 22 rows."
    )
    (finding,) = findings(frame, "missing labels")
    assert finding.next_call == "ragnb.review(responses[~responses['unusable']])"
    result = eval(finding.next_call, {"ragnb": ragnb, "responses": frame})
    assert "missing labels" not in set(result.findings["check"])
    # The opposite column, with a missing value, so that its type is not bool.
    opposite = frame.drop(columns="unusable").assign(usable=(~frame["unusable"]).astype(object))
    opposite.loc[number == 5, "usable"] = None
    (finding,) = findings(opposite, "missing labels")
    assert finding.next_call == "ragnb.review(responses[~responses['usable'].isin([False])])"
    responses = opposite
    remaining = eval(finding.next_call.removeprefix("ragnb.review(")[:-1], {"responses": responses})
    assert remaining["example_id"].nunique() == 89
    # A nullable type, whose missing value is neither true nor false.
    nullable = opposite.astype({"usable": "boolean"})
    (finding,) = findings(nullable, "missing labels")
    assert finding.next_call == "ragnb.review(responses[~responses['usable'].isin([False])])"
    remaining = nullable[~nullable["usable"].isin([False])]
    assert remaining["example_id"].nunique() == 89


def test_a_column_that_differs_between_systems_explains_without_a_call():
    frame = labelled(a=(60, 20, 20), b=(70, 30, 0))
    frame["failed"] = frame["verdict"].isna()
    (finding,) = findings(frame, "missing replies")
    assert "All 20 rows have failed = True, and none of the other 180 rows." in finding.sentence
    assert finding.next_call == "ragnb.view(responses.loc[review.rows_of('missing replies')])"


def test_a_column_does_not_explain_missing_values_by_chance():
    """Over 300 studies with 5 random columns, none is named, although few values are missing."""
    rng = np.random.default_rng(2)
    frame = labelled(a=(48, 50, 2), b=(50, 50, 0))
    for _ in range(300):
        flags = {f"flag {number}": rng.random(200) < 0.2 for number in range(5)}
        evidence = Evidence(frame.assign(**flags), None, 0.95)
        assert explanation(evidence, frame["verdict"].isna()) is None


def test_verdicts_do_not_explain_missing_values():
    frame = labelled(a=(60, 20, 20), b=(70, 30, 0))
    frame["judge_verdict"] = frame["response"].isna()
    assert explanation(Evidence(frame, None, 0.95), frame["response"].isna()) is None


def test_the_missing_verdicts_and_replies_of_evouna():
    study = ragnb.load_study("evouna-nq")
    (labels,) = findings(study, "missing labels")
    assert labels.number == study["verdict"].isna().sum() == 2616
    assert "gpt4 582 of 3,610" in labels.sentence
    assert "chatgpt 446 of 3,610" in labels.sentence
    assert "2,615 of the 2,616 rows have improper = True" in labels.sentence
    assert labels.next_call == "ragnb.review(responses[~responses['improper']])"
    (replies,) = findings(study, "missing replies")
    assert replies.number == 508
    # Of newbing: 2,436 of 3,080 accepted, and 502 replies without a verdict.
    of_newbing = study[study["system"] == "newbing"]
    n_right, n_judged = (of_newbing["verdict"] == True).sum(), of_newbing["verdict"].notna().sum()  # noqa: E712
    n_open = (of_newbing["verdict"].isna() & of_newbing["response"].fillna("").eq("")).sum()
    as_right = (n_right + n_open) / (n_judged + n_open)
    as_wrong = n_right / (n_judged + n_open)
    assert f"newbing ({as_right:.3f}; gpt4 0.788) if all of them count as right" in replies.sentence
    assert f"gpt4 (0.788; newbing {as_wrong:.3f}) if all of them count as wrong" in replies.sentence
    (repeated,) = findings(study, "repeated questions")
    assert "different references (they are evouna/2671 and evouna/2705)" in repeated.sentence


# ---- other findings --------------------------------------------------------------------------------


def test_repeated_questions_with_the_same_references_are_counted_several_times():
    frame = study(np.random.default_rng(1), n=20)
    same = {"What is the answer to question 4?": "What is the answer to question 5?"}
    frame["question"] = frame["question"].replace(same)
    (finding,) = findings(frame, "repeated questions")
    assert "different references (they are q4 and q5)" in finding.sentence
    assert "several times" not in finding.sentence
    # An alias that both have is enough, in any case.
    is_q4 = frame["example_id"] == "q4"
    with_alias = [
        ["reference5", "Other"] if flag else text
        for flag, text in zip(is_q4, frame["references"], strict=True)
    ]
    (finding,) = findings(
        frame.assign(
            references=[[text] if isinstance(text, list) else text for text in with_alias]
        ),
        "repeated questions",
    )
    assert "different references" not in finding.sentence
    assert "count several times" in finding.sentence


def test_a_reference_within_a_longer_word_is_counted():
    frame = pd.DataFrame(
        {
            "response": ["In 2022, they won.", "It has 2 doors.", "The Osloers.", "Oslo, in 1925"],
            "references": ["2", "2", [["Oslo", "Kristiania"]], [["oslo"], "1925"]],
        }
    )
    assert _n_within_words(Evidence(frame, None, 0.95), pd.Series(True, frame.index)) == 2


def test_the_rule_for_refusals_changes_the_rates_of_hallucinations_of_nomiracl():
    english = ragnb.load_study("nomiracl").query("language == 'en'")
    result = review(english)
    # The worst first, although few replies are missing and many are echoes.
    assert result.findings["check"].tolist() == [
        "unreadable replies",
        "echoed prompts",
        "missing replies",
    ]
    unreadable = result.findings.iloc[0]
    assert unreadable["effect"] == ORDER
    rates = {
        rule: ragnb.abstention_report(english, rule=rule).set_index("system")["hallucination"]
        for rule in ("start", "nomiracl")
    }
    before, after = rates["start"], rates["nomiracl"]
    llama = "llama-2-13b-chat"
    assert f"{llama} {before[llama]:.3f} and {after[llama]:.3f};" in unreadable["finding"]
    n_reversed = sum(
        before[first] > before[second] and after[first] < after[second]
        for first in before.index
        for second in before.index
    )
    assert f"{n_reversed} of 55 pairs of systems change order" in unreadable["finding"]
    assert f"{llama} has more hallucinations than gpt-4-azure" in unreadable["finding"]
    assert (
        "339 contain both (see echoed prompts), 467 contain neither and 8 are blank"
        in unreadable["finding"]
    )
    assert len(result.rows_of("unreadable replies")) == 339 + 467 + 8
    # The scores that are named for the checks that need some.
    reason = result.not_made.set_index("check").loc["undecided order", "reason"]
    call = reason[reason.index("ragnb.review(") :]
    with_scores = eval(call, {"ragnb": ragnb, "responses": english})
    assert with_scores.main_metric == "abstention.alignment"
    assert "undecided order" in set(with_scores.findings["check"])


def test_unreadable_replies_that_change_no_order_affect_systems_differently():
    n = 40
    replies = {
        "a": ["I don't know."] * 30 + ["Yes, answer is present."] * 10,
        "b": ["I don't know."] * 20 + ["Yes, answer is present."] * 16 + ["Perhaps."] * 4,
    }
    frame = pd.concat(
        pd.DataFrame(
            {"example_id": range(n), "system": name, "response": texts, "answerable": False}
        )
        for name, texts in replies.items()
    )
    (finding,) = findings(frame, "unreadable replies")
    assert finding.effect == SYSTEMS
    # Of 40 unanswerable questions, b answers 20 by the default rule and 16 by that of NoMIRACL.
    assert "b 0.500 and 0.400" in finding.sentence
    assert finding.sentence.endswith("The order of the systems is the same.")
    (finding,) = findings(frame.assign(answerable=True), "unreadable replies")
    assert "there is no rate of hallucinations" in finding.sentence
    (finding,) = findings(frame.assign(answerable="perhaps"), "unreadable replies")
    assert "The rate of hallucinations cannot be computed" in finding.sentence
    assert finding.number == 4


def test_the_number_of_definitions_is_that_of_compare_definitions():
    frame = study(np.random.default_rng(1), n=150, shares=(0.85, 0.6))
    short = frame["system"] == "system 1"
    frame.loc[short, "response"] = frame.loc[short, "response"].str.extract(
        r"(Reference\d+|Other\d+)", expand=False
    )
    (finding,) = findings(frame, "order depends on the definition")
    result = ragnb.compare_definitions(frame, progress=False)
    n_definitions = len(result.definitions)
    n_without_values = sum("needs the column" not in reason for reason in result.left_out.values())
    assert finding.next_call == (
        f"ragnb.compare_definitions(responses)  # {n_definitions + n_without_values} definitions"
    )
    # The answers of system 1 are one word. Those of system 0 have 15 words and more.
    assert "the answers of system 1 are shorter (median 1 words; system 0" in finding.sentence


# ---- the printed result ----------------------------------------------------------------------------


def test_counts_of_many_systems_name_the_first_four():
    counts = {f"s{number}": (number, 10) for number in range(8)}
    assert counts_in_words(counts) == (
        "s7 7 of 10 (70.0%), s6 6 of 10 (60.0%), s5 5 of 10 (50.0%), s4 4 of 10 (40.0%), and 3 more "
        "systems with 6 together"
    )


def test_the_names_in_the_calls_are_defined_and_each_call_has_its_line():
    frame = labelled(a=(60, 20, 20), b=(70, 30, 0))
    lines = str(review(frame)).split("\n")
    assert "    Next: ragnb.view(responses.loc[review.rows_of('missing replies')])" in lines
    assert (
        "In these calls, responses is the frame that you reviewed, and review = ragnb.review(responses)."
        in lines
    )
    assert any(
        line.startswith("ragnb.view shows the rows in a notebook; in a terminal") for line in lines
    )
    scores = ragnb.score(frame, "annotator.verdict")
    text = " ".join(str(review(frame, scores)).split())
    assert "and review = ragnb.review(responses, scores)." in text
    assert "responses and scores are the frames that you passed" in text
    missing = scores.assign(value=scores["value"].where(scores.index > 3))
    of_scores = " ".join(str(review(missing.assign(metric="a.metric"))).split())
    assert (
        "responses and scores are both the frame that you reviewed, and review = ragnb.review(scores)."
        in of_scores
    )
    assert "ragnb.review(responses, scores)" in review(frame, scores)._repr_html_()


def test_the_calls_of_a_comparison_drop_questions_only_if_some_have_no_score():
    frame = study(np.random.default_rng(1), shares=(0.6, 0.6))
    (finding,) = findings(frame, "undecided order")
    assert "unpaired" not in finding.next_call
    assert "over 300 questions." in finding.sentence
    missing = frame.astype({"verdict": object})
    missing.loc[[1, 2, 301], "verdict"] = None
    (finding,) = findings(missing, "undecided order")
    assert "unpaired='drop'" in finding.next_call
    # Rows 1 and 301 are the same question.
    assert "over the 298 of 300 questions on which both have a score." in finding.sentence
    assert "Over all of their scores, " in finding.sentence
    eval(finding.next_call, {"ragnb": ragnb, "responses": missing})


def test_the_difference_of_the_best_two_has_a_sign_and_points():
    frame = study(np.random.default_rng(1), shares=(0.6, 0.6))
    (finding,) = findings(frame, "undecided order")
    means = frame.groupby("system")["verdict"].mean().sort_values(ascending=False)
    first, second = means.index
    difference = means[first] - means[second]
    assert (
        f"{first} minus {second} is {difference:.3f}, or {100 * difference:.1f} percentage points"
        in finding.sentence
    )
    assert "or more are found with 80% power" in finding.sentence
