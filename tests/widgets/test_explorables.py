"""Explorables: the frames for the positions of the controls, and the static form."""

import gzip
import json
import re
from base64 import b64decode
from collections import Counter
from html.parser import HTMLParser
from itertools import product
from math import prod
from subprocess import run
from sys import executable

import numpy as np
import pandas as pd
import pytest
from support.by_hand import wilson

import ragnb
from ragnb.conformal import conformal_rank
from ragnb.experiments import recorded_responses
from ragnb.explorables import EXPLORABLES
from ragnb.metrics import trace_scores
from ragnb.stats import sign_flip_test

RNG = np.random.default_rng(7)
ONE_REPLY = {"response": ["<b>Oslo"], "references": ["Oslo"], "false_answers": [["Rome", "Bonn"]]}
VARIANTS = [
    *((name,) for name in EXPLORABLES),
    ("mcnemar", [0, 1], [0, 1]),
    ("permutation", [1, 0, 0.5], [0.25, 0, 1]),
    ("fieller", [2, 1, 2, 3], [-1, 3, 1, -2]),
    ("fieller", [1, -1, 2, -2], [1, 2, -1, -2.5]),
    ("power", [1] * 9, [1] * 9),
    ("threshold", [0.5, 0.25, 1], [1, 0, 1]),
    ("mix", pd.DataFrame({"system": ["a"], "hallucination": 0.25, "over_refusal": 0.5})),
    ("ranking", {"retrieved": ["p"], "relevant": []}),
    ("f1", "哥本哈根 <b>&amp;</b>", "哥本哈根"),
    ("resume", 1, 4),
    ("correction", pd.DataFrame(ONE_REPLY)),
    ("conformal", RNG.uniform(size=18), RNG.integers(0, 2, 18)),
    ("slider", lambda number: b"PNG", "number", [1, 2.5], 2.5),
]


class Elements(HTMLParser):
    """The elements of a page, and the text outside and inside of scripts."""

    def __init__(self, page):
        super().__init__()
        self.names, self.script, self.text, self.alts = [], "", "", []
        self.feed(page)

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        self.alts += [value for key, value in attributes if key == "alt"]

    def handle_data(self, data):
        if self.names[-1] == "script":
            self.script = data
        else:
            self.text += data


def packed(script):
    """Question, controls and frames that the script of a page shows."""
    letters = re.search(r'previousElementSibling, "([A-Za-z0-9+/=]+)"\); }\)\(\)$', script)[1]
    return json.loads(gzip.decompress(b64decode(letters)))


def test_the_table_of_explorables_is_complete_when_nothing_else_is_imported():
    code = "from ragnb.explorables import EXPLORABLES; print(*EXPLORABLES)"
    printed = run([executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert {"mcnemar", "power", "trace"} <= set(printed.split())


@pytest.mark.parametrize("given", VARIANTS, ids=lambda given: given[0])
def test_the_first_frame_and_the_static_form_say_the_same_beside_a_described_picture(given):
    question, alt = EXPLORABLES[given[0]].question, EXPLORABLES[given[0]].alt
    shown = ragnb.explore(*given)
    page = Elements(shown._repr_html_())
    sentence = repr(shown).removeprefix(f"{question} ")
    assert page.text.startswith(question)
    assert page.text.endswith(sentence)
    assert page.alts == ([alt] if alt and "img" in page.names else [])
    assert page.names.count("script") == 1
    found = packed(page.script)
    controls, frames = found["controls"], found["frames"]
    if frames:
        sizes = [len(control["values"]) for control in controls]
        at = np.ravel_multi_index([control["at"] for control in controls], sizes)
        assert len(frames) == prod(sizes)
        assert frames[at]["sentence"] == sentence
        paths = " ".join(
            d for frame in frames if frame["chart"] for _, d in frame["chart"]["paths"]
        )
        assert not re.search("nan|inf", paths)


def frame_of(name, *data, **values):
    """The frame of an explorable in which some controls, by the start of their labels, have other values."""
    scene = EXPLORABLES[name].scene(*data)
    chosen = [
        next(
            (value for key, value in values.items() if control.label.startswith(key)), control.start
        )
        for control in scene.controls
    ]
    return scene.frame(*chosen)


def test_random_worlds_estimate_the_p_value_of_the_sign_flip_test():
    first, second = RNG.integers(0, 5, (2, 24)) / 4
    p = sign_flip_test(first, second).p_value
    sentence = frame_of("permutation", first, second, random=100_000).sentence
    share = int(re.search(r"(\d+) of the 100000", sentence)[1]) / 100_000
    assert share == pytest.approx(p, abs=4 * (p * (1 - p) / 100_000) ** 0.5)


def test_f1_of_the_chosen_words_is_that_of_a_count_by_hand():
    """Words are compared in small letters, and each as often as it occurs in both."""
    scene = EXPLORABLES["f1"].scene("no no Oslo", "no Oslo")
    for kept in product([False, True], repeat=3):
        said = [word for word, is_kept in zip(["no", "no", "oslo"], kept, strict=True) if is_kept]
        frame = scene.frame(*kept)
        if not said:
            assert frame.meters == {}
            continue
        shared = (Counter(said) & Counter(["no", "oslo"])).total()
        expected = [shared / len(said), shared / 2, 2 * shared / (len(said) + 2)]
        assert list(frame.meters.values()) == pytest.approx(expected)
        assert f"they share {shared}. " in frame.sentence


def test_f1_of_the_first_words_is_not_called_that_of_the_response():
    short = EXPLORABLES["f1"].scene("one two three four five six seven eight Oslo", "Oslo")
    assert short.frame(*[True] * 9).sentence.startswith("The response has 9 tokens")
    assert short.heading == "reference: Oslo"
    long = EXPLORABLES["f1"].scene("one two three four five six seven eight Oslo or Rome", "Oslo")
    assert long.frame(*[True] * 9).sentence.startswith("These words have 9 tokens")
    assert long.heading.endswith("the first 9 of 11 words of the response:")
    assert "2 more words, which are left out" in str(long.static)


def test_a_killed_run_pays_at_most_what_was_under_way():
    scene = EXPLORABLES["resume"].scene(100, 8)
    for stored in (0, 50, 95, 100):
        sentence = scene.frame(stored).sentence
        assert (
            f"sends the other {100 - stored} requests. Up to {min(8, 100 - stored)} of" in sentence
        )


def test_the_three_fractions_of_error_correction_are_those_of_a_count_by_hand():
    """Replies: error and right, error and refusal, error and false, right alone, false alone."""
    scene = EXPLORABLES["correction"].scene(*EXPLORABLES["correction"].sample())
    corrected = {
        "paper": [1, 0, 0, None, None],
        "released": [1, 1, 0, None, None],
        "flexible": [1, 0, 0, 1, 0],
    }
    for counted in product([False, True], repeat=5):
        frame = scene.frame(*counted)
        for name, values in corrected.items():
            chosen = [
                value for value, is_in in zip(values, counted, strict=True)
                if is_in and value is not None
            ]  # fmt: skip
            assert f"{sum(chosen)} of {len(chosen)} under {name}" in frame.sentence
            if chosen:
                assert frame.meters[name] == sum(chosen) / len(chosen)
            else:
                assert name not in frame.meters
                assert f"0 of 0 under {name} (undefined)" in frame.sentence


def test_the_fractions_of_many_replies_to_several_questions():
    """Only the first replies are shown, those that are missing are not, and no answer stands above them."""
    recorded = recorded_responses("rgb_counterfactual").query(
        "system == 'answer' and passage_num == 5 and correct_rate == 0"
    )
    recorded.loc[recorded.index[0], "response"] = None
    scene = EXPLORABLES["correction"].scene(recorded)
    shown = [control.text for control in scene.controls]
    assert shown == recorded["response"].iloc[1:9].tolist()
    assert scene.heading == ""


def test_conformal_thresholds_are_those_of_the_ranks():
    scores = RNG.uniform(size=100).round(3)
    for alpha, n in ((0.1, 50), (0.4, 19), (0.5, 99)):
        sentence = frame_of("conformal", 1 - scores, [1] * 100, error=alpha, calibration=n).sentence
        rank = conformal_rank(n, alpha)
        threshold = np.sort(scores[:n])[rank - 1]
        covered = 100 * np.mean(scores[n:] <= threshold)
        assert f"score number {rank} in ascending order, {threshold:.3f}." in sentence
        assert f"{covered:.1f} % are covered" in sentence
    few = frame_of("conformal", 1 - scores, [1] * 100, error=0.01, calibration=20)
    assert few.sentence.endswith("at least 99 calibration items, got 20.")


def test_a_mean_cost_near_zero_changes_the_kind_of_the_confidence_set():
    gain, cost = RNG.normal([[0.4], [40]], [[0.4], [20]], (2, 30))
    clusters = np.repeat(range(15), 2)
    kinds = ("bounded, from", "two rays: all ratios up to", "the whole line: no ratio")
    changes = ({}, {"mean c": 0.0}, {"mean c": 0.0, "mean g": 0.0})
    for kind, change in zip(kinds, changes, strict=True):
        assert kind in frame_of("fieller", gain, cost, clusters, **change).sentence


@pytest.mark.parametrize("variant", ["ragbench", "guide"])
def test_the_parts_of_the_trace_sentence_have_the_scores_of_the_metric(variant):
    record = ragnb.load_ragbench("sample-ragbench").iloc[0].to_dict()
    scene = EXPLORABLES["trace"].scene(record, variant=variant)
    keys = [control.key.strip("[]") for control in scene.controls]
    shares = RNG.choice([0, 0.2, 0.5], 40)
    for share in shares:
        chosen = RNG.binomial(1, share, len(keys)).tolist()
        labels = {label: [] for label in ("relevant", "used", "unsupported")}
        for key, control, on in zip(keys, scene.controls, chosen, strict=True):
            labels[control.label] += [key] * on
        relevant, used, unsupported = labels.values()
        support = [
            {"response_sentence_key": key, "fully_supported": key not in unsupported}
            for key, _ in record["response_sentences"]
        ]
        scores = trace_scores(
            record
            | {"all_relevant_sentence_keys": relevant, "all_utilized_sentence_keys": used}
            | {"unsupported_response_sentence_keys": unsupported}
            | {"sentence_support_information": support},
            variant=variant,
        )
        sentence = scene.frame(*chosen).sentence
        assert f"(relevance {scores.relevance:.2f})" in sentence
        assert f"(utilization {scores.utilization:.2f})" in sentence
        assert f"adherence is {scores.adherence:.0f}." in sentence
        average = float(re.search(r"average of the four numbers is (\d\.\d{3})\.", sentence)[1])
        assert average == pytest.approx(scores.average, abs=0.00051)
        if relevant:
            assert f"(completeness {scores.completeness:.2f})" in sentence
        else:
            assert f"completeness is {scores.completeness:.0f}" in sentence.replace(
                "sets completeness to", "completeness is"
            )


GUIDE_EXAMPLE = {  # the worked example of the visual guide, as in a file of your own
    "question": "Who wrote it?",
    "documents": ["One. Two. Three.", "Four. Five. Six."],
    "response": "A thing. Another thing. A third thing.",
    "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
    "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    "sentence_support_information": [
        {"response_sentence_key": "a", "supporting_sentence_keys": ["0b"], "fully_supported": True},
        {"response_sentence_key": "b", "supporting_sentence_keys": ["0c"], "fully_supported": True},
        {"response_sentence_key": "c", "supporting_sentence_keys": [], "fully_supported": False},
    ],
}


@pytest.mark.parametrize(
    ("variant", "numbers"),
    [
        ("ragbench", ["relevance 0.67", "utilization 0.50", "completeness 0.75", "is 0.479."]),
        ("guide", ["relevance 0.20", "utilization 0.75", "completeness 0.75", "is 0.425."]),
    ],
)
def test_trace_shows_a_record_of_your_own_file_with_the_formulas_of_both_sources(
    tmp_path, variant, numbers
):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(GUIDE_EXAMPLE), "utf-8")
    page = ragnb.explore("trace", ragnb.load_ragbench(path).iloc[0], variant=variant)
    assert all(number in repr(page) for number in numbers)
    assert "adherence is 0" in repr(page)


def test_a_slider_shows_names_and_starts_at_the_first():
    names = ["gpt-4", "<b>llama</b>", "模型"]
    texts = packed(
        Elements(ragnb.explore("slider", str.upper, "model", names)._repr_html_()).script
    )
    assert texts["controls"][0]["values"] == names
    assert texts["controls"][0]["at"] == 0
    shown = ragnb.explore("slider", lambda name: b"PNG", "model", names, names[2])
    assert repr(shown).endswith("model = 模型")
    shown = ragnb.explore("slider", lambda number: b"PNG", "number", np.array([1, 2]), 2)
    assert repr(shown).endswith("number = 2")


def test_noise_shows_the_recorded_reply_at_each_rate():
    responses = recorded_responses("rgb_noise").query("system == 'plain'")
    means = ragnb.score(responses, "rgb.accuracy").groupby("noise_rate").value.mean()
    for rate, mean in means.items():
        frame = frame_of("noise", responses, noise=rate, question=3)
        low, high = wilson(round(mean * 68), 68)
        interval = f"(95 % Wilson interval {low:.2f} to {high:.2f})"
        assert f"{mean:.3f} of the replies are correct {interval}" in frame.sentence
        (_, question), *passages, (_, reply) = frame.lines
        (asked,) = responses[
            responses["question"].eq(question) & responses["noise_rate"].eq(rate)
        ].to_dict("records")
        assert [text[2:] for _, text in passages] == list(asked["passages"])
        assert reply[2:] == asked["response"]
        assert [look == "good" for look, _ in passages] == [
            kind == "positive" for kind in asked["kinds"]
        ]


def test_judge_is_unbiased_where_its_line_meets_the_diagonal():
    labels = np.repeat([1, 0], [70, 30])
    verdicts = np.repeat([1, 0, 1, 0], [42, 28, 6, 24])
    frame = pd.DataFrame({"example_id": range(100), "people": labels, "judge": verdicts})
    report = ragnb.judge_report(frame, judge="judge", label="people", annotators="people")
    # 0.6 p + 0.2 (1 - p) = p at p = 1/3; 7 of 10 correct answers more are 0.4 * 7 accepted answers more
    first = frame_of("judge", report).sentence
    assert "sensitivity 0.60 and specificity 0.80" in first
    assert "4.0 points (J = 0.40)" in first
    assert "fewer than 33 %" in first
    assert "no errors" in frame_of("judge", report, sens=1.0, spec=1.0).sentence


def test_an_invalid_reply_is_no_right_decision():
    """The share of right decisions is the alignment of the report, also under a rule with three outcomes."""
    replies = ragnb.load_study("nomiracl").query(
        "language == 'es' and system == 'llama-2-13b-chat'"
    )
    for rule in ("start", "nomiracl"):
        report = ragnb.abstention_report(replies, rule=rule)
        row = report.iloc[0]
        # As many answerable as unanswerable questions: 250 of each.
        sentence = frame_of("mix", report).sentence
        assert f"right decision on {row['alignment']:.3f} of" in sentence
    assert row["answerable_invalid"] > 0


def test_texts_from_outside_end_no_script_and_become_no_element():
    text = "</script><img src=x onerror=alert(1)><!--\u202e`${1}"
    record = ragnb.load_ragbench("sample-ragbench").iloc[0].to_dict()
    record |= {"question": text, "response_sentences": [["a", text]]}
    responses = recorded_responses("rgb_noise").query("system == 'plain'").assign(response=text)
    ranked = {"question": text, "passages": [text], "retrieved": [text], "relevant": [text]}
    named = pd.Series([1, 0], name=text), pd.Series([0, 0], name="b")
    for name, *data in (
        ("trace", record),
        ("noise", responses),
        ("ranking", ranked),
        ("correction", pd.DataFrame({key: [text] for key in ONE_REPLY})),
        ("mcnemar", *named),
    ):
        html = ragnb.explore(name, *data)._repr_html_()
        page = Elements(html)
        assert page.names.count("script") == 1
        assert page.names.count("img") == len(page.alts)
        assert "\u202e" not in html
        assert "⟨U+202E⟩" in json.dumps(packed(page.script), ensure_ascii=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("mcnemars",), "name must be one of 'conformal'.*'mcnemar'.*got 'mcnemars'"),
        (("mcnemar", [1, 0], [1]), "first and second must have one value per item, got 2 .* 1 "),
        (("mcnemar", [1, 2], [1, 0]), "first must be 0 or 1, got 2"),
        (("fieller", [1, 1], [2, 2]), "gain and cost must have a confidence set: "),
        (("trace", {"question": "Who?"}), "of kind .trace. needs the columns"),
        (("conformal", [0.5] * 20, [1] * 19), "one value per item"),
        (("threshold", [0.5, 0.5], [1, 1]), "label must contain both 0 and 1"),
        (("mix", pd.DataFrame({"system": ["a"]})), "explore needs the columns"),
        (("conformal", [0.5] * 4, [1] * 4), "label must have at least 18 items, got 4"),
        (("noise", recorded_responses("rgb_noise")), "example_id"),
        (("correction", pd.DataFrame({"response": ["Oslo"]})), "needs the columns?"),
        (("correction", pd.DataFrame(ONE_REPLY | {"response": [None]})), "a reply .*, got none"),
        (("slider", str, "model", []), "at least one value of the slider, got none"),
        (("slider", str, "model", ["a"], "b"), "must be one of its values, got 'b'"),
        (("slider", len, "model", ["a"]), "must return a text, or a PNG .* got int for a"),
    ],
)
def test_wrong_data_are_named(call, message):
    with pytest.raises(ragnb.InputError, match=message):
        ragnb.explore(*call)


def test_the_card_of_trace_without_a_script_has_the_variant_too():
    record = ragnb.load_ragbench("sample-ragbench").iloc[0]
    for variant, average in (("ragbench", "0.479"), ("guide", "0.425")):
        static = ragnb.explore("trace", record, variant=variant)._repr_html_()
        shown = re.sub(r"<script.*?</script>|<style.*?</style>", "", static, flags=re.DOTALL)
        assert f"average is {average}" in " ".join(shown.split()).replace(
            "of the four numbers ", ""
        )
        numbers = ragnb.view(record, variant=variant)._repr_html_()
        row = re.search(r"<tr[^>]*>(?:(?!</tr>).)*average.*?</tr>", numbers, flags=re.DOTALL)[0]
        assert average in row
        assert row in static


def test_only_trace_has_variants():
    with pytest.raises(ragnb.InputError, match="only 'trace' has the variant 'guide', got .*mix"):
        ragnb.explore("mix", variant="guide")
    with pytest.raises(ragnb.InputError, match="variant must be one of 'ragbench', 'guide', got"):
        ragnb.explore("trace", variant="guides")
