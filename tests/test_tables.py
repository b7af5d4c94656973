"""Tables: the same content in every format, marks of significance, and text that stays text."""

import re
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hostile import HOSTILE
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.markup import escape_latex, escape_markdown
from ragnb.scoring import compare, summarize
from ragnb.tables import save_latex, to_html, to_latex, to_markdown, to_text

NAMES = [
    *HOSTILE, r"\input{/etc/passwd}", r"\end{tabular}", "50% & more $x_1^2$ #1 {~}", "[2pt]", "*", "a|b",
    "`code` *it* [l](javascript:1)", "مرحبا", "日本語", "line\nbreak", "\u202eabc",
]  # fmt: skip


def scored(systems, metric="rgb.accuracy", **columns):
    ids = [f"q{k}" for k in range(len(next(iter(systems.values()))))]
    parts = [
        pd.DataFrame(
            {
                "example_id": ids,
                "system": name,
                "metric": metric,
                "value": values,
                "signature": f"m:{metric}",
            }
            | columns
        )
        for name, values in systems.items()
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def scores():
    good, bad = [1] * 18 + [0] * 2, [1] * 6 + [0] * 14
    parts = [
        scored({"one": good, "two": bad}, noise_rate=0.0),
        scored({"one": bad, "two": bad}, noise_rate=0.4),
    ]
    return pd.concat(parts, ignore_index=True)


def test_a_table_of_summaries_reads_systems_by_conditions(scores):
    lines = to_markdown(summarize(scores)).splitlines()
    assert lines[0] == r"| system | noise\_rate 0.0 | noise\_rate 0.4 |"
    assert (
        lines[2] == r"| one | **0.90** \[0.70, 0.97\] | **0.30** \[0.15, 0.52\] |"
    )  # Wilson of 18 and 6 in 20
    assert lines[3] == r"| two | 0.30 \[0.15, 0.52\] | **0.30** \[0.15, 0.52\] |"
    assert lines[5].startswith(
        r"Mean \[95% Wilson interval\], n = 20. Bold: best of its column. Signatures:"
    )


@pytest.mark.parametrize("printer", [to_markdown, to_latex, to_html])
def test_a_metric_whose_direction_is_unknown_has_no_best(scores, printer):
    own = summarize(scores.assign(metric="my.length"))
    assert not re.search(r"\*\*|textbf|<b>|Bold", printer(own))
    both = printer(pd.concat([own, summarize(scores)]))
    assert "Bold: best of its column, except for your own metrics." in both
    assert len(re.findall(r"\*\*0|textbf|<b>", both)) == 3


def test_the_best_follows_the_direction_of_the_metric(scores, monkeypatch):
    from ragnb.scoring import METRICS, Metric

    worse = Metric("own.errors", float, {}, False, (0.0, 1.0), "here", binary=True)
    monkeypatch.setitem(METRICS, "own.errors", worse)
    summaries = summarize(scores.assign(metric="own.errors"))
    assert "| two | **0.30**" in to_markdown(summaries)
    assert "| one | 0.90" in to_markdown(summaries)


def test_marks_come_from_adjusted_p_values(scores):
    comparisons = compare(scores, baseline="two")
    assert (comparisons["p_adjusted"] < 0.05).tolist() == [True, False]
    text = to_latex(summarize(scores), comparisons=comparisons)
    assert (
        r"one & \textbf{0.90}\textsuperscript{*} {\scriptsize [0.70, 0.97]} & \textbf{0.30} {\scriptsize"
        in text
    )
    assert "* differs from two (McNemar mid-p, Holm over 2)." in text
    lost = to_latex(summarize(scores), comparisons=comparisons.assign(p_adjusted=0.06))
    assert r"\textsuperscript" not in lost


def test_unscored_responses_are_counted_in_their_cells(scores):
    scores.loc[0, "value"] = np.nan
    text = to_markdown(summarize(scores))
    assert "n = 19 of 20" in text
    assert "Unscored responses are left out of the mean." in text


def test_a_table_of_comparisons_says_everything_a_reviewer_asks_for(scores):
    lines = to_markdown(compare(scores, baseline="two"), digits=3).splitlines()
    assert lines[0] == (
        r"| comparison | noise\_rate | n | difference | 95% interval | p | adjusted p | odds ratio of discordant items "
        r"| MDE \(80%\) |"
    )
    assert lines[2].startswith(r"| one \- two | 0.0 | 20 | **\+0.600** |")
    assert "| 0.000 |" in lines[3]
    assert (
        "| undefined | 0.313 |" in lines[3]
    )  # no discordant item: no odds; 5 : 0 of 20 is significant at a true 0.313
    assert r"Tango \(not dual\)" in lines[5]
    assert r"McNemar mid\-p, Holm over 2" in lines[5]


@pytest.mark.parametrize("text", NAMES)
def test_hostile_names_stay_text(text):
    frame = scored({text: [1, 0, 1, 1], "plain": [0, 0, 1, 1]})
    latex = to_latex(summarize(frame), caption=text)
    assert latex.count(r"\end{tabular}") == latex.count(r"\begin{tabular}") == 1
    assert r"\input" not in latex
    assert not re.search(r"(\\\\|rule)\s*[\[*]", latex)
    body = to_html(summarize(frame))
    assert "<img" not in body
    rows = [line for line in to_markdown(summarize(frame)).splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


@pytest.mark.parametrize("name", ["\t[5cm]", " *x"])
def test_a_name_behind_blanks_is_no_option_of_the_line_break_before_it(name):
    latex = to_latex(summarize(scored({"plain": [0, 0, 1, 1], name: [1, 0, 1, 1]})))
    assert f"\n{{}}{name.strip()} & " in latex
    assert not re.search(r"(\\\\|rule)\s*[\[*]", latex)


def test_hyphens_and_quotes_stay_as_many_as_they_are():
    assert (
        escape_latex("a--b---c ``d'' ?`e!` ,,f-g, h")
        == "a-{}-b-{}-{}-c `{}`d'{}' ?{}`e!{}` ,{},f-g, h"
    )


@pytest.mark.parametrize("printed", [to_markdown, to_latex, to_html, to_text])
def test_narrow_intervals_are_printed_with_as_many_decimals_as_they_need(printed):
    """800 and 760 right of 20,000: statsmodels 0.15.0, proportion_confint(method="wilson") and the difference by hand."""
    n = 20_000
    frame = scored({"two": [1.0] * 760 + [0.0] * (n - 760), "one": [1.0] * 800 + [0.0] * (n - 800)})
    means = printed(summarize(frame)).replace("\\", "")
    assert "[0.0374, 0.0428]" in means
    assert re.search(r"0\.0400\b.*\[0\.0374, 0\.0428\]", means)
    assert "[0.04, 0.04]" in printed(summarize(frame), digits=2).replace("\\", "")
    differences = printed(compare(frame)).replace("\\", "")
    assert "+0.00200" in differences
    assert not re.search(r"0\.00\b", differences.split("Bold")[0])
    assert "+0.002" in printed(compare(frame), digits=3).replace("\\", "")


class _Names(HTMLParser):
    def __init__(self):
        super().__init__()
        self.names = set()

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        assert not attrs or attrs[0] == ("class", "mathjax_ignore")


@settings(max_examples=80, deadline=None)
@given(st.text(min_size=1, max_size=30))
def test_no_text_makes_an_element_or_a_command(text):
    parser = _Names()
    parser.feed(to_html(summarize(scored({text: [1, 0]}), by="system")))
    structure = {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert parser.names <= structure | {"p", "small", "b", "sup"}
    assert not re.search(r"(?<!\\)[&%#_$]", escape_latex(text))
    assert "\n" not in escape_latex(text)
    assert not re.search(r"(?<!\\)[|<>*`]", escape_markdown(text).replace("\\\\", ""))


def test_bad_input_says_what_is_needed(scores):
    with pytest.raises(InputError, match="at least one row; got an empty frame"):
        to_html(summarize(scores).iloc[:0])
    with pytest.raises(InputError, match="got a frame without nonsense"):
        to_markdown(summarize(scores), columns=["nonsense"])
    with pytest.raises(InputError, match="one row for each cell; got two for"):
        to_markdown(summarize(scores), columns=["metric"])
    pooled = summarize(scores, by="system", cluster="example_id")
    with pytest.raises(InputError, match=r"one comparison for each cell, .*by=\[\]"):
        to_markdown(pooled, comparisons=compare(scores))
    with pytest.raises(InputError, match="label must consist of letters, digits and"):
        to_latex(summarize(scores), label="}x")
    with pytest.raises(InputError, match="digits must be a whole number of at least 0, got -1"):
        to_text(scores, digits=-1)


def test_comparisons_with_several_baselines_have_no_mark():
    frame = scored({"a": [1, 1, 1, 0], "b": [1, 0, 1, 0], "c": [0, 0, 1, 0]})
    with pytest.raises(InputError, match="all with the same baseline; got 3 with a, b"):
        to_html(summarize(frame), comparisons=compare(frame))


def test_conditions_above_the_last_are_spanners(scores):
    both = pd.concat([scores, scores.assign(metric="my.own")])
    latex = to_latex(summarize(both))
    assert r" & \multicolumn{2}{c}{rgb.accuracy} & \multicolumn{2}{c}{my.own} \\" in latex
    assert "| system | rgb.accuracy, noise\\_rate 0.0 |" in to_markdown(summarize(both))


def test_the_caption_is_below_the_table(scores):
    latex = to_latex(summarize(scores), caption="50% & more", label="tab:one")
    assert latex.index(r"\end{tabular}") < latex.index(r"\caption{50\% \& more}")
    assert latex.endswith("\\label{tab:one}\n\\end{table}\n")


def test_any_other_frame_is_listed():
    frame = pd.DataFrame({"judge": ["a_b", "c"], "value": [0.5, np.nan], "p_value": [1e-20, 0.25]})
    lines = to_markdown(frame).splitlines()
    assert lines[0] == r"| judge | value | p\_value |"
    assert lines[2:4] == [r"| a\_b | 0.500 | \< 1e\-12 |", "| c | undefined | 0.2500 |"]
    assert "$-$1.5" in to_latex(pd.DataFrame({"difference in F1": [-1.5]}))


def test_latex_compiles_where_there_is_a_compiler(scores, tmp_path):
    import shutil

    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed")
    text = to_latex(summarize(scores), caption="50% & more", label="tab:one") + to_latex(
        compare(scores)
    )
    document = (
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs}\begin{document}"
        + text
        + r"\end{document}"
    )
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        check=True,
    )


def test_a_wide_table_spans_both_columns(scores):
    narrow, wide = (
        to_latex(summarize(scores), caption="c", label="l", wide=wide) for wide in (False, True)
    )
    assert wide == narrow.replace("{table}", "{table*}")
    assert wide.startswith(r"\begin{table*}")
    assert wide.endswith("\\end{table*}\n")


def test_the_note_names_signatures_languages_and_prompts_without_hashes(scores):
    for language in ("de", "en"):
        rows = scores.index[:: 1 if language == "de" else 2]
        prompt = f"ask.{language}:1:0123abcd"
        scores.loc[rows, "signature"] = f"v|metric:m|lang:{language}|prompt:{prompt}"
    note = "Signatures: v|metric:m|lang:de,en. Prompts: ask.de:1, ask.en:1."
    assert note in to_html(summarize(scores))


def test_a_saved_table_is_what_to_latex_returns(scores, tmp_path):
    options = {"digits": 3, "label": "tab:one"}
    path = save_latex(summarize(scores), "07_table", folder=tmp_path / "new", **options)
    assert path == tmp_path / "new" / "07_table.tex"
    assert path.read_text(encoding="utf-8") == to_latex(summarize(scores), **options)
    with pytest.raises(InputError, match="name must be a plain name such as '01_noise'"):
        save_latex(summarize(scores), "../a", folder=tmp_path)
