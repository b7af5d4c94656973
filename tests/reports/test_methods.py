"""Methods paragraphs: every number is in the frames, and every name comes through as itself."""

import re

import numpy as np
import pandas as pd
import pytest
from hostile import HOSTILE
from made_scores import scored

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
    frame = scored({"a": [1.0, 0.0, 1.0], "b": [0.0, 0.0, np.nan]}, "m", language="en")
    signature = "ragnb:9.8.7|metric:m|variant:x|lang:en"
    return frame.assign(signature=signature, reason=[None] * 5 + ["no reply: timeout"])


def held(*frames):
    """Every number in the frames, in values, counts and texts, as it may be printed."""
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
        licence = NUMBER.findall(frames[0].attrs["source"]["licence"])
        assert printed <= held(*frames) | {f"{responses}", *licence}


def test_the_run_with_two_prompts(noise):
    text = methods_paragraph(*noise)
    low, high = noise[2]["mde"].min(), noise[2]["mde"].max()
    assert text == (
        "We scored 680 responses to 68 questions with rgb.accuracy (protocol paper, parts all). "
        "Systems: “answer”, “plain”. Languages: en. "
        "Conditions: task noise; noise rate 0, 0.2, 0.4, 0.6, 0.8; passages per question 5; passage order per_item. "
        "Data: sample-en (written by the authors of ragnb; licence CC BY 4.0). "
        "Model: SmolLM2-135M-Instruct (SmolLM2-135M-Instruct.Q4_1.gguf, SHA-256 b179c9523d0e…). "
        "Prompts: rgb.answer.en:1:a169cd4b, rgb.plain.en:1:d4c590b8. Missing values: none. "
        "Each mean is over 68 scored of 68 responses, with 95% intervals (Wilson). "
        "We compared systems in pairs on the same items: “answer” - “plain” (5 comparisons of 68 "
        "items; 0 left out because a value is missing), with 95% intervals (Tango). "
        "Tests: McNemar mid-p (all scores are 0 or 1, so only discordant items count). "
        "P-values are corrected by the method of Holm over families of 5. "
        "Minimum detectable effect on rgb.accuracy (80% power, one uncorrected test, at the "
        f"observed spread): {low:#.3g} to {high:#.3g}. Computed with ragnb {ragnb.__version__}."
    )


def test_questions_in_several_languages_are_counted_once_and_clusters_are_named(languages):
    text = methods_paragraph(*languages, cluster="question_id")
    assert "960 responses to 40 questions with answer.contains (variant unicode), answer.f1" in text
    assert "95% intervals (cluster-robust t, 40 clusters), clustered by question_id." in text
    assert "“multi” - “direct”, “cross” - “direct”, “lbrag” - “direct” (6 comparisons of" in text
    assert "clusters: question_id" in text


def test_a_response_under_two_definitions_counts_once():
    responses = recorded_responses("rgb_noise").query("system == 'plain' and noise_rate == 0")
    both = [ragnb.score(responses, "rgb.accuracy", protocol=p) for p in ("paper", "released")]
    text = methods_paragraph(pd.concat(both))
    assert "We scored 68 responses" in text
    assert "rgb.accuracy (protocol paper, parts all / protocol released, parts all)" in text


def test_repeats_of_one_question_are_responses(small):
    twice = pd.concat([small.assign(repeat=0), small.assign(repeat=1)])
    assert "We scored 12 responses to 3 questions" in methods_paragraph(twice)
    assert "Conditions: repeat 0, 1." in methods_paragraph(twice)
    assert "We scored 12 responses" in methods_paragraph(pd.concat([small, small]))


def test_sampling_parameters_come_from_the_responses(noise):
    responses = recorded_responses("rgb_noise").query("system in ('answer', 'plain')")
    text = methods_paragraph(noise[0], responses=responses)
    assert "Sampling parameters: max_tokens=64, seed=0, temperature=0." in text
    other = responses.assign(model="another")
    assert "Model: another. " in methods_paragraph(ragnb.score(other, "rgb.accuracy"))


@pytest.mark.data
def test_real_files_are_named_as_such_and_not_as_the_authors_own(data_folder):
    examples = ragnb.load_rgb(data_folder / "rgb" / "zh_refine.json")
    said = ragnb.build_contexts(examples, noise_rate=[0, 0.8]).assign(system="x", response="2022")
    text = methods_paragraph(ragnb.score(said, "rgb.accuracy"))
    sha = examples.attrs["source"]["git_sha1"][:8]
    assert f"Data: zh_refine@{sha} (Chen, Lin, Han, Sun (AAAI 2024)" in text
    assert "licence CC BY-NC-SA 4.0 (non-commercial))." in text
    assert "authors of ragnb" not in text


def test_missing_values_are_counted_with_their_reasons(small):
    text = methods_paragraph(small, ragnb.summarize(small), ragnb.compare(small, unpaired="drop"))
    assert "Missing values: 1 of 6, left out of the means: no reply (1)." in text
    assert "Each mean is over 2 to 3 scored of 3 responses" in text
    assert "(1 comparison of 2 items; 1 left out because a value is missing)" in text
    assert "no reason given (1)" in methods_paragraph(small.drop(columns="reason"))


def test_undefined_tests_are_counted_and_their_warnings_reported(small):
    comparisons = ragnb.compare(small.assign(value=[1.0, 0, 1, 1, 0, 1], reason=None))
    undefined = comparisons.assign(p_value=np.nan, warning="no discordant item")
    text = methods_paragraph(comparisons=undefined)
    assert "Undefined p-values: 1. Warnings: no discordant item." in text
    assert "Minimum detectable" not in text


def test_a_frame_that_is_not_given_has_no_sentence(noise):
    scores, summaries, comparisons = noise
    alone = [
        methods_paragraph(scores),
        methods_paragraph(summaries=summaries),
        methods_paragraph(comparisons=comparisons),
    ]
    for number, sentence in enumerate(("We scored 680", "Each mean", "We compared")):
        assert [sentence in text for text in alone] == [place == number for place in range(3)]
    assert ["Missing" in text for text in alone] == [True, False, False]
    assert all("rgb.accuracy (protocol" in text for text in alone)


def test_wrong_frames_are_refused(noise, languages):
    scores, summaries, _ = noise
    for frames, message in (
        ([], "needs scores, summaries or comparisons"),
        ([scores.iloc[:0]], "scores with rows"),
        ([scores.drop(columns="signature")], "without signature"),
        ([scores, languages[1]], "summaries that were computed from its scores"),
        ([scores, summaries.assign(system="another")], "'another'"),
    ):
        with pytest.raises(InputError, match=message):
            methods_paragraph(*frames)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_and_do_nothing(small, name):
    frame = small.assign(system=small["system"].replace("a", name))
    for written in ("text", "markdown", "latex"):
        text = methods_paragraph(frame, written=written)
        assert not hidden(text)
        assert "\n" not in text
    assert not re.search(r"(?<!\\)[<*`_$\[]", methods_paragraph(frame, written="markdown"))
    assert not re.search(r"(?<!\\)[%&#$_]", methods_paragraph(frame, written="latex"))
