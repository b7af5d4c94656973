"""Explorables: small figures with controls that show one idea each, and need no kernel.

The page contains a frame for each position of the controls and the script that shows them, so an
explorable also works in exported HTML. Where no script runs, as on code-hosting pages and on paper,
the first frame takes its place.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit
from scipy.stats import binom

from ragnb.arguments import Booleans, Floats, Integers, accepts
from ragnb.columns import require_columns
from ragnb.conformal.sets import conformal_rank, coverage_distribution, too_few_items
from ragnb.datasets.ragbench import load_ragbench
from ragnb.datasets.studies import load_study
from ragnb.errors import InputError, check_choice
from ragnb.experiments.recorded import recorded_responses
from ragnb.figures.explorables import Chart, bars
from ragnb.markup import Markup, join, spelled, tag
from ragnb.metrics.retrieval import ndcg, recall, reciprocal_rank, success
from ragnb.metrics.trace import GUIDE_SENTENCES
from ragnb.metrics.trace_labels import VARIANTS, sentence_pairs, unsupported_sentences
from ragnb.reports.abstention import abstention_report
from ragnb.reports.efficiency import gains_and_costs
from ragnb.reports.judge import JudgeReport, judge_report
from ragnb.reports.multilingual import multilingual_report
from ragnb.scoring.scores import score
from ragnb.stats.binary import PairedTable, mcnemar_test, paired_table
from ragnb.stats.cost_effectiveness import fieller_interval
from ragnb.stats.exact import find_lattice, to_lattice
from ragnb.stats.intervals import unit_values
from ragnb.stats.paired import paired_differences, sign_flip_test
from ragnb.stats.power import mcnemar_mde, mcnemar_power
from ragnb.widgets.card import Card
from ragnb.widgets.pages import STATIC, Page, sign


class Control(NamedTuple):
    """A slider over a list of values, or a button next to a text, whose values are False and True."""

    label: str
    values: Sequence[Any]
    start: Any
    key: str = ""
    text: str = ""


class Frame(NamedTuple):
    """What is shown at one position of the controls.

    Attributes
    ----------
    sentence
        The sentence under the figure.
    chart
        The figure.
    meters
        Names and values between 0 and 1.
    lines
        Texts, each with the name of its look in explore.css.
    picture
        Address of a picture.
    """

    sentence: str
    chart: Chart | None = None
    meters: Mapping[str, float] = {}
    lines: Sequence[tuple[str, str]] = ()
    picture: str = ""

    def drawing(self) -> dict[str, Any]:
        """Return what the script shows."""
        return {
            "sentence": spelled(self.sentence),
            "chart": self.chart and self.chart.drawing(),
            "meters": [[name, f"{value:.2f}"] for name, value in self.meters.items()],
            "lines": [[look, spelled(text)] for look, text in self.lines],
            "picture": self.picture,
        }


class Scene(NamedTuple):
    """An explorable with its data.

    Attributes
    ----------
    controls, frame
        The controls, and what makes a frame of their values.
    heading
        What stands above the controls.
    static
        What takes the place of the lines and meters where no script runs.
    counts
        Sentence and value of each meter by the counts of chosen labels, and the sentence on their
        average, if there are too many frames.
    """

    controls: list[Control]
    frame: Callable[..., Frame]
    heading: str = ""
    static: Markup = Markup("")
    counts: dict[str, Any] | None = None


def explore(name: str, *data: Any, variant: str = "ragbench") -> Page:
    """Show an explorable: an interactive figure with a few controls that answers one question.

    It runs in the page: in JupyterLab without a kernel, in exported HTML, and in the documentation.

    Parameters
    ----------
    name
        One of the explorables in the table below.
    data
        What it shows. By default, data that ragnb contains.

        ============  ==================================  ==========================================
        name          data                                what changes
        ============  ==================================  ==========================================
        noise         recorded RGB responses of a system  passages and reply at each noise rate
        trace         a labelled record of RAGBench       the four numbers of TRACe
        mcnemar       0/1 scores of two systems           p-values of McNemar's test
        permutation   scores of two systems               mean differences with random signs
        power         0/1 scores of two systems           minimum detectable effect
        fieller       gain; cost; optionally clusters     confidence set of the ratio gain / cost
        conformal     probability of label 1; label       threshold and coverage
        judge         a `ragnb.judge_report`              share of correct answers that it reports
        threshold     scores from 0 to 1; label           sensitivity and specificity
        mix           a `ragnb.abstention_report`         right decisions at each share of questions
                                                          without an answer
        ranking       a row with a ranked list (first 6)  success, recall, 1 / rank and nDCG at k
        slider        function of a number or a name;     the text or the PNG picture that the
                      label of the slider; its values;    function returns
                      optionally the value at the start
        ============  ==================================  ==========================================
    variant
        Definition of the numbers of ``"trace"``: ``"ragbench"``, or ``"guide"`` for those of the
        visual guide; see `ragnb.metrics.trace`. The other explorables have no variants.

    Raises
    ------
    InputError
        If the name is unknown, or if the data are not those of the table.

    >>> explore("mcnemar", [1, 1, 0, 1], [1, 0, 0, 0])
    Which questions decide between two systems? The systems differ on 2 questions: ...
    """
    if name not in EXPLORABLES:
        raise InputError(f"name must be one of {', '.join(map(repr, EXPLORABLES))}, got {name!r}")
    check_choice(variant, VARIANTS, "variant")
    if variant != "ragbench" and name != "trace":
        raise InputError(f"only 'trace' has the variant {variant!r}, got the name {name!r}")
    question, alt, sample, make = EXPLORABLES[name]
    options = {"variant": variant} if name == "trace" else {}
    scene = make(*(data or sample()), **options)
    first = scene.frame(*(control.start for control in scene.controls))
    return Page(
        f"{question} {first.sentence}",
        "explore.html",
        question=question,
        sentence=first.sentence,
        static=scene.static or join([tag("p", text, dir="auto") for _, text in first.lines]),
        picture=first.picture or (first.chart and first.chart.picture()),
        alt=alt,
        script=Markup((STATIC / "explore.js").read_text("utf-8")),
        packed=_packed(question, scene),
    )


def _packed(question: str, scene: Scene) -> str:
    """Return the question, the controls and all frames in letters that cannot end a script."""
    values = [control.values for control in scene.controls]
    controls = [
        {
            "label": spelled(control.label),
            "values": [_value_text(value) for value in control.values],
            "at": [*control.values].index(control.start),
            "key": control.key,
            "text": spelled(control.text),
        }
        for control in scene.controls
    ]
    frames = (
        None if scene.counts else [scene.frame(*chosen).drawing() for chosen in product(*values)]
    )
    page = {
        "question": question,
        "heading": spelled(scene.heading),
        "controls": controls,
        "frames": frames,
        "counts": scene.counts,
    }
    return b64encode(gzip.compress(json.dumps(page).encode(), mtime=0)).decode()


def _around(start: float, low: float, high: float, n: int, decimals: int = 0) -> list[Any]:
    """Return about n evenly spaced values from low to high, and the start."""
    values = np.unique([start, *np.linspace(low, high, n).round(decimals)])
    return (values if decimals else values.astype(int)).tolist()


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.4f}"


def _g(value: float) -> str:
    """Write a number with three significant digits, and without a minus in front of 0."""
    return "undefined" if value != value else f"{float(f'{value:.3g}') + 0.0:g}"


def _are(count: int) -> str:
    return f"{count or 'none'} {'is' if count == 1 else 'are'}"


def _histogram(
    edges: Any, heights: Any, marked: Any, at: float, labels: tuple[str, str], note: str = ""
) -> Chart:
    """Bars with the marked part of each in colour, and a line with a note."""
    top = 1.15 * max(heights)
    marks = [
        bars("bar", edges, heights),
        bars("marked", edges, marked),
        ("here", [at, at], [0, top]),
    ]
    axes = (edges[0], edges[-1], labels[0]), (0, top, labels[1])
    return Chart(*axes, marks, [(at, 0.94 * top, note)] if note else [])


# ---- two systems ---------------------------------------------------------------------------------


def _names(first: Any, second: Any) -> list[str]:
    found = [getattr(column, "name", None) for column in (first, second)]
    return ["the first", "the second"] if None in found else [str(name) for name in found]


def _two_prompts() -> tuple[Any, Any]:
    """Accuracy of two prompts at noise rate 0.2, as in the notebook on significance tests."""
    responses = recorded_responses("rgb_noise").query("noise_rate == 0.2")
    wide = score(responses, "rgb.accuracy").pivot(
        index="example_id", columns="system", values="value"
    )
    return wide["plain"], wide["answer"]


def _mcnemar(first: Any, second: Any) -> Scene:
    table, (one, other) = paired_table(first, second), _names(first, second)

    def frame(b: int, c: int, both: int, neither: int) -> Frame:
        now, n = PairedTable(both, b, c, neither), b + c
        exact, mid_p = (mcnemar_test(now, method=name).p_value for name in ("exact", "mid-p"))
        fewer = min(b, c)
        reach = max(n / 2 - fewer + 1, min(n / 2, 2.5 * n**0.5))
        counts = np.arange(ceil(n / 2 - reach), int(n / 2 + reach) + 1)
        mass = binom.pmf(counts, n, 0.5)
        extreme = np.where(np.minimum(counts, n - counts) <= fewer, mass, 0)
        edges = np.append(counts, counts[-1] + 1) - 0.5
        labels = (
            f"questions that only {one} answers correctly, if both were equally good",
            "probability",
        )
        return Frame(
            f"The systems differ on {n} questions: only {one} is correct on {b}, only {other} on "
            f"{c}. The exact test gives {_p(exact)}, the mid-p test {_p(mid_p)}. The {both + neither} "
            "other questions do not affect these p-values. The difference in accuracy over all "
            f"{now.n} questions is {(b - c) / max(now.n, 1):.3f}.",
            _histogram(edges, mass, extreme, b, labels),
        )

    most = max(30, 2 * table.first_only, 2 * table.second_only)
    agree = max(100, 2 * table.both, 2 * table.neither)
    controls = [
        Control(f"only {one} correct", _around(table.first_only, 0, most, 7), table.first_only),
        Control(f"only {other} correct", _around(table.second_only, 0, most, 7), table.second_only),
        Control("both correct", _around(table.both, 0, agree, 2), table.both),
        Control("neither correct", _around(table.neither, 0, agree, 2), table.neither),
    ]
    return Scene(controls, frame)


def _permutation(first: Any, second: Any) -> Scene:
    test = sign_flip_test(first, second)
    differences = paired_differences(np.asarray(first, float), np.asarray(second, float))
    steps, grid = to_lattice(differences)
    lattice = find_lattice(differences)
    unit = (grid or (lattice[1] if lattice else 1.0)) / len(differences)
    observed = int(steps.sum())

    def frame(worlds: int, seed: int) -> Frame:
        sums = np.random.default_rng(seed).choice([-1, 1], (worlds, len(steps))) @ steps
        extreme = sums[np.abs(sums) >= abs(observed)]
        far = max(np.abs(sums).max(), abs(observed)) + 2
        width = 2 * ceil(far / 40)  # all sums are even or all are odd if no step is larger than 1
        places = np.arange(-ceil(far / width) - 1, ceil(far / width) + 2)
        edges = observed % width + width * (places - 0.5)
        counts, marked = (np.histogram(part, edges)[0] for part in (sums, extreme))
        labels = "mean difference in a random world", "worlds"
        return Frame(
            f"The observed difference is {test.statistic:.3f}. If the two systems were "
            "exchangeable, a difference at least as far from 0 would have probability "
            f"{_p(test.p_value)}. It occurs in {len(extreme)} of the {worlds} random worlds "
            f"({len(extreme) / worlds:.4f}).",
            _histogram(edges * unit, counts, marked, observed * unit, labels, " observed "),
        )

    return Scene(
        [
            Control("random worlds", [10, 30, 100, 300, 1000, 3000], 1000),
            Control("other coins", range(1, 9), 1),
        ],
        frame,
    )


def _power(first: Any, second: Any) -> Scene:
    table = paired_table(first, second)
    own = (table.first_only + table.second_only) / max(table.n, 1)
    if table.n < 5:
        raise InputError(f"power needs at least 5 items, got {table.n}")

    def frame(n: int, share: float) -> Frame:
        mde = mcnemar_mde(n, discordance=share)
        effects = np.linspace(0, min(1, 2.2 * mde), 21)[1:]
        psi = np.maximum(share, effects)
        pairs = zip((psi + effects) / 2, (psi - effects) / 2, strict=True)
        power = [mcnemar_power(n, *pair, "mid-p", 0.95) for pair in pairs]
        high = float(effects[-1])
        return Frame(
            f"With {n} questions, and a share of {share:.2f} on which the systems differ, the mid-p "
            f"test detects a true difference of {mde:.3f} with a probability of 80 %. It misses "
            "smaller differences more than one time in five.",
            Chart(
                (0, high, "true difference"),
                (0, 1, "power"),
                [
                    ("area", [0, 0, mde, mde], [0, 1, 1, 0]),
                    ("truth", [0, high], [0.8, 0.8]),
                    ("result", effects, power),
                    ("here", [mde, mde], [0, 1]),
                ],
                [(high, 0.83, "80 %"), (0.02 * high, 0.92, "missed more than one time in five")],
            ),
        )

    shares = np.unique([own, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0]).tolist()
    return Scene(
        [
            Control(
                "questions n", np.unique([table.n, 20, 50, 100, 200, 500, 1000]).tolist(), table.n
            ),
            Control("share of questions on which the systems differ", shares, own),
        ],
        frame,
    )


# ---- scores and thresholds -----------------------------------------------------------------------


def _labelled_replies() -> tuple[Any, Any]:
    """Similarities of replies to the reference, and whether each reply is correct."""
    replies = load_study("sample-labelled-en").query("system == 'answer' and noise_rate == 0.4")
    return replies["embedding_cosine"], replies["label"]


@accepts(probability="probabilities", label="labels")
def _conformal(probability: Floats, label: Booleans) -> Scene:
    if len(label) < 18:
        raise InputError(f"label must have at least 18 items, got {len(label)}")
    scores = np.where(label, 1 - probability, probability)

    def frame(alpha: float, n: int) -> Frame:
        known, others, rank = np.sort(scores[:n]), scores[n:], conformal_rank(n, alpha)
        edges = np.linspace(0, 1, 21)
        counts, excluded = (np.histogram(part, edges)[0] for part in (known, known[rank:]))
        if problem := too_few_items(n, alpha):
            threshold, note = -1.0, ""
            sentence = f"There is no threshold: {problem}."
        else:
            threshold, coverage = known[rank - 1], coverage_distribution(n, alpha)
            sentence = (
                f"With α = {alpha:.2f} and n = {n}, the threshold is score number {rank} in ascending "
                f"order, {threshold:.3f}. The mean coverage is {coverage.mean():.3f}. In 90 % of "
                f"calibration sets of this size the coverage is between {coverage.ppf(0.05):.3f} and "
                f"{coverage.ppf(0.95):.3f}. Of the {len(others)} other items here, "
                f"{100 * np.mean(others <= threshold):.1f} % are covered."
            )
            note = "included ← threshold " if threshold > 0.5 else " threshold → excluded"
        labels = "nonconformity score of the true label", "items"
        return Frame(sentence, _histogram(edges, counts, excluded, threshold, labels, note))

    half = ceil(len(scores) / 2)
    return Scene(
        [
            Control("error rate α", [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5], 0.1),
            Control("calibration items n", _around(half, 1, len(scores) - 1, 11), half),
        ],
        frame,
    )


def _answers_with_verdicts() -> tuple[Any, Any]:
    """Token F1 of answers of FiD, and people's verdicts on them."""
    answers = load_study("evouna-nq").query("system == 'fid' and improper == 0").head(300)
    return score(answers, "answer.f1")["value"], answers["verdict"]


@accepts(scores="probabilities", label="labels")
def _threshold(scores: Floats, label: Booleans) -> Scene:
    if label.all() or not label.any():
        raise InputError("label must contain both 0 and 1")
    correct, incorrect = scores[label], scores[~label]
    edges = np.linspace(0, 1, 21)
    counts, marked = (np.histogram(part, edges)[0] for part in ([*correct, *incorrect], correct))

    def frame(at: float) -> Frame:
        caught, rejected = int((correct >= at).sum()), int((incorrect < at).sum())
        return Frame(
            f"Of the {len(correct)} items with label 1, {caught} have a score of at least {at:.2f} "
            f"(sensitivity {caught / len(correct):.3f}). Of the {len(incorrect)} items with label 0, "
            f"{rejected} have a lower one (specificity {rejected / len(incorrect):.3f}).",
            _histogram(edges, counts, marked, at, ("score (orange: label 1)", "items")),
        )

    return Scene([Control("threshold", _around(0.5, 0, 1, 41, decimals=3), 0.5)], frame)


# ---- the errors of a judge -----------------------------------------------------------------------


def _sample_judged() -> tuple[JudgeReport]:
    answers = load_study("sample-labelled-en")
    return (judge_report(answers, by="noise_rate", clusters="question_id"),)


def _judge(report: JudgeReport) -> Scene:
    name = report.calibration["judge"].iloc[0]
    agreement, bias = report.agreement, report.bias
    rates = agreement[(agreement["rater"] == name) & (agreement["against"] == report.label)]
    means = rates.set_index("metric")["mean"].astype(float)
    chosen = bias[(bias["judge"] == name) & ~bias["by"].isin(["overall", "response length"])]
    true, reported = chosen[["baseline_mean", "mean"]].astype(float).to_numpy().T
    by = " and ".join(chosen["by"].unique()).replace("_", " ")

    def frame(sensitivity: float, specificity: float) -> Frame:
        youden = sensitivity + specificity - 1
        sentence = (
            f"With sensitivity {sensitivity:.2f} and specificity {specificity:.2f}, a true difference "
            f"of 10 points between two systems appears as {10 * youden:.1f} points (J = "
            f"{youden:.2f}). "
        )
        if youden == 1:
            sentence += "This judge makes no errors."
        else:
            sentence += (
                "The reported share is too high if fewer than "
                f"{100 * (1 - specificity) / (1 - youden):.0f} % of the answers are correct, and too "
                "low if more are."
            )
        none = 1 - specificity  # reported if no answer is correct
        dots = [(1.0, 0.02, f"dots: measured, by {by} ")] if len(true) else []
        chart = Chart(
            (0, 1, "true share of correct answers"),
            (0, 1, "share that the judge reports"),
            [
                ("area", [0, 1, 1, 0], [0, 1, sensitivity, none]),
                ("truth", [0, 1], [0, 1]),
                ("result", [0, 1], [none, sensitivity]),
                ("dot", true, reported),
            ],
            [(0.85, 0.92, "no bias"), *dots],
        )
        return Frame(sentence, chart)

    labels = {
        "sensitivity": "sensitivity: correct answers accepted",
        "specificity": "specificity: incorrect answers rejected",
    }
    return Scene(
        [
            Control(label, _around(means[metric], 0, 1, 11, decimals=1), means[metric])
            for metric, label in labels.items()
        ],
        frame,
    )


# ---- a ratio of means ----------------------------------------------------------------------------


def _translation() -> tuple[Any, Any, Any]:
    """Gains and costs of LBRAG over answers without passages, and the questions."""
    report = multilingual_report(recorded_responses("multilingual"))
    pairs = gains_and_costs(report.scores).query("system == 'lbrag'")
    return pairs["gain"], pairs["cost"], pairs["unit"]


@accepts(gain="scores", cost="scores", clusters="clusters")
def _fieller(gain: Floats, cost: Floats, clusters: Integers | None = None) -> Scene:
    found = fieller_interval(gain, cost, clusters=clusters)
    if found.problem:
        raise InputError(f"gain and cost must have a confidence set: {found.problem}")
    y, z = unit_values(gain, clusters), unit_values(cost, clusters)
    means = float(y.mean()), float(z.mean())
    yy, yz, _, zz = (np.cov(y, z) / len(y) * stdtrit(len(y) - 1, 0.975) ** 2).ravel()
    reach = [2 * max(abs(m), v**0.5) for m, v in zip(means, (yy, zz), strict=True)]
    most, far = 1.5 * reach[0], 1.5 * reach[1]
    turns = np.linspace(0, 2 * np.pi, 37)
    across = yz / (zz or 1) ** 0.5
    around = across * np.cos(turns) + max(0, yy - across**2) ** 0.5 * np.sin(turns)

    def frame(gain: float, cost: float) -> Frame:
        found = fieller_interval(y - means[0] + gain, z - means[1] + cost)
        low, high = found.limits
        sets = {
            "bounded": f"bounded, from {_g(low)} to {_g(high)}",
            "two rays": f"two rays: all ratios up to {_g(low)} and all ratios from {_g(high)}",
            "whole line": "the whole line: no ratio can be excluded",
            "undefined": "undefined",
        }
        beyond = 100 * most
        wedges = {
            "bounded": [([0, far, far], [0, low * far, high * far])],
            "two rays": [
                ([0, far, far, 0], [0, high * far, beyond, beyond]),
                ([0, far, far, 0], [0, low * far, -beyond, -beyond]),
            ],
            "whole line": [([0, far, far, 0], [beyond, beyond, -beyond, -beyond])],
            "undefined": [],
        }
        marks: list[Any] = [
            ("area", side * np.array(x), side * np.array(height))
            for x, height in wedges[found.kind]
            for side in (1, -1)
        ]
        marks += [
            ("axis", [-far, far], [0, 0]),
            ("axis", [0, 0], [-most, most]),
            ("result", cost + zz**0.5 * np.cos(turns), gain + around),
            ("dot", [cost], [gain]),
        ]
        return Frame(
            f"With a mean gain of {_g(gain)} and a mean cost of {_g(cost)}, the ratio is "
            f"{_g(found.estimate)}. The 95 % confidence set is {sets[found.kind]}.",
            Chart((-far, far, "cost"), (-most, most, "gain"), marks),
        )

    controls = []
    for name, mean, high in zip(("mean gain", "mean cost"), means, reach, strict=True):
        decimals = max(1, 2 - int(np.floor(np.log10(high))))
        controls.append(Control(name, _around(mean, -high, high, 9, decimals), mean))
    return Scene(controls, frame)


# ---- questions with and without an answer --------------------------------------------------------


def _three_systems() -> tuple[Any]:
    """Decisions of three systems on NoMIRACL's English questions."""
    study = load_study("nomiracl").query("language == 'en'")
    chosen = ["gpt-4-azure", "Mistral-7B-Instruct-v0.2", "flan-t5-xxl"]
    return (abstention_report(study[study["system"].isin(chosen)]),)


def _mix(report: Any) -> Scene:
    needed = ["system", "hallucination", "over_refusal"]
    require_columns(report, needed, "explore", unique=["system"])
    known = report[needed].dropna()
    if known.empty:
        raise InputError(
            "explore needs a system with answerable and unanswerable questions, got none"
        )
    names = known["system"].map(str).tolist()
    answered, refused = (1 - known[["over_refusal", "hallucination"]]).to_numpy(float).T
    heights = np.clip(refused + np.where(answered > refused, -0.07, 0.03), 0.03, 0.93).tolist()
    notes = [(100.0, height, name) for height, name in zip(heights, names, strict=True)]
    label = "unanswerable questions, in %"

    def frame(percent: int) -> Frame:
        shares = (percent * refused + (100 - percent) * answered) / 100
        best = int(shares.argmax())
        marks: list[Any] = [
            ("result" if at == best else "axis", [0, 100], [answered[at], refused[at]])
            for at in range(len(names))
        ]
        marks += [("truth", [percent] * 2, [0, 1]), ("dot", [percent] * len(names), shares)]
        return Frame(
            f"If {percent} % of the questions are unanswerable, {names[best]} makes the right decision "
            f"on {shares[best]:.3f} of the questions. No other system here has a larger share.",
            Chart((0, 100, label), (0, 1, "share of right decisions"), marks, notes),
        )

    return Scene([Control(label, list(range(0, 101, 2)), 50)], frame)


# ---- a ranked list -------------------------------------------------------------------------------

LISTED, SHOWN = 6, 120
"""Passages in a ranked list, and characters of each."""


def _ranked_passages() -> tuple[dict[str, Any]]:
    """The passages of a question of RGB. The positive ones are relevant."""
    replies = recorded_responses("rgb_noise").query("system == 'answer' and noise_rate == 0.4")
    response = replies.iloc[0]
    kinds = dict(enumerate(response["kinds"]))
    positive = [rank for rank, kind in kinds.items() if kind == "positive"]
    return ({**response, "retrieved": list(kinds), "relevant": positive},)


def _ranking(row: Any) -> Scene:
    keys, relevant = list(row["retrieved"])[:LISTED], {*row["relevant"]}
    elsewhere, question = [*(relevant - {*keys})], str(row.get("question", ""))
    texts = [str(text) for text in row.get("passages", keys)][: len(keys)]
    shown = [text if len(text) <= SHOWN else text[:SHOWN] + "…" for text in texts]

    def frame(k: int, *good: bool) -> Frame:
        marked = [key for key, chosen in zip(keys, good, strict=True) if chosen] + elsewhere
        if not marked:
            return Frame("No passage is relevant, so recall and nDCG are undefined.")
        measures: dict[str, Callable[..., float]]
        measures = {"success": success, "recall": recall, "1 / rank": reciprocal_rank, "nDCG": ndcg}
        values = {name: measure(keys, marked, k=k) for name, measure in measures.items()}
        hit, share, reciprocal, gain = values.values()
        return Frame(
            f"The first {k} passages contain {sum(good[:k])} of {len(marked)} relevant passages. "
            f"Success@{k} is {hit:.0f}, recall@{k} is {share:.2f}, the reciprocal rank is "
            f"{reciprocal:.2f}, and nDCG@{k} is {gain:.2f}.",
            meters=values,
        )

    label = "passages that the model gets, k"
    controls = [Control(label, list(range(1, len(keys) + 1)), min(3, len(keys)))]
    controls += [
        Control("relevant", [False, True], key in relevant, f"[{rank}]", text)
        for rank, (key, text) in enumerate(zip(keys, shown, strict=True), 1)
    ]
    items = [
        tag("li", sign(key in relevant), " ", text, dir="auto")
        for key, text in zip(keys, shown, strict=True)
    ]
    static = join([tag("p", question, dir="auto"), tag("ol", *items)])
    return Scene(controls, frame, question, static)


# ---- the four numbers of TRACe -------------------------------------------------------------------


def _trace(record: Any, variant: str = "ragbench") -> Scene:
    static = Card(record, "trace", variant=variant)._repr_html_()
    context = sentence_pairs(record["documents_sentences"])
    response = sentence_pairs([record["response_sentences"]])
    if not context:
        raise InputError("explore needs a record with at least one context sentence, got none")
    labels = {"relevant": "all_relevant", "used": "all_utilized"}
    controls = [
        Control(label, [False, True], key in record[f"{name}_sentence_keys"], f"[{key}]", text)
        for key, text in context
        for label, name in labels.items()
    ]
    # A file of your own may lack the list of unsupported sentences, which the labels define.
    unsupported = unsupported_sentences(
        record.get("sentence_support_information"),
        record.get("unsupported_response_sentence_keys"),
        variant=variant,
    )
    controls += [
        Control("unsupported", [False, True], key in unsupported, f"[{key}]", text)
        for key, text in response
    ]
    n = len(context)
    counts = _guide_counts(n) if variant == "guide" else _ragbench_counts(n)
    counts["adherence"] = [
        _part(
            f"Of {len(response)} response sentences, {_are(wrong)} unsupported, so adherence is "
            f"{wrong == 0:d}.",
            float(wrong == 0),
            decimals=0,
        )
        for wrong in range(len(response) + 1)
    ]

    def frame(*chosen: bool) -> Frame:
        relevant, used = chosen[: 2 * n : 2], chosen[1 : 2 * n : 2]
        r, u, wrong = sum(relevant), sum(used), sum(chosen[2 * n :])
        both = sum(map(all, zip(relevant, used, strict=True)))
        rows = counts["utilization"]
        parts = [
            counts["relevance"][r],
            rows[min(r, len(rows) - 1)][u],
            counts["completeness"][r][both if r else u],
            counts["adherence"][wrong],
        ]
        # Rounded as in explore.js.
        average = floor(sum(value for *_, value in parts) / 4 * 1000 + 0.5) / 1000
        sentences = [sentence for sentence, *_ in parts]
        return Frame(" ".join([*sentences, counts["average"].replace("{}", f"{average:.3f}")]))

    return Scene(controls, frame, str(record["question"]), static, counts)


def _part(sentence: str, value: float, decimals: int = 2) -> list[Any]:
    """Sentence, value as a text, and value of one of the four numbers."""
    return [sentence, f"{value:.{decimals}f}", value]


def _ragbench_counts(n: int) -> dict[str, Any]:
    """RAGBench's numbers for n context sentences, by the numbers of chosen sentences."""
    every = range(n + 1)
    without = _part("Without a relevant sentence, RAGBench sets completeness to 1.", 1.0)
    return {
        "relevance": [
            _part(f"Of {n} context sentences, {_are(r)} relevant (relevance {r / n:.2f})", r / n)
            for r in every
        ],
        "utilization": [
            [_part(f"and {_are(u)} used (utilization {u / n:.2f}).", u / n) for u in every]
        ],
        "completeness": [[without] * (n + 1)] + [_share_used(r) for r in every[1:]],
        "average": "The average of the four numbers is {}.",
    }


def _guide_counts(n: int) -> dict[str, Any]:
    """The visual guide's numbers for n context sentences, by the numbers of chosen sentences."""
    every = range(n + 1)
    relevances = [min(1.0, r / GUIDE_SENTENCES) for r in every]
    without = [
        _part("Without a relevant and a used sentence, the guide sets completeness to 1.", 1.0),
        _part("Without a relevant sentence but with a used one, completeness is 0.", 0.0),
    ]
    return {
        "relevance": [
            _part(
                f"The guide expects {GUIDE_SENTENCES} relevant sentences. Here, {_are(r)} relevant "
                f"(relevance {relevances[r]:.2f})",
                relevances[r],
            )
            for r in every
        ],
        "utilization": [
            [_guide_utilization(r, u, min(1.0, u / r) if r else 0.0) for u in every] for r in every
        ],
        "completeness": [[without[min(u, 1)] for u in every]] + [_share_used(r) for r in every[1:]],
        "average": "The average of the four numbers is {}.",
    }


def _guide_utilization(relevant: int, used: int, value: float) -> list[Any]:
    return _part(
        f"and {_are(used)} used for {relevant} relevant ones (utilization {value:.2f}).", value
    )


def _share_used(relevant: int) -> list[Any]:
    """Completeness for each number of relevant sentences that are used."""
    return [
        _part(
            f"Of the relevant ones, {_are(both)} used (completeness {both / relevant:.2f}).",
            both / relevant,
        )
        for both in range(relevant + 1)
    ]


# ---- noise robustness ----------------------------------------------------------------------------


def _noise(responses: Any) -> Scene:
    key = ["example_id", "noise_rate"]
    require_columns(responses, [*key, "question", "passages", "kinds"], "explore", unique=key)
    scored = score(responses, "rgb.accuracy")
    table = scored.pivot(index="example_id", columns="noise_rate", values="value").dropna()
    if table.empty:
        raise InputError("explore needs a question with replies at every noise rate, got none")
    changing = table.index[table.nunique(axis=1) > 1]
    shown = [*changing, *table.index.difference(changing)][:6]
    rows = {(row["example_id"], row["noise_rate"]): row for row in responses.to_dict("records")}
    accuracy = table.mean()
    rates = accuracy.index.astype(float).tolist()

    def frame(rate: float, item: int) -> Frame:
        row, correct = rows[shown[item - 1], rate], bool(table.loc[shown[item - 1], rate])
        useful = [kind == "positive" for kind in row["kinds"]]
        texts = [
            *zip(useful, row["passages"], strict=True),
            (correct, row["response"] or "no reply"),
        ]
        *passages, reply = (
            ("good" if good else "bad", f"{sign(good)} {text}") for good, text in texts
        )
        marks = [("result", accuracy.index, accuracy), ("dot", [rate], [accuracy[rate]])]
        return Frame(
            f"At noise rate {rate:g}, {sum(useful)} of {len(useful)} passages contain the answer, and "
            f"the recorded reply is {'correct' if correct else 'incorrect'}. Over all {len(table)} "
            f"questions, {accuracy[rate]:.3f} of the replies are correct.",
            Chart((rates[0], rates[-1], "noise rate"), (0, 1, "accuracy"), marks),
            lines=[("question", row["question"]), *passages, ("reply", reply[1])],
        )

    question = Control("question", range(1, len(shown) + 1), 1)
    return Scene([Control("noise rate", rates, rates[0]), question], frame)


# ---- any function of a number --------------------------------------------------------------------


def _slider(
    function: Callable[[Any], str | bytes],
    name: str,
    values: Sequence[Any],
    start: Any = None,
) -> Scene:
    choices = list(values)
    if not choices:
        raise InputError("explore needs at least one value of the slider, got none")
    first = choices[0] if start is None else start
    if first not in choices:
        raise InputError(
            f"the first value of the slider must be one of its values, got {first!r:.80}"
        )

    def frame(value: Any) -> Frame:
        result = function(value)
        if isinstance(result, str):
            return Frame(result)
        if not isinstance(result, bytes):
            raise InputError(
                "the function of the slider must return a text, or a PNG picture as bytes, got "
                f"{type(result).__name__} for {_value_text(value)}"
            )
        address = f"data:image/png;base64,{b64encode(result).decode()}"
        return Frame(f"{name} = {_value_text(value)}", picture=address)

    return Scene([Control(name, choices, first)], frame)


def _value_text(value: Any) -> str:
    """A value of a control as a text: a name, or a number with three significant digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


EXPLORABLES: dict[str, tuple[str, str, Callable[[], tuple[Any, ...]], Callable[..., Scene]]] = {
    "mcnemar": (
        "Which questions decide between two systems?",
        "Distribution of the questions on which one system is correct, with the observed number marked.",
        _two_prompts,
        _mcnemar,
    ),
    "conformal": (
        "Which calibration score becomes the threshold, and what does it promise?",
        "Histogram of the calibration scores, with the threshold marked.",
        _labelled_replies,
        _conformal,
    ),
    "judge": (
        "What do a judge's errors do to the share of correct answers that it reports?",
        "Reported against true share of correct answers: a line that is flatter than the diagonal.",
        _sample_judged,
        _judge,
    ),
    "permutation": (
        "Could this difference be due to chance?",
        "Histogram of the mean differences in random worlds, with the observed difference marked.",
        _two_prompts,
        _permutation,
    ),
    "power": (
        "How large must a true difference be for this sample to show it?",
        "Power against the true difference, with the minimum detectable effect marked.",
        _two_prompts,
        _power,
    ),
    "fieller": (
        "Which ratios of gain and cost do the data not exclude?",
        "Mean cost and mean gain in their confidence ellipse; the ratios that are not excluded are shaded.",
        _translation,
        _fieller,
    ),
    "threshold": (
        "At which value does a score accept the right items?",
        "Histogram of the scores, with the items with label 1 and the threshold marked.",
        _answers_with_verdicts,
        _threshold,
    ),
    "mix": (
        "Which system decides correctly most often?",
        "Share of right decisions of each system against the share of unanswerable questions.",
        _three_systems,
        _mix,
    ),
    "ranking": (
        "What do success, recall, reciprocal rank and nDCG count?",
        "",
        _ranked_passages,
        _ranking,
    ),
    "trace": (
        "What do the four numbers of TRACe count?",
        "",
        lambda: (load_ragbench("sample-ragbench").iloc[0],),
        _trace,
    ),
    "noise": (
        "What does a model reply when fewer passages contain the answer?",
        "Accuracy against the noise rate, with the chosen rate marked.",
        lambda: (recorded_responses("rgb_noise").query("system == 'answer'"),),
        _noise,
    ),
    "slider": (
        "How does the result depend on this number?",
        "The picture that the function draws for the first number.",
        lambda: (str, "number", range(1, 11), 1),
        _slider,
    ),
}
"""Name -> question, description of the picture, default data, and what makes a scene of data."""
