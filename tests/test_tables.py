"""Tables: the same content in every format, marks of significance, and text that stays text."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hostile import HOSTILE, Reader
from support.made_scores import scored

import ragnb
from ragnb.errors import InputError
from ragnb.markup import escape_latex, escape_markdown
from ragnb.scoring import METRICS, Metric, compare, summarize
from ragnb.tables import save_latex, to_html, to_latex, to_markdown

NAMES = [
    *HOSTILE[:3], r"\input{/etc/passwd}", r"\end{tabular}", "50% & more $x_1^2$ #1 {~}", "a|b",
    "`code` *it* [l](javascript:1)", "مرحبا", "line\nbreak", "\u202eabc", "[2pt]", "*", "\t[5cm]",
]  # fmt: skip


@pytest.fixture
def scores():
    good, bad = [1] * 18 + [0] * 2, [1] * 6 + [0] * 14
    none = scored({"one": good, "two": bad}, "rgb.accuracy", noise_rate=0.0)
    some = scored({"one": bad, "two": bad}, "rgb.accuracy", noise_rate=0.4)
    return pd.concat([none, some], ignore_index=True)


def test_a_table_of_summaries_reads_systems_by_conditions(scores):
    """The intervals are Wilson's of 18 and 6 in 20."""
    assert to_markdown(summarize(scores)).splitlines()[:4] == [
        "| system | noise rate 0.0 | noise rate 0.4 |",
        "| :--- | ---: | ---: |",
        r"| one | **0.90** \[0.70, 0.97\] | **0.30** \[0.15, 0.52\] |",
        r"| two | 0.30 \[0.15, 0.52\] | **0.30** \[0.15, 0.52\] |",
    ]
    note = r"Mean \[95% Wilson interval\], n = 20. Bold: best of its column. Signatures:"
    assert note in to_markdown(summarize(scores))
    assert r"\[97.5% Wilson" in to_markdown(summarize(scores, confidence_level=0.975))
    scores.loc[0, "value"] = np.nan
    text = to_markdown(summarize(scores))
    assert "n = 19 of 20" in text
    assert "Unscored responses are left out of the mean." in text


@pytest.mark.parametrize("printer", [to_markdown, to_latex, to_html])
def test_a_metric_whose_direction_is_unknown_has_no_best(scores, printer):
    own = summarize(scores.assign(metric="my.length"))
    assert not re.search(r"\*\*|textbf|<b>|Bold", printer(own))
    both = printer(pd.concat([own, summarize(scores)]))
    assert "Bold: best of its column, except for your own metrics." in both
    assert len(re.findall(r"\*\*0|textbf|<b>", both)) == 3


def test_the_best_follows_the_direction_of_the_metric(scores, monkeypatch):
    worse = Metric("own.errors", float, {}, False, (0.0, 1.0), "here", binary=True)
    monkeypatch.setitem(METRICS, "own.errors", worse)
    text = to_markdown(summarize(scores.assign(metric="own.errors")))
    assert "| two | **0.30**" in text
    assert "| one | 0.90" in text


def test_marks_come_from_adjusted_p_values(scores):
    comparisons = compare(scores, baseline="two")
    assert (comparisons["p_adjusted"] < 0.05).tolist() == [True, False]
    text = to_latex(summarize(scores), comparisons=comparisons)
    marked = r"\textbf{0.90}\textsuperscript{*} {\scriptsize [0.70, 0.97]}"
    assert rf"one & {marked} & \textbf{{0.30}} {{\scriptsize" in text
    assert "*~differs from two (McNemar mid-p, Holm over 2)." in text
    assert "*\u00a0differs from two" in to_html(summarize(scores), comparisons=comparisons)
    lost = to_latex(summarize(scores), comparisons=comparisons.assign(p_adjusted=0.06))
    assert r"\textsuperscript" not in lost
    assert "No difference from two is significant (McNemar mid-p, Holm over 2)." in lost


def test_a_table_of_comparisons_says_everything_a_reviewer_asks_for(scores):
    head, _, first, second, _, notes, *_ = to_markdown(
        compare(scores, baseline="two"), digits=3
    ).splitlines()
    for name in ("comparison", "noise rate", "n", "difference", "95% interval", "p", "adjusted p",
                 "odds ratio of discordant items", r"MDE \(80%\)"):  # fmt: skip
        assert f"| {name} |" in head
    assert first.startswith(r"| one \- two | 0.0 | 20 | **\+0.600** |")
    assert "| 0.000 |" in second
    # No discordant item: no odds. 5 : 0 of 20 is significant at a true 0.313.
    assert "| undefined | 0.313 |" in second
    assert r"Tango \(not dual\)" in notes
    assert r"McNemar mid\-p, Holm over 2" in notes


def test_hyphens_and_quotes_stay_as_many_as_they_are():
    shown = "a-{}-b-{}-{}-c `{}`d'{}' ?{}`e!{}` ,{},f-g, h"
    assert escape_latex("a--b---c ``d'' ?`e!` ,,f-g, h") == shown


@pytest.mark.parametrize("text", NAMES)
def test_hostile_names_stay_text(text):
    table = summarize(scored({text: [1, 0, 1, 1], "plain": [0, 0, 1, 1]}, "rgb.accuracy"))
    latex = to_latex(table, caption=text)
    assert latex.count(r"\end{tabular}") == latex.count(r"\begin{tabular}") == 1
    assert r"\input" not in latex
    assert not re.search(r"(\\\\|rule)\s*[\[*]", latex)
    assert "<img" not in to_html(table)
    rows = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


@pytest.fixture(scope="module")
def narrow():
    """800 and 760 right of 20,000."""
    right = {"two": 760, "one": 800}
    values = {name: [1.0] * k + [0.0] * (20_000 - k) for name, k in right.items()}
    frame = scored(values, "rgb.accuracy")
    return summarize(frame), compare(frame)


@pytest.mark.parametrize("printed", [to_markdown, to_latex, to_html])
def test_narrow_intervals_are_printed_with_as_many_decimals_as_they_need(printed, narrow):
    """statsmodels 0.15.0, proportion_confint(method="wilson"), and the difference by hand."""

    def shown(frame, **options):
        return printed(frame, **options).replace("\\", "")

    means, differences = narrow
    assert re.search(r"0\.0400\b.*\[0\.0374, 0\.0428\]", shown(means))
    assert "[0.04, 0.04]" in shown(means, digits=2)
    assert "+0.00200" in shown(differences)
    assert not re.search(r"0\.00\b", shown(differences).split("Bold")[0])
    assert "+0.002" in shown(differences, digits=3)


@settings(max_examples=12, deadline=None)
@given(st.text(min_size=1, max_size=30))
def test_no_text_makes_an_element_or_a_command(text):
    page = Reader(to_html(pd.DataFrame({"system": [text], text + "x": [1.5]})))
    # The style sheet is the same for all tables.
    structure = {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "p", "small"}
    assert set(page.elements) <= structure
    assert {name for name, _ in page.attributes} <= {"class", "dir", "style"}
    assert not re.search(r"(?<!\\)[&%#_$]", escape_latex(text))
    assert "\n" not in escape_latex(text)
    assert not re.search(r"(?<!\\)[|<>*`]", escape_markdown(text).replace("\\\\", ""))


def test_bad_input_says_what_is_needed(scores):
    summaries = summarize(scores)
    with pytest.raises(InputError, match="at least one row, got an empty frame"):
        to_html(summaries.iloc[:0])
    several = "must have one row, got several for rgb.accuracy, one"
    with pytest.raises(InputError, match=several):
        to_markdown(summaries, columns=["metric"])
    pooled = summarize(scores, by="system", cluster="example_id")
    with pytest.raises(InputError, match="one row for each metric and system, got 1 repeated"):
        to_markdown(pooled, comparisons=compare(scores))
    three = scored({"a": [1, 1, 1, 0], "b": [1, 0, 1, 0], "c": [0, 0, 1, 0]}, "rgb.accuracy")
    two = compare(three).drop_duplicates("system")
    with pytest.raises(InputError, match="needs one baseline, got a, b; pass baseline="):
        to_html(summarize(three), comparisons=two.assign(baseline=["a", "b"]))


def test_a_report_is_refused_with_the_names_of_its_tables():
    report = ragnb.multilingual_report(ragnb.recorded("multilingual").query("language == 'en'"))
    message = r"a table needs a pandas DataFrame, got {}; pass one of its tables: {}"
    with pytest.raises(InputError, match=message.format("MultilingualReport", r"\.table, ")):
        to_latex(report)
    with pytest.raises(InputError, match=message.format("Ranking", r"\.table, \.details$")):
        to_latex(report.ranking())
    assert "lbrag & 1 (1–3)" in to_latex(report.ranking().table)


def test_the_caption_is_below_the_table(scores):
    latex = to_latex(summarize(scores), caption="50% & more", label="tab:one")
    assert latex.index(r"\end{tabular}") < latex.index(r"\caption{50\% \& more. Mean [95\%")
    assert latex.endswith("\\label{tab:one}\n\\end{table}\n")


def test_any_other_frame_is_listed():
    frame = pd.DataFrame({"judge": ["a_b", "c"], "value": [0.5, np.nan], "p_value": [1e-20, 0.25]})
    lines = to_markdown(frame).splitlines()
    assert lines[0] == "| judge | value | p |"
    assert lines[2:4] == [r"| a\_b | 0.5 | \< 1e\-12 |", "| c | – | 0.2500 |"]
    assert "$-$1.5" in to_latex(pd.DataFrame({"difference in F1": [-1.5]}))


def test_words_replace_names_and_hashes_and_signatures_are_comments(scores):
    words = {"one": "ours", "two": "theirs", "system": "System", "rgb.accuracy": "accuracy"}
    prompted = scores["signature"] + "|prompt:ask:1:0123abcd"
    table = summarize(pd.concat([scores.assign(signature=prompted), scores.assign(metric="m.x")]))
    latex = to_latex(table, names=words)
    printed = "\n".join(line for line in latex.splitlines() if not line.startswith("%"))
    assert "% Signatures: v|metric:rgb.accuracy. Prompts: ask:1." in latex
    assert not re.search(r"0123abcd|metric:|rgb\.|noise\\_rate|one|two", printed)
    assert r"System & 0.0 & 0.4 & 0.0 & 0.4 \\" in printed
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in printed
    assert r"& \multicolumn{2}{c}{noise rate} & \multicolumn{2}{c}{noise rate} \\" in printed
    assert "n~=~20" in printed
    assert "comparison" in to_latex(compare(scores), names=words)
    assert "ours - theirs" in to_latex(compare(scores, baseline="two"), names=words)
    with pytest.raises(InputError, match="got several for x, noise rate, 0.0, one; .* names that"):
        to_latex(table, names={"rgb.accuracy": "x", "m.x": "x"})


def test_a_table_takes_the_place_that_it_needs(scores):
    means = summarize(scores)
    assert r"\begin{table}" in to_latex(means)
    many = [scores.assign(noise_rate=scores["noise_rate"] + k / 10) for k in range(4)]
    many = summarize(pd.concat(many).drop_duplicates(["example_id", "system", "noise_rate"]))
    assert r"\begin{table*}" in to_latex(many)
    assert r"\footnotesize" in to_latex(many)


@pytest.mark.data
def test_latex_compiles_in_the_acl_style_without_an_overfull_line(scores, tmp_path, data_folder):
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed")
    shutil.copy(data_folder / "acl" / "acl.sty", tmp_path)
    packages = "\n".join(
        rf"\usepackage{option}"
        for option in ("[T1]{fontenc}", "[utf8]{inputenc}", "{times}", "{booktabs}", "{acl}")
    )
    three = pd.concat([scores, scores.assign(metric="my.own"), scores.assign(metric="my.other")])
    narrow = to_latex(summarize(scores), caption="50% & more", label="tab:one")
    wide = to_latex(summarize(three), comparisons=compare(three))
    assert [r"\begin{table*}" in table for table in (narrow, wide)] == [False, True]
    content = "\n".join([narrow, wide, to_latex(compare(scores))])
    paper = (
        rf"\documentclass[11pt]{{article}}{packages}\begin{{document}}x {content}\end{{document}}"
    )
    (tmp_path / "t.tex").write_text(paper, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_a_saved_table_is_what_to_latex_returns(scores, tmp_path):
    options = {"digits": 3, "label": "tab:one"}
    path = save_latex(summarize(scores), "07_table", folder=tmp_path / "new", **options)
    assert path == tmp_path / "new" / "07_table.tex"
    assert path.read_text(encoding="utf-8") == to_latex(summarize(scores), **options)
    for name in ("../a", "", "noise_0.5", 3):
        with pytest.raises(InputError, match="name must be a plain name such as '02_noise'"):
            save_latex(summarize(scores), name, folder=tmp_path)


def test_columns_of_texts_are_aligned_left_and_columns_of_numbers_right():
    judges = {"judge": ["a", "b"], "n": [8, 9], "mean": [0.5, -0.25], "remark": ["good", "worse"]}
    frame = pd.DataFrame(judges)
    assert to_markdown(frame).splitlines()[1] == "| :--- | ---: | ---: | :--- |"
    assert r"\begin{tabular}{lrrl}" in to_latex(frame)
    html = to_html(frame)
    assert '<td class="n">−0.25</td><td dir="auto">worse</td>' in html
    assert '<th class="n">mean</th><th dir="auto">remark</th>' in html


def test_spanners_of_html_are_over_their_columns(scores):
    html = to_html(summarize(scores), columns=["metric", "noise_rate"])
    metric = scores["metric"].iloc[0]
    assert re.search(rf'<th colspan="2" style="[^"]*">{metric}</th>', html)
    assert html.count("<tr>") == html.count("</tr>")


def test_the_number_of_clusters_is_after_the_kind_of_interval(scores):
    table = summarize(scores).assign(interval="cluster-robust t, 40 clusters")
    assert "Mean [95% cluster-robust t interval, 40 clusters]" in to_html(table)
