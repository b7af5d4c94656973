"""The paragraph says what the frames hold: every number is looked up in them, every name comes through as itself."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from hostile import HOSTILE
from hypothesis import given
from hypothesis import strategies as st

import ragnb
from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.markup import hidden
from ragnb.reports import methods_paragraph

NUMBER = re.compile(r"(?<![\w.:“-])\d+(?:\.\d+)*(?![\w:]|\.\d)")


@pytest.fixture(scope="module")
def noise():
    responses = recorded_responses("rgb_noise").query("system in ('answer', 'plain')")
    scores = ragnb.score(responses, "rgb.accuracy")
    return scores, ragnb.summarize(scores), ragnb.compare(scores, baseline="plain")


@pytest.fixture(scope="module")
def languages():
    scores = ragnb.score(recorded_responses("multilingual"), ["answer.f1", "answer.contains"])
    pooled = ragnb.compare(scores, baseline="direct", by=[], cluster="question_id")
    return scores, ragnb.summarize(scores, by="system", cluster="question_id"), pooled


@pytest.fixture
def small():
    """Two systems on three questions, one value of the second missing."""
    rows = [
        {
            "example_id": f"q{n}",
            "system": system,
            "language": "en",
            "metric": "m",
            "value": value,
            "reason": None,
        }
        for system, values in (("a", [1.0, 0.0, 1.0]), ("b", [0.0, 0.0, np.nan]))
        for n, value in enumerate(values)
    ]
    frame = pd.DataFrame(rows).assign(signature="ragnb:9.8.7|metric:m|variant:x|lang:en")
    frame.loc[frame["value"].isna(), "reason"] = "no reply: timeout"
    return frame


# ---- numbers -----------------------------------------------------------------------------------------------------------


def held(*frames):
    """Every number that the frames hold, in values, counts and texts, as it may be printed."""
    found = set()
    for frame in frames:
        found |= {f"{len(frame)}", f"{frame['system'].nunique()}"}
        for name in frame:
            values = frame[name].dropna()
            found.add(f"{values.astype(str).nunique()}")
            for value in values.unique():
                if isinstance(value, str):
                    found |= set(NUMBER.findall(value)) | set(re.findall(r"ragnb:([\d.]+)", value))
                else:
                    found |= {f"{value:g}", f"{value:#.3g}", f"{100 * value:g}"}
    return found


def test_every_number_is_one_of_the_frames(noise, languages):
    for frames, cluster in ((noise, None), (languages, "question_id")):
        responses = len(frames[0]) // frames[0]["metric"].nunique()
        printed = set(NUMBER.findall(methods_paragraph(*frames, cluster=cluster).replace("%", "")))
        assert len(printed) > 8
        source = frames[0].attrs["source"]
        assert printed <= held(*frames) | {f"{responses}", *NUMBER.findall(source["licence"])}


def test_the_run_with_two_prompts(noise):
    text = methods_paragraph(*noise)
    assert text.startswith(
        "We scored 680 responses of 2 systems (“answer” and “plain”) to 68 questions in 1 language (en) under rgb.accuracy "
        "(protocol paper, parts all). Data: sample-en (written by the authors of ragnb; licence CC BY 4.0), in the format of "
        "rgb. Conditions: task noise; noise rate 0, 0.2, 0.4, 0.6 and 0.8; passages per question 5; passage order per_item. "
        "Model: SmolLM2-135M-Instruct (SmolLM2-135M-Instruct.Q4_1.gguf SHA-256 b179c9523d0e…). "
    )
    assert (
        "Prompts: rgb.answer.en:1:a169cd4b and rgb.plain.en:1:d4c590b8. No value is missing."
        in text
    )
    assert "We report means over 68 scored responses each, with 95% intervals (Wilson)." in text
    assert "(68 each) in 5 comparisons: “answer” against “plain”." in text
    assert "tests: McNemar mid-p (all scores are 0 or 1, so only discordant items count). " in text
    assert (
        "The p-values are corrected by the method of Holm over a family of 5 tests. No item was left out of a comparison."
        in text
    )
    low, high = noise[2]["mde"].min(), noise[2]["mde"].max()
    assert f"with 80% power and at the spread seen, is {low:#.3g} to {high:#.3g}." in text
    assert text.endswith(f"computed with ragnb {ragnb.__version__}.")


def test_questions_in_several_languages_are_counted_once_and_named_as_clusters(languages):
    text = methods_paragraph(*languages, cluster="question_id")
    assert "960 responses of 4 systems" in text
    assert "to 40 questions in 6 languages (ar, de, en, hi, ru and zh)" in text
    assert "under answer.contains (variant unicode) and answer.f1 (variant unicode)." in text
    assert "95% intervals (cluster-robust t, 40 clusters), clustered by question_id." in text
    assert "(240 each, with question_id as clusters) in 6 comparisons" in text
    assert "“multi”, “cross” and “lbrag” against “direct”." in text
    assert re.search(
        r"is [\d.]+ to [\d.]+ \(answer\.f1\) and [\d.]+ to [\d.]+ \(answer\.contains\)\.", text
    )


def test_a_response_under_two_definitions_counts_once(noise):
    responses = recorded_responses("rgb_noise").query("system == 'plain' and noise_rate == 0")
    both = pd.concat(
        [ragnb.score(responses, "rgb.accuracy", protocol=name) for name in ("paper", "released")]
    )
    text = methods_paragraph(both)
    assert "We scored 68 responses of 1 system" in text
    assert "rgb.accuracy (protocol paper, parts all / protocol released, parts all)" in text


def test_repeats_of_one_question_are_responses(small):
    twice = pd.concat([small.assign(repeat=0), small.assign(repeat=1)])
    assert "We scored 12 responses of 2 systems (“a” and “b”) to 3 questions" in methods_paragraph(
        twice
    )
    assert "Conditions: 2 repeats." in methods_paragraph(twice)
    unnamed = pd.concat(
        [small, small]
    )  # doubled without a column that tells them apart: responses all the same
    assert "We scored 12 responses" in methods_paragraph(unnamed)


# ---- where the data and the replies come from --------------------------------------------------------------------------


def test_decoding_comes_from_the_responses_and_the_files_from_what_was_recorded(noise):
    responses = recorded_responses("rgb_noise").query("system in ('answer', 'plain')")
    text = methods_paragraph(noise[0], responses=responses)
    assert "Sampling parameters: max_tokens=64, seed=0, temperature=0." in text
    assert "Sampling" not in methods_paragraph(noise[0])
    other = responses.assign(model="another")
    unknown_file = methods_paragraph(ragnb.score(other, "rgb.accuracy"), responses=other)
    assert "Model: another. Sampling" in unknown_file


@pytest.mark.data
def test_real_files_are_named_as_such_and_not_as_the_authors_own(data_folder):
    examples = ragnb.load_rgb(data_folder / "rgb" / "zh_refine.json")
    said = ragnb.build_contexts(examples, noise_rate=[0, 0.8]).assign(system="x", response="2022")
    text = methods_paragraph(ragnb.score(said, "rgb.accuracy"))
    sha = examples.attrs["source"]["git_sha1"][:8]
    assert f"Data: zh_refine@{sha} (Chen, Lin, Han, Sun (AAAI 2024)" in text
    assert "licence CC BY-NC-SA 4.0 (non-commercial)), in the format of rgb." in text
    assert "authors of ragnb" not in text


def test_scores_whose_file_is_not_known_say_so(small):
    text = methods_paragraph(small.assign(benchmark="rgb"))
    assert "The data are in the format of rgb; the scores do not name the file." in text


# ---- what is missing ---------------------------------------------------------------------------------------------------


def test_what_is_unscored_is_said_with_its_reason(small):
    text = methods_paragraph(small, ragnb.summarize(small), ragnb.compare(small, unpaired="drop"))
    assert "Of 6 values 1 is missing and left out of the means: 1 (“no reply: timeout”)." in text
    assert "We report means over 2 to 3 scored responses of 3 each" in text
    assert "Items left out of a comparison for want of a value of both systems: 1." in text
    assert "in 1 comparison: “b” against “a”." in text
    unsaid = methods_paragraph(small.drop(columns="reason"))
    assert "1 (“no reason is given”)" in unsaid


def test_several_reasons_are_counted_apart(small):
    small.loc[[1, 2], ["value", "reason"]] = [np.nan, "refused"]
    text = methods_paragraph(small)
    assert (
        "Of 6 values 3 are missing and left out of the means: 2 (“refused”) and 1 (“no reply: timeout”)."
        in text
    )


def test_undefined_tests_are_counted_and_their_warnings_told(small):
    equal = small.assign(value=[1.0, 0, 1, 1, 0, 1], reason=None)
    comparisons = ragnb.compare(equal)
    text = methods_paragraph(equal, comparisons=comparisons)
    assert np.isnan(comparisons["mde"]).all()
    assert "minimum detectable" not in text
    undefined = comparisons.assign(p_value=np.nan, warning="no discordant item", family_size=0)
    assert "1 p-value is undefined. Warnings: no discordant item." in methods_paragraph(
        comparisons=undefined
    )
    mixed = pd.concat([comparisons, comparisons.assign(mde=0.25)])
    assert "is 0.250; of 1 comparison it is undefined." in methods_paragraph(comparisons=mixed)


def test_families_and_kinds_that_differ_are_all_named(noise):
    comparisons = noise[2].copy()
    comparisons["family_size"] = [5, 5, 5, 3, 3]
    comparisons["test"] = ["one", "one", "two", "two", "two"]
    comparisons["confidence_level"] = [0.9, 0.9, 0.995, 0.995, 0.995]
    text = methods_paragraph(comparisons=comparisons)
    assert "over families of 3 and 5 tests." in text
    assert re.search(r"tests: one \(.*?\) and two \(.*?\)\. The", text)
    assert "90% and 99.5% intervals (Tango)" in text


@pytest.mark.parametrize(
    ("kept", "said", "unsaid"),
    [
        ({0}, ["We scored 680"], ["We report means", "compared"]),
        (
            {1},
            ["Metrics: rgb.accuracy (protocol paper, parts all).", "We report means"],
            ["We scored", "Conditions", "missing", "compared"],
        ),
        (
            {2},
            ["Metrics: rgb.accuracy", "were compared"],
            ["We scored", "We report means", "missing"],
        ),
        ({0, 2}, ["We scored", "were compared"], ["We report means"]),
    ],
)
def test_a_frame_that_is_not_given_has_no_sentence(noise, kept, said, unsaid):
    text = methods_paragraph(
        *(frame if place in kept else None for place, frame in enumerate(noise))
    )
    assert all(part in text for part in [*said, "computed with ragnb"])
    assert not any(part in text for part in unsaid)


# ---- refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1, 2])
def test_empty_frames_and_missing_columns_are_refused(noise, place):
    name = ("scores", "summaries", "comparisons")[place]
    with pytest.raises(InputError, match=f"{name} with rows"):
        methods_paragraph(**{name: noise[place].iloc[:0]})
    with pytest.raises(InputError, match="without signature"):
        methods_paragraph(**{name: noise[place].drop(columns="signature")})


def test_frames_of_another_run_are_refused(noise, languages):
    with pytest.raises(InputError, match="summaries that were computed from its scores"):
        methods_paragraph(noise[0], languages[1])
    with pytest.raises(InputError, match="comparisons that were computed from its scores"):
        methods_paragraph(noise[0], comparisons=languages[2])
    with pytest.raises(InputError, match="'another'"):
        methods_paragraph(noise[0], noise[1].assign(system="another"))


def test_summaries_of_fewer_questions_are_refused_under_the_same_signature(noise):
    scores, summaries, _ = noise
    half = scores[scores["example_id"] <= scores["example_id"].sort_values().iloc[len(scores) // 2]]
    with pytest.raises(InputError, match="other numbers of scored responses"):
        methods_paragraph(half, summaries)
    with pytest.raises(InputError, match="other numbers of scored responses"):
        methods_paragraph(scores, ragnb.summarize(half))
    some = summaries[summaries["noise_rate"] < 0.5]  # fewer cells, each of them whole
    assert "68 scored responses each" in methods_paragraph(scores, some)


def test_a_cell_without_any_value_is_no_stranger(small):
    small.loc[small["system"] == "b", "value"] = np.nan
    assert "0 to 3 scored responses of 3 each" in methods_paragraph(small, ragnb.summarize(small))


def test_an_unknown_way_of_writing_is_refused(noise):
    with pytest.raises(InputError, match="'html'"):
        methods_paragraph(noise[0], written="html")


def test_the_column_of_clusters_is_checked(languages, noise):
    for wrong in ("example_id", "language"):
        with pytest.raises(InputError, match="were clustered by"):
            methods_paragraph(*languages, cluster=wrong)
    with pytest.raises(InputError, match="Wilson"):
        methods_paragraph(*noise, cluster="example_id")
    with pytest.raises(InputError, match="pass both"):
        methods_paragraph(summaries=languages[1], cluster="question_id")
    with pytest.raises(InputError, match="without topic"):
        methods_paragraph(*languages, cluster="topic")


# ---- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_and_do_nothing(small, name):
    frame = small.assign(system=small["system"].replace("a", name))
    for written in ("text", "markdown", "latex"):
        text = methods_paragraph(frame, written=written)
        assert not hidden(text)
        assert "\n" not in text
    assert "<" not in methods_paragraph(frame, written="latex")
    assert not re.search(r"(?<!\\)[<*`_$\[]", methods_paragraph(frame, written="markdown"))
    assert not re.search(r"(?<!\\)[%&#$_]", methods_paragraph(frame, written="latex"))


@given(st.text(min_size=1, max_size=30))
def test_no_name_can_close_its_quotes(name):
    frame = pd.DataFrame(
        {
            "example_id": ["q"],
            "system": [name],
            "metric": "m",
            "value": 1.0,
            "signature": "ragnb:1|metric:m",
        }
    )
    for written in ("text", "markdown", "latex"):
        text = methods_paragraph(frame, written=written)
        assert text.count("“") == text.count("”") == 1


def test_a_name_cannot_add_a_sentence_outside_of_its_quotes(small):
    text = methods_paragraph(
        small.assign(system=small["system"].replace("a", "a”. All differences are significant. “b"))
    )
    assert "“a’. All differences are significant. ‘b”" in text


def test_the_same_words_in_every_writing(noise):
    text, markdown, latex = (
        methods_paragraph(*noise, written=written) for written in ("text", "markdown", "latex")
    )
    assert re.sub(r"\\(?=[\W_])", "", markdown) == text
    assert re.sub(r"\\(?=[\W_])", "", latex) == text
    assert r"95\%" in latex
    assert r"per\_item" in latex


def test_the_latex_compiles(small, tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed")
    latin = ["50% & $x_1^2$ {a} #~\\", '\\input{x} <b> |c| "d" `e\'', "été “quoted”"]
    texts = [
        methods_paragraph(small.assign(system=small["system"].replace("a", name)), written="latex")
        for name in latin
    ]
    lines = [
        r"\documentclass{article}\usepackage[T1]{fontenc}\begin{document}",
        *texts,
        r"\end{document}",
    ]
    (tmp_path / "t.tex").write_text("\n\n".join(lines), encoding="utf-8")
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        check=True,
    )
