"""The result of an error analysis, with numbers of statsmodels, scikit-learn and plain pandas."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from support.hostile import PAYLOADS
from support.labelling import opened, plain_frame

import ragnb
from ragnb.annotation import read_codebook
from ragnb.annotation.tag_report import _SCORE, ANY_TAG, _worst_and_typical
from ragnb.annotation.tasks import TASKS
from ragnb.errors import InputError

TAGS = ["echo", "refusal", "wrong name"]
# Rate of each tag, by system.
RATES = {"a": [0.5, 0.3, 0.1], "b": [0.1, 0.3, 0.05]}
N = 60
ID = ["example_id", "system"]


def made(n=N, seed=3, readers=("Ana", "Ben"), missed=0.1):
    """Responses of two systems to the same questions, and tags of two readers, the second of whom misses some."""
    rng = np.random.default_rng(seed)
    responses, labels = [], []
    for question in range(n):
        for system, rates in RATES.items():
            item = {"example_id": f"q{question}", "system": system}
            text = {"question": f"Q{question}?", "response": f"{system} says {question}"}
            responses.append(item | text | {"f1": round(rng.random(), 3)})
            tags = [tag for tag, rate in zip(TAGS, rates, strict=True) if rng.random() < rate]
            seen = [tag for tag in tags if rng.random() >= missed]
            for reader, given in zip(readers, (tags, seen), strict=False):
                labels.append(
                    {"item": f"q{question} | {system}", "annotator": reader, "task": "error_analysis",
                     "tags": given, "open_note": f"note on {question}" if given else None}
                )  # fmt: skip
    return pd.DataFrame(responses), pd.DataFrame(labels)


RESPONSES, LABELS = made()
REPORT = ragnb.error_report(RESPONSES, LABELS, id=ID)
ANA = LABELS[LABELS["annotator"] == "Ana"].reset_index(drop=True)


def has(tag, labels=ANA):
    """Whether each response has a tag, as a table of questions and systems."""
    values = labels["tags"].map(bool if tag == ANY_TAG else lambda tags: tag in tags)
    return RESPONSES.assign(value=values.to_numpy()).pivot(
        index="example_id", columns="system", values="value"
    )


@pytest.mark.parametrize("tag", [*TAGS, ANY_TAG])
@pytest.mark.parametrize("system", ["a", "b"])
def test_rates_are_those_of_pandas_with_the_intervals_of_statsmodels(tag, system):
    row = REPORT.rates.set_index(["tag", "system"]).loc[(tag, system)]
    count = int(has(tag)[system].sum())
    low, high = proportion_confint(count, N, method="wilson")
    assert (row["count"], row["n_scored"]) == (count, N)
    assert row[["mean", "low", "high"]].tolist() == pytest.approx([count / N, low, high])


def test_differences_are_paired_and_corrected_over_all_tags():
    compared = REPORT.comparisons.set_index("tag")
    p_values = []
    for tag in compared.index:
        values = has(tag)
        both = pd.crosstab(values["b"], values["a"]).reindex(
            index=[True, False], columns=[True, False], fill_value=0
        )
        assert compared.loc[tag, "difference"] == pytest.approx((values["b"] - values["a"].astype(float)).mean())  # fmt: skip
        exact = mcnemar(both.to_numpy(), exact=True).pvalue
        n_discordant = both.iloc[0, 1] + both.iloc[1, 0]
        least = min(both.iloc[0, 1], both.iloc[1, 0])
        # mid-p is the exact p-value without the probability of the observed table.
        from scipy.stats import binom

        mid = exact - binom.pmf(least, n_discordant, 0.5)
        assert compared.loc[tag, "p_value"] == pytest.approx(mid, abs=1e-9)
        p_values.append(mid)
    adjusted = multipletests(p_values, method="holm")[1]
    assert compared["p_adjusted"].to_numpy() == pytest.approx(adjusted, abs=1e-9)
    assert compared["n_pairs"].eq(N).all()
    bonferroni = ragnb.error_report(RESPONSES, LABELS, id=ID, correction="bonferroni", baseline="b")
    assert bonferroni.comparisons["p_adjusted"].to_numpy() == pytest.approx(
        np.minimum(1, 4 * np.array(p_values)), abs=1e-9
    )
    assert set(bonferroni.comparisons["baseline"]) == {"b"}


@pytest.mark.parametrize("tag", TAGS)
def test_agreement_on_each_tag_is_that_of_scikit_learn(tag):
    ratings = [
        LABELS.loc[LABELS["annotator"] == reader, "tags"].map(lambda tags: tag in tags)
        for reader in ("Ana", "Ben")
    ]
    rows = REPORT.agreement.query("tag == @tag").set_index("metric")
    first, second = (rating.to_numpy() for rating in ratings)
    kappa = rows.loc["Cohen's kappa"]
    assert kappa["mean"] == pytest.approx(cohen_kappa_score(first, second))
    assert kappa["low"] < kappa["mean"] <= kappa["high"]
    assert rows.loc["percent agreement", "mean"] == pytest.approx((first == second).mean())
    assert (kappa["n"], kappa["n_both"], kappa["n_either"]) == (
        2 * N, (first & second).sum(), (first | second).sum()
    )  # fmt: skip
    assert kappa["n_units"] == N, "the two answers to a question are not independent"


def test_the_worst_and_the_typical_case_with_a_score():
    report = ragnb.error_report(RESPONSES, LABELS, id=ID, score="f1")
    for tag in TAGS:
        rows = RESPONSES[ANA["tags"].map(lambda tags, tag=tag: tag in tags)]
        cases = report.cases.query("tag == @tag").set_index("case")
        worst = rows["f1"].idxmin()
        assert cases.loc["worst", "score"] == rows["f1"].min()
        assert cases.loc["worst", "response"] == RESPONSES.loc[worst, "response"]
        others = rows.drop(index=worst)
        nearest = (others["f1"] - rows["f1"].median()).abs().idxmin()
        assert cases.loc["typical", "response"] == RESPONSES.loc[nearest, "response"]
        assert cases.loc["worst", "open_note"].startswith("note on ")


def test_the_worst_and_the_typical_case_without_a_score():
    responses = plain_frame(5).assign(system="a")
    tags = [["x"], ["x", "y"], ["x", "y", "z"], ["x", "y"], ["z"]]
    labels = pd.DataFrame(
        {"item": responses["example_id"], "annotator": "Ana", "task": "error_analysis",
         "open_note": None, "tags": tags}
    )  # fmt: skip
    cases = ragnb.error_report(responses, labels, id="example_id").cases
    of_x = cases[cases["tag"] == "x"].set_index("case")["item"]
    # Mean F1 with the others: q/0 0.61, q/1 0.82, q/2 0.70, q/3 0.82.
    assert of_x.to_dict() == {"worst": "q/2", "typical": "q/1"}
    labels["tags"] = [["x"], [], [], [], []]
    alone = ragnb.error_report(responses, labels, id="example_id").cases
    assert alone[["tag", "case", "item"]].values.tolist() == [["x", "typical", "q/0"]]


def test_several_answers_to_a_question_are_one_cluster():
    responses, labels = made(20, readers=("Ana",))
    runs = []
    for repeat in (0, 1):
        runs.append(responses.assign(repeat=repeat))
    both = pd.concat(runs, ignore_index=True)
    all_labels = pd.concat(
        [labels.assign(item=labels["item"] + f" | {repeat}") for repeat in (0, 1)]
    )
    report = ragnb.error_report(both, all_labels, id=[*ID, "repeat"])
    of_clusters = report.rates["interval"].str.contains("20 clusters|Wilson over clusters")
    assert of_clusters.all()
    single = ragnb.error_report(responses, labels, id=ID)
    # The second run repeats the first, so nothing is known that was not known before.
    assert report.rates["mean"].tolist() == pytest.approx(single.rates["mean"].tolist())
    assert report.comparisons["n_clusters"].eq(20).all()
    assert report.comparisons["test"].str.contains("cluster").all()


def test_one_reader_and_one_system_get_their_sentences(tmp_path):
    session = opened(tmp_path / "ana.sqlite", plain_frame(4), "error_analysis")
    session.tag("echo")
    session.go("q/1")
    session.label("tags", [])
    session.go("q/2")
    session.label("open_note", "only a note")
    report = ragnb.error_report(plain_frame(4), session)
    assert report.sentence() == (
        "ana read 2 of 4 responses and found a failure in 1. The tag is 'echo' (1). One person read "
        "the responses, so nothing is known about how far another reader would agree."
    )
    assert report.comparisons.empty
    assert report.agreement.empty
    assert report.table().to_dict("records") == [
        {"tag": "echo", "responses": "1 of 2 (9% to 91%)"},
        {"tag": ANY_TAG, "responses": "1 of 2 (9% to 91%)"},
    ]
    session.rename_tag("echo", "echoed prompt")
    assert ragnb.error_report(plain_frame(4), session.log.path).codebook["tag"].tolist() == [
        "echoed prompt"
    ]
    session.close()


def test_what_the_sentence_says_is_what_the_numbers_say():
    text = REPORT.sentence()
    n_failed = int(ANA["tags"].map(bool).sum())
    assert text.startswith(f"Ana read 120 of 120 responses and found failures in {n_failed}. ")
    echo = has("echo")
    assert (
        f"b shows 'echo' less often than a, in {echo['b'].sum()} instead of {echo['a'].sum()} of 60 questions."
        in text
    )
    assert "'refusal' less often" not in text
    assert "'refusal' more often" not in text
    assert "after Holm's correction for several tests." in text


def test_second_readers_who_read_other_items_and_other_spellings():
    labels = LABELS.copy()
    is_ben = labels["annotator"] == "Ben"
    labels.loc[is_ben, "tags"] = labels.loc[is_ben, "tags"].map(
        lambda tags: [tag.upper() for tag in tags]
    )
    labels = labels[~(is_ben & labels["item"].str.contains("q[1-5]"))]
    report = ragnb.error_report(RESPONSES, labels, id=ID)
    assert report.codebook["tag"].tolist() == REPORT.codebook["tag"].tolist()
    n = int((labels["annotator"] == "Ben").sum())
    assert set(report.agreement["n"]) == {n}
    assert report.rates.equals(REPORT.rates)
    three = pd.concat([LABELS, LABELS[is_ben].assign(annotator="Cy")])
    pairs = ragnb.error_report(RESPONSES, three, id=ID).agreement["pair"]
    assert list(pairs.unique()) == ["Ana - Ben", "Ana - Cy", "all"]


def test_hostile_names_are_text_everywhere(tmp_path):
    names = PAYLOADS[:12]
    labels = ANA.assign(tags=[[names[i % 12]] if i % 3 else [] for i in range(len(ANA))])
    report = ragnb.error_report(RESPONSES.assign(question=PAYLOADS[0]), labels, id=ID)
    page = report._repr_html_()
    for payload in PAYLOADS:
        if "<" in payload:
            assert payload not in page
    assert len(repr(report)) > 1000
    labels = ANA.assign(tags=[["answer.f1"] if i % 2 else [] for i in range(len(ANA))])
    report = ragnb.error_report(RESPONSES, labels, id=ID)
    assert report.rates["tag"].tolist()[0] == "answer.f1"


def test_the_figure_shows_each_rate_with_its_interval(tmp_path):
    ax = ragnb.plot(REPORT, save=tmp_path / "errors")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == REPORT.rates[
        "tag"
    ].unique().tolist()
    assert ax.get_xlabel() == "share of the responses read"
    assert "Wilson" in ax.get_title(loc="left") + ax.figure.texts[0].get_text()
    assert "tags by Ana" in ax.figure.texts[0].get_text(), "the tags are one person's opinion"
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (ANA.assign(tags=None), {}, "at least one response with tags, .* got none by 'Ana'"),
        (ANA.assign(task="verdict", verdict="correct"), {}, "a field of tags, .* got 'verdict'"),
        (ANA, {"score": "response"}, "response"),
        (ANA, {"score": "bleu"}, "bleu"),
        (ANA, {"cluster": "topic"}, "topic"),
        (ANA, {"id": "example_id"}, "ids of items must be unique"),
        (ANA.assign(item="x"), {}, "1 labelled items are not in the frame: 'x'"),
        ([ANA, ANA], {}, "one log per person, got two of 'Ana'"),
        (ANA, {"correction": "none"}, "correction"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_a_sentence(labels, options, message):
    with pytest.raises(InputError, match=message):
        ragnb.error_report(RESPONSES, labels, **{"id": ID, **options})


def test_a_codebook_frame_of_the_report_starts_another_reader(tmp_path):
    other = opened(
        tmp_path / "c.sqlite", plain_frame(1), "error_analysis", codebook=REPORT.codebook
    )
    assert read_codebook(other)["tag"].tolist() == REPORT.codebook["tag"].tolist()
    other.close()


@pytest.mark.parametrize("scores", [[np.nan, 0.5], [0.5, np.nan], [np.nan, 0.5, np.nan]])
def test_a_response_without_a_score_is_not_typical_if_others_have_one(scores):
    rows = pd.DataFrame({"tags": [["a"]] * len(scores), _SCORE: scores})
    assert _worst_and_typical(rows, TASKS["error_analysis"].field("tags"), "tags") == {
        "worst": int(np.nanargmin(scores))
    }
