"""One call from a result to its figure: which figure, and what it shows."""

import json
from itertools import combinations, pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.path import Path
from support.drawn import dots, names, row_labels, small_print

import ragnb
from ragnb.errors import InputError
from ragnb.figures import plot, save_plot
from ragnb.figures.page import PEOPLE, contrast
from ragnb.metrics import PROTOCOLS
from ragnb.stats.prediction import reliability_curve


def scores(metrics=("answer.f1", "answer.exact_match", "answer.contains"), **columns):
    """Scores of two systems on eight questions."""
    rows = [
        {"example_id": f"q{n}", "system": system, "metric": metric, "value": (n + k) % 3 / 2}
        for n in range(8)
        for system in ("plain", "ours")
        for k, metric in enumerate(metrics)
    ]
    return pd.DataFrame(rows).assign(signature="ragnb:0|metric:m", reason=None, **columns)


def test_scores_of_two_systems_and_three_metrics_are_means_by_metric_and_system():
    frame = scores()
    ax = plot(frame, names={"plain": "Plain", "ours": "Our system"})
    assert row_labels(ax) == ["token F1", "exact match", "contains the reference"]
    assert set(names(ax)) == {"Plain", "Our system"}
    means = ragnb.summarize(frame)
    for system, places in zip(("plain", "ours"), dots(ax), strict=True):
        assert places == means.loc[means["system"] == system, "mean"].tolist()
    assert dots(plot(means)) == dots(ax)


@pytest.mark.parametrize(
    ("width", "inches"), [("column", 7.7 / 2.54), ("text", 16 / 2.54), ("neurips", 5.5), (4, 4)]
)
def test_a_figure_is_as_wide_as_asked_and_nothing_is_smaller_than_6_5_points(width, inches):
    figure = plot(scores(), width=width, title="A title that fills more than one line of it").figure
    figure.draw_without_rendering()
    assert figure.get_figwidth() == pytest.approx(inches)
    texts = [text for text in figure.findobj(mpl.text.Text) if text.get_text()]
    assert min(text.get_fontsize() for text in texts) >= 6.5
    drawn = figure.get_tightbbox()
    assert drawn.x0 >= -0.01
    assert drawn.x1 <= inches + 0.01


def test_coloured_text_has_enough_contrast():
    """WCAG 2.2 asks for 4.5:1."""
    ax = plot(scores(("answer.f1",)).assign(language=["a", "b", "c", "d"] * 4))
    for text in ax.figure.findobj(mpl.text.Text):
        if text.get_text():
            assert contrast(text.get_color()) >= 4.5


def test_the_small_print_has_intervals_n_and_the_definition():
    frame = scores().assign(signature="ragnb:0|metric:m|variant:squad|lang:en")
    assert small_print(plot(frame, title="Ours wins")) == (
        "Ours wins 95 % t intervals, n = 8; variant squad"
    )


def test_people_have_one_look_in_all_figures():
    people = scores(("answer.f1", "annotator.verdict")).query("system == 'ours'")
    more = pd.concat([people.assign(system=f"s{n}") for n in range(6)])
    ax = plot(more)
    colours = [
        to_hex(dots.get_facecolor()[0]) for dots in ax.collections if dots.get_offsets().size > 2
    ]
    assert PEOPLE in colours


def test_comparisons_of_shares_are_rows_of_one_figure():
    comparisons = ragnb.compare(scores(), baseline="plain")
    ax = plot(comparisons, names={"ours": "Ours"})
    assert row_labels(ax) == ["token F1", "exact match", "contains the reference"]
    assert ax.get_xlabel() == "difference Ours − plain"
    drawn = [line.get_xdata() for line in ax.lines if line.get_marker() == "o"]
    assert sorted(np.concatenate(drawn)) == pytest.approx(sorted(comparisons["difference"]))
    one = plot(comparisons[comparisons["metric"] == "answer.f1"])
    assert one.get_xlabel() == "token F1 (difference ours − plain)"


def test_a_difference_is_filled_only_if_its_adjusted_p_value_is_small():
    comparisons = ragnb.compare(scores(), baseline="plain").head(2).copy()
    comparisons["p_adjusted"] = [0.01, 0.2]
    ax = plot(comparisons)
    fills = [line.get_markerfacecolor() for line in ax.lines if line.get_marker() == "o"]
    assert sorted(fill == "white" for fill in fills) == [False, True]


def test_a_metric_that_is_no_share_has_a_panel_and_a_scale_of_its_own():
    both = pd.concat([scores(("answer.f1",)), scores(("cost.translation_tokens",))])
    both["value"] *= np.where(both["metric"] == "answer.f1", 1, 100)
    shares, tokens = plot(both)
    assert shares.get_xlim()[1] <= 1.02
    assert tokens.get_xlim()[1] > max(map(max, dots(tokens)))
    assert tokens.get_xlabel() == "mean, lower is better"


def test_several_noise_rates_become_curves():
    rates = [scores(("rgb.accuracy",), noise_rate=rate) for rate in (0.0, 0.4, 0.8)]
    published = ragnb.published("rgb.noise_robustness").query("language == 'en'")
    ax = plot(pd.concat(rates), published=published)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("noise rate", "accuracy (mean)")
    assert {"plain", "ours", *published["system"]} == set(names(ax))
    assert "grey: published results, n = 300" in small_print(ax)
    languages = [frame.assign(language=code) for frame in rates for code in ("en", "zh")]
    ax = plot(pd.concat(languages))
    languages = ("English", "Chinese")
    assert set(names(ax)) == {
        f"{system}, {name}" for system in ("plain", "ours") for name in languages
    }


def test_definitions_and_reports_are_drawn():
    replies = ["Insufficient information. Oslo.", "Oslo", "Rome", "I cannot say."]
    frame = pd.DataFrame({"example_id": list("abcd"), "response": replies, "references": "Oslo"})
    compared = ragnb.compare_definitions(frame.assign(system="ours"), "rgb.accuracy")
    assert row_labels(plot(compared)) == [*PROTOCOLS]
    columns = {"language": "en", "task": "noise", "passage_num": 5, "system": "ours"}
    noisy = [frame.assign(noise_rate=rate, **columns) for rate in (0.0, 0.8)]
    assert plot(ragnb.rgb_report(pd.concat(noisy))).get_xlabel() == "noise rate"


def test_ranks_follow_the_means_and_the_direction_of_each_metric():
    rows = [
        ("a", "answer.f1", 0.9), ("b", "answer.f1", 0.5), ("c", "answer.f1", 0.5),
        ("a", "cost.translation_tokens", 9.0), ("b", "cost.translation_tokens", 1.0), ("c", "cost.translation_tokens", 5.0),
    ]  # fmt: skip
    means = pd.DataFrame(rows, columns=["system", "metric", "mean"])
    means = means.assign(low=0.0, high=1.0, n=10, interval="t", confidence_level=0.95)
    ax = plot(means, kind="ranks")
    lines = {tuple(line.get_ydata()) for line in ax.lines}
    # a is first by F1 and last by cost, because fewer tokens are better; b and c tie by F1.
    assert lines == {(1, 3), (2.5, 1), (2.5, 2)}
    with pytest.raises(InputError, match="at least 2 systems and 2 metrics or definitions"):
        plot(means[means["system"] == "a"], kind="ranks")


def test_a_plane_has_two_metrics_and_marks_the_better_corner():
    ax = plot(scores(("answer.f1", "cost.translation_tokens")), kind="plane")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("token F1", "translated tokens")
    assert "better\N{NO-BREAK SPACE}↘" in names(ax)
    with pytest.raises(InputError, match="needs the means of 2 metrics"):
        plot(scores(), kind="plane")


def test_a_report_on_abstention_is_a_plane():
    report = ragnb.abstention_report(ragnb.load_study("nomiracl").query("language == 'en'"))
    ax = plot(report)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("over-refusal", "hallucination rate")
    assert set(report["system"]) < set(names(ax))
    places = sorted(x for places in dots(ax) for x in places)
    assert places == pytest.approx(sorted(report["over_refusal"]))


def test_lines_from_names_to_points_do_not_cross():
    """The eleven models of NoMIRACL in English, most of them in one corner."""
    study = ragnb.load_study("nomiracl").query("language == 'en'")
    endings = "-azure|-chat|-Instruct-v0.."
    study = study.assign(system=study["system"].str.replace(endings, "", regex=True))
    report = ragnb.abstention_report(study, rule="nomiracl")
    often = report[report["invalid"] > 0.3].set_index("system")["invalid"]
    named = {system: f"{system}, {share:.0%} invalid" for system, share in often.items()}
    ax = plot(report, names=named, title="A title that fills more than one line of the figure")
    lines = [Path(line.get_xydata()) for line in ax.lines if len(line.get_xdata()) == 2]
    assert len(lines) >= 3
    for first, second in combinations(lines, 2):
        assert not first.intersects_path(second, filled=False)


def test_areas_are_the_numbers_of_questions_with_each_outcome():
    right = {"plain": [1, 1, 1, 0, 0, 0, 0, 0], "ours": [1, 1, 0, 1, 1, 1, 0, 0]}
    frame = scores(("annotator.verdict",))
    frame["value"] = [right[row.system][int(row.example_id[1:])] for row in frame.itertuples()]
    ax = plot(frame, kind="outcomes")
    areas = [round(8 * patch.get_width() * patch.get_height(), 6) for patch in ax.patches]
    assert areas == [2, 1, 3, 2]  # both, only plain, only ours, none
    with pytest.raises(InputError, match="2 systems under 1 metric"):
        plot(scores(), kind="outcomes")
    with pytest.raises(InputError, match="scores of 0 and 1"):
        plot(frame.assign(value=0.5), kind="outcomes")


def test_a_distribution_has_the_share_of_scores_in_each_class():
    axes = plot(scores(("answer.f1",)), kind="distribution", reference={"half": 0.5})
    assert len(axes) == 2
    for ax in axes:
        assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1)
    with pytest.raises(InputError, match="scores of one metric, got 3"):
        plot(scores(), kind="distribution")


def test_the_reliability_of_probabilities_is_drawn_with_intervals():
    rng = np.random.default_rng(1)
    predicted = rng.random(400)
    curve = reliability_curve(rng.random(400) < predicted, predicted)
    ax = plot(curve)
    (points,) = ax.containers
    assert points.lines[0].get_ydata() == pytest.approx(curve["observed"].to_numpy())
    assert "n = 400 in 10 bins" in small_print(ax)


def test_a_figure_is_saved_in_the_format_of_its_name(tmp_path):
    assert save_plot(scores(), tmp_path / "new" / "mine.svg").read_bytes()[:4] == b"<?xm"


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"a figure must end in \.pdf, \.svg, \.png, got 'a\.jpg'"):
        save_plot(scores(), "a.jpg")
    with pytest.raises(
        InputError, match="plot needs scores, got responses; call ragnb.score first"
    ):
        plot(pd.DataFrame({"response": ["a"]}))
    with pytest.raises(InputError, match="plot needs scores, summaries or comparisons"):
        plot(pd.DataFrame({"metric": ["a"]}))


def test_a_report_on_trace_has_a_figure():
    of_trace = ragnb.trace_report(ragnb.load_ragbench("sample-ragbench"))
    axes = np.ravel(plot(of_trace))
    rows = [label for ax in axes for label in row_labels(ax)]
    assert len(rows) == of_trace.results["metric"].nunique()


def test_grades_and_agreement_have_a_figure():
    turns = ragnb.load_study("mtrag")
    judges = ["mtrag.rb_llm", "mtrag.RougeL"]
    report = ragnb.graded_report(turns, judge=judges, label="human_faithfulness")
    ax = plot(report, names={"mtrag.rb_llm": "LLM judge"})
    assert row_labels(ax) == ["LLM judge", "mtrag.RougeL"]
    assert set(names(ax)) == {"Spearman", "tau-b", "tau-AP"}
    assert dots(ax)[0] == report.query("metric == 'Spearman'")["mean"].tolist()
    by_grade = ragnb.reports.scores_by_grade(turns, judge=judges[0], label="human_faithfulness")
    ax = plot(by_grade)
    assert ax.get_xlabel() == "people's grade (human_faithfulness)"
    assert "Spearman" in small_print(ax)


def test_agreement_is_a_row_for_each_field_or_a_matrix_of_people():
    labels = ragnb.load_study("mtrag", "labels").head(90)
    table = ragnb.agreement(labels, cluster="conversation_id")
    ax = plot(table)
    everyone = table[table["pair"] == "all"]
    fields = everyone["field"].unique().tolist()
    assert row_labels(ax) == [name.replace("_", " ") for name in fields]
    assert dots(ax)[0] == everyone.query("metric == 'ordinal alpha'")["mean"].tolist()
    assert small_print(ax).count("fewer than 30") == 1
    pairs = table[(table["field"] == fields[0]) & (table["metric"] == "ordinal alpha")]
    ax = plot(pairs, kind="matrix")
    written = sorted(text.get_text() for text in ax.texts)
    one_of_two = pairs[pairs["pair"] != "all"].drop_duplicates("pair").dropna(subset="mean")
    assert written == sorted(
        f"{row.mean:.2f}\n{row.n}" for row in one_of_two.itertuples(index=False)
    )
    with pytest.raises(InputError, match="needs one field"):
        plot(table, kind="matrix")


def test_a_metric_that_is_not_bounded_by_0_and_1_is_readable_even_if_its_values_are_small():
    both = pd.concat([scores(("answer.f1",)), scores(("cost.cnbe",))])
    both["value"] *= np.where(both["metric"] == "cost.cnbe", 0.004, 1)
    _, efficiency = plot(both)
    low, high = efficiency.get_xlim()
    largest = max(map(max, dots(efficiency)))
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
    assert row_labels(ax) == ["exact match", "token F1", "RLC", "RLC OK"]
    # Six replies are numbers, which are in no language.
    assert small_print(ax).startswith("95 % cluster-robust t intervals, 42–48 clusters, n = 84–96")


def test_a_figure_is_saved_with_its_numbers_in_its_own_size(tmp_path):
    frame = scores(("answer.f1",))
    ax = plot(frame, save=tmp_path / "figure", note="made up")
    saved = json.loads((tmp_path / "figure.json").read_text())
    assert saved["note"] == "made up"
    means = [row["mean"] for row in saved["numbers"]]
    assert means == pytest.approx(ragnb.summarize(frame)["mean"].tolist(), abs=1e-6)
    height, width, _ = plt.imread(tmp_path / "figure.png").shape
    inches = ax.figure.get_size_inches()
    assert [width / 200, height / 200] == pytest.approx(inches, abs=0.01)
    assert (tmp_path / "figure.pdf").exists()
    assert (tmp_path / "figure.svg").exists()


def test_an_unknown_width_or_kind_is_refused():
    with pytest.raises(InputError, match="width must be a number of inches or one of 'column'"):
        plot(scores(), width="columns")
    with pytest.raises(InputError, match="kind must be one of 'means', 'curves'"):
        plot(scores(), kind="bars")


@pytest.mark.parametrize("n_systems", [1, 2, 5, 9])
def test_many_systems_are_readable(n_systems):
    """No two texts overlap, and none lies on a dot of another series."""
    frames = [scores(("answer.f1", "answer.contains")).query("system == 'ours'")] * n_systems
    frame = pd.concat([part.assign(system=f"system {n}") for n, part in enumerate(frames)])
    ax = plot(frame)
    ax.figure.draw_without_rendering()
    texts = [
        text for text in ax.findobj(mpl.text.Text) if text.get_text().strip() and text.get_visible()
    ]
    boxes = [text.get_window_extent().padded(-1) for text in texts]
    for place, box in enumerate(boxes):
        assert not box.count_overlaps(boxes[place + 1 :]), texts[place]


def test_rows_and_series_are_chosen_or_named():
    rates = ragnb.summarize(scores(("answer.f1",)))
    both = pd.concat([rates.assign(questions="one part"), rates.assign(questions="two parts")])
    ax = plot(both)  # the column of text distinguishes the rows
    assert row_labels(ax) == ["one part", "two parts"]
    ax = plot(both, rows="system", series="questions")
    assert row_labels(ax) == ["plain", "ours"]
    assert set(names(ax)) == {"one part", "two parts"}
    with pytest.raises(InputError, match="plot needs one mean for each system, got several"):
        plot(both, rows="system")
    with pytest.raises(InputError, match="plot needs the columns sytem"):
        plot(both, rows="sytem")


@pytest.mark.parametrize("kind", ["means", "curves", "plane"])
def test_a_mean_without_an_interval_keeps_its_dot(kind):
    """Such as a cost of 0 in every row."""
    rates = ragnb.summarize(scores(("answer.f1", "answer.contains"), noise_rate=0.0))
    rates = pd.concat([rates, rates.assign(noise_rate=0.4)] if kind == "curves" else [rates])
    rates = rates[rates["metric"] == "answer.f1"] if kind == "curves" else rates
    rates.loc[rates["system"] == "ours", ["low", "high"]] = np.nan
    ax = plot(rates, kind=kind)
    assert sum(map(len, dots(ax))) == (2 if kind == "plane" else 4)


@pytest.mark.parametrize("kind", ["means", "curves", "plane"])
def test_means_that_are_all_undefined_leave_empty_axes(kind):
    rates = ragnb.summarize(scores(("answer.f1", "answer.contains"), noise_rate=0.0))
    rates[["mean", "low", "high"]] = np.nan
    if kind == "curves":
        rates = rates[rates["metric"] == "answer.f1"]
        rates = pd.concat([rates, rates.assign(noise_rate=0.4)])
    ax = plot(rates, kind=kind)
    assert not any(dots(ax))


def test_an_option_that_a_figure_does_not_have_is_refused_and_not_ignored():
    comparisons = ragnb.compare(scores(), baseline="plain")
    with pytest.raises(InputError, match="the figure of this result has no reference="):
        plot(comparisons, reference=0.1)
    with pytest.raises(InputError, match="a figure of the kind 'ranks' has no published="):
        plot(scores(), kind="ranks", published=ragnb.published("rgb.noise_robustness"))


def test_the_small_print_of_abstention_has_the_level_and_kind_of_the_report():
    english = ragnb.load_study("nomiracl").query("language == 'en'")
    ax = plot(ragnb.abstention_report(english, confidence_level=0.9))
    assert small_print(ax).startswith("90 % Wilson intervals, n = ")


def test_curves_are_drawn_along_any_column_of_numbers():
    lengths = [scores(("answer.f1", "answer.contains"), words=words) for words in (1, 2, 6)]
    frame = pd.concat(lengths).query("system == 'ours'")
    means = ragnb.summarize(frame, by="words")
    words = {"words": "words of the answer", 6: "6 or more"}
    ax = plot(means, along="words", names=words)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("words of the answer", "mean")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "6 or more"]
    assert names(ax) == ["token F1", "contains the reference"]
    with pytest.raises(InputError, match="along= needs a column of numbers, got 'metric'"):
        plot(means, along="metric")
    with pytest.raises(InputError, match="needs one mean for each system and words, got several"):
        plot(means.assign(system="ours"), along="words", series="system")


def test_curves_show_the_bounds_that_unscored_responses_leave():
    frame = scores(("annotator.verdict",)).query("system == 'ours'").assign(value=1.0)
    lossy = frame.assign(value=[None] * 4 + [1.0] * 4, reason=["HTTP 500"] * 4 + [None] * 4)
    means = [ragnb.summarize(frame), ragnb.summarize(lossy)]
    table = pd.concat(
        [part.assign(missing=share) for part, share in zip(means, (0, 50), strict=True)]
    )
    ax = plot(table, along="missing")
    (band,) = [area for area in ax.collections if isinstance(area, PolyCollection)]
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
    # Of eight responses, four are right and four are missing.
    assert {(0, 1), (50, 0.5), (50, 1)} <= corners
    assert "bounds if all unscored were wrong, or all right" in small_print(ax)
    assert "bounds" not in small_print(plot(table.head(1), along="missing"))


def test_many_steps_have_a_band_instead_of_intervals():
    means = ragnb.summarize(scores(("answer.f1",)).query("system == 'ours'"))
    many = pd.concat([means.assign(price=price) for price in range(20)])
    ax = plot(many, along="price")
    (band,) = ax.patches
    heights = band.get_xy()[:, 1]
    assert [heights.min(), heights.max()] == pytest.approx([means["low"][0], means["high"][0]])


def test_definitions_of_several_metrics_have_panels_with_names_of_their_own():
    rules = {"answer.f1": ["squad", "unicode"], "answer.contains": ["lbrag", "triviaqa"]}
    rates = pd.concat(
        ragnb.summarize(scores((metric,))).assign(definition=definition)
        for metric, definitions in rules.items()
        for definition in definitions
    )
    axes = plot(rates, series="definition")
    assert [set(names(ax)) for ax in axes] == [{"squad", "unicode"}, {"lbrag", "triviaqa"}]
    assert [ax.get_xlabel() for ax in axes] == ["token F1 (mean)", "contains the reference (mean)"]
    assert [row_labels(ax) for ax in axes] == [["plain", "ours"]] * 2
    assert axes[0].get_xlim() == axes[1].get_xlim()
    ax = plot(rates, rows="system", series="definition")  # in the same rows
    assert row_labels(ax) == ["plain", "ours"]
    assert len(dots(ax)) == 4


def test_means_that_somebody_computed_need_no_metric_and_no_interval():
    mine = pd.DataFrame({"judge": ["a rule", "a model"], "mean": [0.5, 0.7], "n": 40})
    ax = plot(mine, names={"mean": "labels that the judge saves"})
    assert row_labels(ax) == ["a rule", "a model"]
    assert dots(ax) == [[0.5, 0.7]]
    assert ax.get_xlabel() == "labels that the judge saves"
    assert small_print(ax) == "no intervals, n = 40"
    limits = {"low": [0.4, 0.6], "high": [0.6, 0.8], "interval": "t", "confidence_level": 0.9}
    assert small_print(plot(mine.assign(**limits))) == "90 % t intervals, n = 40"


def test_a_name_for_the_mean_replaces_that_of_the_only_metric():
    """It would not distinguish the panels of several metrics."""
    names = {"mean": "share of answers"}
    rates = ragnb.summarize(scores(("answer.f1",)))
    assert plot(rates, names=names).get_xlabel() == "share of answers"
    curve = rates.assign(noise_rate=0.0)
    assert plot(curve, along="noise_rate", names=names).get_ylabel() == "share of answers"
    both = pd.concat([rates, rates.assign(metric="cost.translation_tokens", mean=40.0, high=50.0)])
    labels = [ax.get_xlabel() for ax in plot(both, rows=["system", "metric"], names=names)]
    assert "share of answers" not in labels


def test_many_kinds_of_intervals_are_counted_and_not_named():
    kinds = ["t", "Wilson", "Tango", "jackknife t"]
    frame = pd.DataFrame({"system": kinds, "mean": 0.5, "low": 0.4, "high": 0.6, "n": 40})
    frame = frame.assign(interval=kinds, confidence_level=0.95)
    assert small_print(plot(frame)) == "95 % intervals of 4 kinds, n = 40"
    assert small_print(plot(frame[:3])) == "95 % t, Wilson or Tango intervals, n = 40"
    clusters = frame.assign(interval=[f"cluster-robust t, {n} clusters" for n in range(4)])
    assert small_print(plot(clusters)).startswith("95 % cluster-robust t intervals, 0–3 clusters")


def test_counts_are_bars_with_the_numbers_of_responses_of_each_kind():
    kinds = pd.Categorical(["new", "old", "old", "new", "old"] * 20, ["old", "new", "unused"])
    frame = pd.DataFrame({"system": ["a", "a", "a", "b", "b"] * 20, "kind": kinds})
    ax = plot(frame, kind="counts", rows="system", series="kind", names={"responses": "answers"})
    assert row_labels(ax) == ["a", "b"]
    assert ax.get_xlabel() == "answers"
    bars = {container.patches[0].get_facecolor(): container for container in ax.containers}
    assert [[bar.get_width() for bar in bars] for bars in bars.values()] == [[40, 20], [20, 20]]
    assert names(ax) == ["40", "20", "20", "20", "old", "new"]  # the categories keep their order
    assert small_print(ax) == "numbers of responses, n = 40–60 in each row; no intervals"
    with pytest.raises(InputError, match="needs the names of two columns, rows= and series="):
        plot(frame, kind="counts", rows="system")


def test_ranges_of_what_is_possible_are_bars_and_those_around_a_reference_have_another_colour():
    table = pd.DataFrame(
        {"system": ["a", "b", "c"], "least": [1e-6, 0.01, 0.2], "most": [0.01, 0.3, 0.2]}
    )
    table = table.assign(test="McNemar exact", correction="holm", n=100, metric="possible p-values")
    ax = plot(table, reference=0.05)
    assert row_labels(ax) == ["a", "b", "c"]
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "possible p-values"
    settled, unsettled = [line for line in ax.collections if isinstance(line, LineCollection)]
    assert [segment[:, 0].tolist() for segment in settled.get_segments()] == [
        [1e-6, 0.01],
        [0.2, 0.2],
    ]
    assert [segment[:, 0].tolist() for segment in unsettled.get_segments()] == [[0.01, 0.3]]
    text = small_print(ax)
    assert "McNemar exact, Holm over 3, n = 100" in text
    assert "orange: both sides of 0.05 are possible" in text
    assert "orange" not in small_print(plot(table.head(1), rows="system", reference=0.05))


def test_differences_are_marked_beside_those_of_other_questions():
    comparisons = ragnb.compare(scores(), baseline="plain")
    others = comparisons[::-1].assign(difference=[0.1, 0.2, 0.3], n_pairs=500)
    ax = plot(comparisons, reference={"all questions": others})
    (marks,) = [line for line in ax.lines if line.get_marker() == "|"]
    # The rows keep their order: each metric has its own mark.
    expected = others.set_index("metric").loc[comparisons["metric"], "difference"].tolist()
    assert marks.get_xdata().tolist() == expected
    assert "orange bars: all questions, n = 500" in small_print(ax)
    with pytest.raises(InputError, match="has no comparison of the same systems"):
        plot(comparisons, reference={"all": others.assign(system="another")})
    with pytest.raises(InputError, match="has no comparisons in reference=; leave it out"):
        plot(scores(), reference={"all": others})


def test_a_name_that_is_wider_than_its_axis_is_broken_into_lines():
    comparisons = ragnb.compare(scores(("annotator.verdict",)), baseline="plain")
    ax = plot(comparisons, names={"plain": "tried first", "ours": "our system"})
    assert ax.get_xlabel().count("\n") == 1
    ax.figure.draw_without_rendering()
    box = ax.xaxis.label.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= ax.figure.bbox.width


def test_names_of_differences_with_two_lines_do_not_overlap():
    frame = scores()
    third = frame[frame["system"] == "ours"].assign(system="another system")
    comparisons = ragnb.compare(pd.concat([frame, third]))
    ax = plot(comparisons)
    ax.figure.draw_without_rendering()
    labels = ax.get_yticklabels()
    assert any("\n" in label.get_text() for label in labels)
    boxes = [label.get_window_extent() for label in labels]
    boxes.sort(key=lambda box: box.y0)
    for lower, upper in pairwise(boxes):
        assert lower.y1 <= upper.y0
