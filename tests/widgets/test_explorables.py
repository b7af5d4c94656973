"""Explorables: the page computes what ragnb computes, and says what the static form says."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import recall_score

import ragnb
from ragnb.conformal.sets import conformal_rank, coverage_distribution, too_few_items
from ragnb.experiments.recorded import recorded_responses
from ragnb.explorables import EXPLORABLES
from ragnb.metrics.trace import trace_scores
from ragnb.stats.binary import PairedTable, mcnemar_test
from ragnb.stats.cost_effectiveness import fieller_interval
from ragnb.stats.paired import sign_flip_test
from ragnb.stats.power import mcnemar_mde

NODE = shutil.which("node")
RUNNER = Path(__file__).parent / "js" / "explorables.mjs"
RNG = np.random.default_rng(7)
needs_node = pytest.mark.skipif(NODE is None, reason="NO NODE: the explorables are not computed")
VARIANTS = {name: [()] for name in EXPLORABLES}
VARIANTS["mcnemar"] += [([1, 1, 0, 1], [1, 0, 0, 0]), ([0, 1], [0, 1]), ([1] * 6, [0] * 6)]
VARIANTS["permutation"] += [([1, 0, 0.5], [0.25, 0, 1]), (RNG.normal(size=40), RNG.normal(size=40))]
VARIANTS["permutation"] += [([1, 0, 1], [0, 1, 1])]
VARIANTS["fieller"] += [([2, 1, 2, 3], [-1, 3, 1, -2]), ([1, -1, 2, -2], [1, 2, -1, -2.5])]
VARIANTS["fieller"] += [([0.5, 0.0, 0.25, 0.5], [20, 10, 10, 30])]
VARIANTS["power"] += [([1, 1, 0, 1, 1], [1, 0, 0, 0, 1]), ([1] * 9, [1] * 9), ([1] * 6, [0] * 6)]
VARIANTS["trace"] += [(record,) for _, record in ragnb.load_ragbench("sample-ragbench").iterrows()]
VARIANTS["threshold"] += [([0.5, 0.25, 1], [1, 0, 1]), (RNG.uniform(size=50), [0] * 25 + [1] * 25)]
VARIANTS["mix"] += [(pd.DataFrame({"system": ["a"], "hallucination": 0.25, "over_refusal": 0.5}),)]
VARIANTS["ranking"] += [
    ({"retrieved": ["p", "q"], "relevant": {"q": 1, "r": 0}},),
    ({"retrieved": ["p"], "relevant": []},),
]
VARIANTS["conformal"] += [(RNG.uniform(size=n), RNG.integers(0, 2, n)) for n in (18, 19, 200)]


def computed(*cases):
    """Numbers and sentence of each case, as the page computes them."""
    given = json.dumps(cases)
    ran = subprocess.run([NODE, RUNNER], input=given, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


@needs_node
def test_mcnemar():
    tables = [(3, 5, 0, 9), (1, 0, 0, 2), (0, 700, 811, 3)]
    tables += RNG.integers(0, 40, (40, 4)).tolist()
    keys = ("both", "first", "second", "neither")
    cases = [dict(zip(keys, table, strict=True), names=["a", "b"]) for table in tables]
    for table, found in zip(tables, computed(*(["mcnemar", c, {}] for c in cases)), strict=True):
        for method, key in (("exact", "exact"), ("mid-p", "midP")):
            p = mcnemar_test(PairedTable(*table), method=method).p_value
            assert found[key] == pytest.approx(p, rel=1e-10)


@needs_node
def test_conformal():
    scores = RNG.uniform(size=500).round(3)
    states = [
        {"n": int(n), "percent": a} for n in (1, 9, 19, 99, 250, 499) for a in range(1, 51, 7)
    ]
    cases = (["conformal", {"scores": scores.tolist()}, state] for state in states)
    for state, found in zip(states, computed(*cases), strict=True):
        n, alpha = state["n"], state["percent"] / 100
        coverage = coverage_distribution(n, alpha)
        assert found["rank"] == conformal_rank(n, alpha)
        assert found["mean"] == pytest.approx(coverage.mean())
        assert [found["low"], found["high"]] == pytest.approx(coverage.ppf([0.05, 0.95]), abs=1e-9)
        if reason := too_few_items(n, alpha):
            assert re.search(r"at least \d+", reason)[0] in found["sentence"]
        else:
            assert found["threshold"] == np.sort(scores[:n])[found["rank"] - 1]
            assert found["inside"] == np.mean(scores[n:] <= found["threshold"])


@needs_node
def test_permutation():
    first, second = RNG.integers(0, 5, (2, 24)) / 4
    scene = EXPLORABLES["permutation"][2](first, second)
    p = sign_flip_test(first, second).p_value
    (found,) = computed(["permutation", scene.data, {"worlds": 100_000}])
    assert found["difference"] == pytest.approx(np.mean(first - second))
    assert found["extreme"] / 100_000 == pytest.approx(p, abs=4 * (p * (1 - p) / 100_000) ** 0.5)
    signs = np.sign([total for total in found["totals"] if total])
    assert abs(signs.mean()) < 0.015


@needs_node
def test_power():
    states = [{"n": n, "share": share} for n in (5, 30, 100, 1000) for share in (0, 0.05, 0.26, 1)]
    cases = (["power", state, {}] for state in states)
    for state, found in zip(states, computed(*cases), strict=True):
        expected = mcnemar_mde(state["n"], discordance=state["share"])
        assert found["mde"] == pytest.approx(expected, abs=1e-7)


@needs_node
def test_fieller():
    gain, cost = RNG.normal([[0.1], [4]], [[0.4], [20]], (2, 30))
    clusters = np.repeat(range(15), 2)
    data = EXPLORABLES["fieller"][2](gain, cost, clusters).data
    shifts = [(a, b) for a in (-0.3, 0, 0.05, 0.6) for b in (-30, -4, 0, 3, 8, 40)]
    states = [{"gain": data["gain"] + a, "cost": data["cost"] + b} for a, b in shifts]
    kinds = set()
    for (a, b), found in zip(
        shifts, computed(*(["fieller", data, s] for s in states)), strict=True
    ):
        expected = fieller_interval(gain + a, cost + b, clusters=clusters)
        assert found["kind"] == expected.kind
        assert found["ratio"] == pytest.approx(expected.estimate)
        kinds.add(expected.kind)
        if expected.kind != "whole line":
            assert found["limits"] == pytest.approx(expected.limits)
    assert kinds == {"bounded", "two rays", "whole line"}


@needs_node
def test_trace():
    names = ("relevance", "utilization", "completeness", "adherence")
    record = ragnb.load_ragbench("sample-ragbench").iloc[0].to_dict()
    data = EXPLORABLES["trace"][2](record).data
    states = [
        {"relevant": [], "used": ["0a"]},
        {"used": []},
        {"relevant": ["1c"], "unsupported": []},
    ]
    fields = {
        "relevant": "all_relevant",
        "used": "all_utilized",
        "unsupported": "unsupported_response",
    }
    for state, found in zip(states, computed(*(["trace", data, s] for s in states)), strict=True):
        changed = {f"{fields[key]}_sentence_keys": keys for key, keys in state.items()}
        scores = trace_scores(record | changed)
        assert [found[name] for name in names] == pytest.approx([getattr(scores, n) for n in names])


@needs_node
def test_noise():
    responses = recorded_responses("rgb_noise").query("system == 'plain'")
    data = EXPLORABLES["noise"][2](responses).data
    means = ragnb.score(responses, "rgb.accuracy").groupby("noise_rate").value.mean()
    for place, found in enumerate(
        computed(*(["noise", data, {"rate": k, "item": 2}] for k in range(5)))
    ):
        assert found["share"] == pytest.approx(means.iloc[place])
        assert found["useful"] / found["total"] == pytest.approx(1 - means.index[place])
        run = data["items"][2]["runs"][place]
        asked = responses[responses["question"] == data["items"][2]["question"]].iloc[place]
        assert [data["items"][2]["passages"][k] for k in run["order"]] == list(asked["passages"])
        assert (run["reply"], asked["noise_rate"]) == (asked["response"], means.index[place])


@needs_node
def test_judge():
    labels = np.repeat([1, 0], [70, 30])
    verdicts = np.repeat([1, 0, 1, 0], [42, 28, 6, 24])
    frame = pd.DataFrame({"example_id": range(100), "people": labels, "judge": verdicts})
    report = ragnb.judge_report(frame, judge="judge", label="people", annotators="people")
    scene = EXPLORABLES["judge"][2](report)
    found = computed(["judge", scene.data, {}], ["judge", scene.data, dict.fromkeys(scene.data, 1)])
    assert found[0]["sentence"] == scene.sentence
    assert scene.data["groups"] == []
    at = found[0]["unbiasedAt"]
    assert (scene.data["sensitivity"], scene.data["specificity"]) == (0.6, 0.8)
    assert 0.6 * at + 0.2 * (1 - at) == pytest.approx(at)
    # 7 of 10 correct answers more are 0.4 * 7 accepted answers more
    assert found[0]["youden"] == pytest.approx(0.4)
    assert "no errors" in found[1]["sentence"]


@needs_node
def test_threshold_has_the_rates_of_scikit_learn():
    labels = RNG.integers(0, 2, 60)
    scores = RNG.uniform(size=60).round(2)
    data = EXPLORABLES["threshold"][2](scores, labels).data
    thresholds = (0, 0.3, 0.55, 1)
    cases = (["threshold", data, {"threshold": at}] for at in thresholds)
    for at, found in zip(thresholds, computed(*cases), strict=True):
        passed = scores >= at
        assert found["sensitivity"] == pytest.approx(recall_score(labels, passed))
        assert found["specificity"] == pytest.approx(recall_score(labels, passed, pos_label=0))


@needs_node
def test_mix_at_the_share_of_the_data_is_the_alignment_of_the_report():
    report = ragnb.abstention_report(ragnb.load_study("nomiracl").query("language == 'de'"))
    row = report.iloc[0]
    unanswerable = row["unanswerable_answered"] + row["unanswerable_refused"]
    n = unanswerable + row["answerable_answered"] + row["answerable_refused"]
    data = EXPLORABLES["mix"][2](report).data
    shares = (100 * unanswerable / n, 0, 100)
    at_share, none, all_of_them = computed(*(["mix", data, {"percent": p}] for p in shares))
    assert at_share["shares"] == pytest.approx(report["alignment"].tolist())
    assert none["share"] == pytest.approx(1 - report["over_refusal"].min())
    assert all_of_them["share"] == pytest.approx(1 - report["hallucination"].min())


@needs_node
def test_ranking_has_the_numbers_of_the_metrics():
    row = {"retrieved": [*"abcdef"], "relevant": ["b", "e", "x"]}
    data = EXPLORABLES["ranking"][2](row).data
    names = {"success": "success", "recall": "recall", "reciprocal": "reciprocal_rank"}
    names["ndcg"] = "ndcg"
    cases = (["ranking", data, {"k": k}] for k in range(1, 7))
    for k, found in enumerate(computed(*cases), 1):
        frame = pd.DataFrame([{"example_id": 1, **row, "retrieved": row["retrieved"][:k]}])
        for name, metric in names.items():
            (value,) = ragnb.score(frame, f"retrieval.{metric}@{k}")["value"]
            assert found[name] == pytest.approx(value)
    (all_relevant,) = computed(["ranking", data, {"relevant": [*"123456"], "k": 4}])
    assert (all_relevant["ndcg"], all_relevant["recall"]) == (1, pytest.approx(4 / 7))


@needs_node
def test_numbers_are_rounded_as_python_does():
    module = RUNNER.parents[3] / "ragnb/widgets/static/src/explorable.mjs"
    values = [*(k / 64 for k in range(-130, 130)), 1.005, 1.015, 1e-9, -1e-9, 12345.678]
    code = f"import {{ fixed }} from {json.dumps(str(module))};\n" + (
        f"process.stdout.write(JSON.stringify({values}.map((v) => [1, 2, 3, 4].map((d) => fixed(v, d)))))"
    )
    ran = subprocess.run(
        [NODE, "--input-type=module", "-e", code], capture_output=True, text=True, check=True
    )
    expected = [[f"{round(v, d) + 0.0:.{d}f}" for d in (1, 2, 3, 4)] for v in values]
    assert json.loads(ran.stdout) == expected


# ---- the page ------------------------------------------------------------------------------------


class Elements(HTMLParser):
    """The elements of a page, and the text outside and inside of scripts."""

    def __init__(self, page):
        super().__init__()
        self.names, self.scripts, self.text, self.alts = [], "", "", []
        self.feed(page)

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        self.alts += [value for key, value in attributes if key == "alt"]

    def handle_data(self, data):
        if self.names[-1] == "script" and not self.scripts:
            self.scripts = data
        else:
            self.text += data


@needs_node
@pytest.mark.parametrize("name", EXPLORABLES)
def test_the_script_and_the_static_form_say_the_same_beside_a_described_picture(name):
    question, alt, _ = EXPLORABLES[name]
    sentences, cases = [], []
    for data in VARIANTS[name]:
        shown = ragnb.explore(name, *data)
        sentences.append(repr(shown).removeprefix(f"{question} "))
        page = Elements(shown._repr_html_())
        assert page.text.startswith(question)
        assert page.text.endswith(sentences[-1])
        assert page.alts == ([alt] if alt else [])
        assert page.names.count("script") == 1
        start = re.search(r"previousElementSibling, (.*)\); }\)\(\)$", page.scripts)
        _, _, given = json.loads(f"[{start[1]}]")
        cases.append([name, given, {}])
    said = [found["sentence"].partition(" It occurs in")[0] for found in computed(*cases)]
    assert said == sentences


def test_no_name_ends_the_script_or_hides():
    name = "</script><img src=x onerror=alert(1)><!--\u202e`${1}"
    shown = ragnb.explore("mcnemar", pd.Series([1, 0], name=name), pd.Series([0, 0], name="b"))
    page = Elements(shown._repr_html_())
    assert page.names.count("script") == 1
    assert page.names.count("img") == 1
    assert "\u202e" not in shown._repr_html_()
    assert re.search(r"\\u003c/script>.*⟨U\+202E⟩", page.scripts)


def test_no_sentence_and_no_reply_becomes_an_element():
    text = "</script><img src=x onerror=alert(1)><script>alert(2)</script>"
    record = ragnb.load_ragbench("sample-ragbench").iloc[0].to_dict()
    record |= {"question": text, "response_sentences": [["a", text]]}
    responses = recorded_responses("rgb_noise").query("system == 'plain'").assign(response=text)
    ranked = {"question": text, "passages": [text], "retrieved": [text], "relevant": [text]}
    for name, data in (("trace", record), ("noise", responses), ("ranking", ranked)):
        page = Elements(ragnb.explore(name, data)._repr_html_())
        assert page.names.count("script") == 1
        assert "img" not in page.names


def test_replies_of_several_systems_are_refused():
    responses = recorded_responses("rgb_noise")
    with pytest.raises(ragnb.InputError, match="example_id"):
        ragnb.explore("noise", responses)
    with pytest.raises(ragnb.InputError, match="at every noise rate, got none"):
        ragnb.explore(
            "noise",
            responses.query("system == 'plain'")
            .drop_duplicates("example_id")
            .assign(noise_rate=lambda rows: [k % 2 for k in range(len(rows))]),
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("mcnemars",), "name must be one of 'mcnemar'.*got 'mcnemars'"),
        (("mcnemar", [1, 0], [1]), "first and second must have one value per item, got 2 .* 1 "),
        (("mcnemar", [1, 2], [1, 0]), "first must be 0 or 1, got 2"),
        (("fieller", [1, 1], [2, 2]), "gain and cost must have a confidence set: "),
        (("trace", {"question": "Who?"}), "of kind .trace. needs the columns"),
        (("conformal", [0.5] * 20, [1] * 19), "one value per item"),
        (("conformal", [1.5] * 20, [1] * 20), "probability must be between 0 and 1, got 1.5"),
        (("threshold", [0.5, 0.5], [1, 1]), "label must contain both 0 and 1"),
        (("mix", pd.DataFrame({"system": ["a"]})), "explore needs the columns"),
        (("conformal", [0.5] * 4, [1] * 4), "label must have at least 18 items, got 4"),
    ],
)
def test_wrong_data_are_named(call, message):
    with pytest.raises(ragnb.InputError, match=message):
        ragnb.explore(*call)
