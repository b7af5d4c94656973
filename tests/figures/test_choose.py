"""One call from a result to its figure: which figure, and what it shows."""

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.figures import plot, save_plot


def scores(metrics=("answer.f1", "answer.exact_match", "answer.contains"), **columns):
    """Scores of two systems on eight questions."""
    rows = [
        {"example_id": f"q{n}", "system": system, "metric": metric, "value": (n + k) % 3 / 2}
        for n in range(8)
        for system in ("plain", "ours")
        for k, metric in enumerate(metrics)
    ]
    return pd.DataFrame(rows).assign(signature="ragnb:0|metric:m", reason=None, **columns)


def labels(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()][::-1]


def drawn(ax):
    return [container.lines[0].get_xdata().tolist() for container in ax.containers]


def test_scores_of_two_systems_and_three_metrics_are_means_by_metric_and_system():
    given = scores()
    ax = plot(given)
    assert labels(ax) == ["answer.f1", "answer.exact_match", "answer.contains"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["plain", "ours"]
    means = ragnb.summarize(given)
    for system, points in zip(("plain", "ours"), drawn(ax), strict=True):
        assert points == means.loc[means["system"] == system, "mean"].tolist()
    assert drawn(plot(means)) == drawn(ax)


def test_comparisons_of_three_metrics_have_a_panel_for_each():
    comparisons = ragnb.compare(scores(), baseline="plain")
    axes = plot(comparisons)
    assert len(axes) == 3
    for ax, metric in zip(axes, comparisons["metric"], strict=True):
        assert metric in ax.get_xlabel()
    one = plot(comparisons[comparisons["metric"] == "answer.f1"])
    assert one.get_xlabel() == "difference in answer.f1: first - second"


def test_a_metric_that_is_no_share_has_a_panel_and_a_scale_of_its_own():
    both = pd.concat([scores(("answer.f1",)), scores(("cost.translation_tokens",))])
    both["value"] *= np.where(both["metric"] == "answer.f1", 1, 100)
    shares, tokens = plot(both)
    assert shares.get_xlim() == (-0.02, 1.02)
    assert tokens.get_xlim()[1] > max(map(max, drawn(tokens)))
    assert tokens.get_xlabel() == "mean of cost.translation_tokens"


def test_several_noise_rates_become_curves():
    rates = [scores(("rgb.accuracy",), noise_rate=rate) for rate in (0.0, 0.4, 0.8)]
    ax = plot(pd.concat(rates))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("noise rate", "mean of rgb.accuracy")
    assert len(ax.containers) == 2
    languages = [frame.assign(language=code) for frame in rates for code in ("en", "zh")]
    ax = plot(pd.concat(languages))
    names = {text.get_text() for text in ax.texts}
    assert names == {"plain, en", "ours, en", "plain, zh", "ours, zh"}


def test_definitions_and_reports_are_drawn():
    said = ["Insufficient information. Oslo.", "Oslo", "Rome", "I cannot say."]
    frame = pd.DataFrame({"example_id": list("abcd"), "response": said, "references": "Oslo"})
    compared = ragnb.compare_definitions(frame.assign(system="ours"), "rgb.accuracy")
    assert labels(plot(compared)) == ["paper", "released", "flexible"]
    columns = {"language": "en", "task": "noise", "passage_num": 5, "system": "ours"}
    noisy = [frame.assign(noise_rate=rate, **columns) for rate in (0.0, 0.8)]
    assert plot(ragnb.rgb_report(pd.concat(noisy))).get_xlabel() == "noise rate"


def test_a_figure_is_saved_in_the_format_of_its_name(tmp_path):
    assert save_plot(scores(), tmp_path / "new" / "mine.svg").read_bytes()[:4] == b"<?xm"


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"a figure must end in \.pdf, \.svg, \.png, got 'a\.jpg'"):
        save_plot(scores(), "a.jpg")
    with pytest.raises(InputError, match="plot needs the columns metric"):
        plot(pd.DataFrame({"response": ["a"]}))
    with pytest.raises(InputError, match="plot needs scores, summaries or comparisons"):
        plot(pd.DataFrame({"metric": ["a"]}))


def test_a_report_on_trace_has_a_figure():
    of_trace = ragnb.trace_report(ragnb.load_ragbench("sample-ragbench"))
    assert labels(plot(of_trace)) == of_trace.results["metric"].unique().tolist()


def test_grades_and_agreement_have_a_figure():
    turns = ragnb.load_study("mtrag")
    judges = ["mtrag.rb_llm", "mtrag.RougeL"]
    report = ragnb.graded_report(turns, judge=judges, label="human_faithfulness")
    ax = plot(report)
    assert labels(ax) == judges
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "Spearman",
        "tau-b",
        "tau-AP",
    ]
    assert drawn(ax)[0] == report.query("metric == 'Spearman'")["mean"].tolist()
    by_grade = ragnb.reports.scores_by_grade(turns, judge=judges[0], label="human_faithfulness")
    assert plot(by_grade).get_xlabel() == "people's grade (human_faithfulness)"
    found = ragnb.agreement(ragnb.load_study("mtrag", "labels").head(90), cluster="conversation_id")
    ax = plot(found)
    everyone = found[found["pair"] == "all"]
    assert labels(ax) == everyone["field"].unique().tolist()
    assert drawn(ax)[0] == everyone.query("metric == 'ordinal alpha'")["mean"].tolist()
    assert ax.get_title(loc="left").count("fewer than 30") == 1


def test_a_metric_that_is_not_bounded_by_0_and_1_is_readable_even_if_its_values_are_small():
    both = pd.concat([scores(("answer.f1",)), scores(("cost.cnbe",))])
    both["value"] *= np.where(both["metric"] == "cost.cnbe", 0.004, 1)
    shares, efficiency = plot(both)
    assert shares.get_xlim() == (-0.02, 1.02)
    low, high = efficiency.get_xlim()
    largest = max(map(max, drawn(efficiency)))
    assert low < largest < high < 10 * largest


def test_metrics_of_a_multilingual_report_without_any_value_have_no_row_and_no_panel():
    replies = {n: "12" if n % 8 == 0 else "Oslo" if n % 2 else "Осло" for n in range(48)}
    rows = [
        {"example_id": f"q{n}/{language}", "question_id": f"q{n}", "language": language}
        | {"system": system, "references": "Oslo", "response": reply}
        for n, reply in replies.items()
        for language in ("en", "de")
        for system in ("direct", "ours")
    ]
    # Cost and CNBE need a column of tokens, and the similarity needs a judge.
    ax = plot(ragnb.multilingual_report(pd.DataFrame(rows)))
    assert labels(ax) == ["answer.exact_match", "answer.f1", "language.rlc", "language.rlc_ok"]
    # Six replies are numbers, which are in no language.
    note = "95 % cluster-robust t, 42–48 clusters intervals, n = 84–96"
    assert ax.get_title(loc="left") == note
