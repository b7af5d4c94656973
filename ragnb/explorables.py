"""Explorables: small figures with controls that show one idea each, and need no kernel.

The page contains the script and the data, so an explorable also works in exported HTML. Where no
script runs, as on code-hosting pages and on paper, a picture and a sentence take its place.
"""

import json
from collections.abc import Callable
from math import ceil
from string import Formatter
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit
from scipy.stats import binom

from ragnb.arguments import Booleans, Floats, Integers, accepts
from ragnb.conformal.sets import conformal_rank, coverage_distribution
from ragnb.datasets.benchmarks import load_ragbench
from ragnb.datasets.studies import load_study
from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.figures.explorables import (
    draw_bars,
    draw_fieller_set,
    draw_mix,
    draw_power,
    draw_reported_shares,
)
from ragnb.markup import Markup, join, spelled, tag
from ragnb.metrics.retrieval import ndcg, recall, reciprocal_rank, success
from ragnb.metrics.trace import trace_scores
from ragnb.metrics.trace_labels import sentence_pairs
from ragnb.records import require_columns
from ragnb.reports.abstention import abstention_report
from ragnb.reports.efficiency import gains_and_costs
from ragnb.reports.judge import JudgeReport, judge_report
from ragnb.reports.multilingual import multilingual_report
from ragnb.scoring.scores import score
from ragnb.stats.binary import mcnemar_test, paired_table
from ragnb.stats.cost_effectiveness import fieller_interval
from ragnb.stats.exact import find_lattice, to_lattice
from ragnb.stats.intervals import unit_values
from ragnb.stats.paired import paired_differences, sign_flip_test
from ragnb.stats.power import mcnemar_mde
from ragnb.widgets.browser import STATIC
from ragnb.widgets.card import Card
from ragnb.widgets.pages import Page, sign


class Scene(NamedTuple):
    """The first state of an explorable.

    Attributes
    ----------
    data
        What the script receives.
    sentence
        The sentence under the figure.
    static
        The static form: a page, or the address of a picture.
    """

    data: dict[str, Any]
    sentence: str
    static: Markup | str


def explore(name: str, *data: Any) -> Page:
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
        ranking       a row with a ranked list            success, recall, 1 / rank and nDCG at k
        ============  ==================================  ==========================================

    Raises
    ------
    InputError
        If the name is unknown, or if the data are not those of the table.

    >>> explore("mcnemar", [1, 1, 0, 1], [1, 0, 0, 0])
    Which questions decide between two systems? The systems differ on 2 questions: ...
    """
    if name not in EXPLORABLES:
        raise InputError(f"name must be one of {', '.join(map(repr, EXPLORABLES))}, got {name!r}")
    question, alt, make = EXPLORABLES[name]
    scene = make(*data)
    return Page(
        f"{question} {scene.sentence}",
        "explore.html",
        question=question,
        sentence=scene.sentence,
        static=scene.static,
        alt=alt,
        script=Markup((STATIC / "explore.js").read_text("utf-8")),
        arguments=_as_script(name, question, scene.data),
    )


def _as_script(*values: Any) -> Markup:
    """Write values as arguments of a script in which no text can end the script."""
    text = ", ".join(json.dumps(value, ensure_ascii=False, allow_nan=False) for value in values)
    return Markup(spelled(text).replace("<", "\\u003c"))


SENTENCES = json.loads((STATIC / "sentences.json").read_text("utf-8"))
"""The sentences of the explorables, which the script in the page also uses."""


FORMATS: dict[str, Callable[[Any], str]] = {
    "p": lambda p: "p < 0.001" if p < 0.001 else f"p = {p:.4f}",
    "g": lambda value: f"{float(f'{value:.3g}') + 0.0:g}",  # no minus in front of 0
    "are": lambda count: f"{count or 'none'} {'is' if count == 1 else 'are'}",
}
"""How p-values, numbers with three significant digits, and counts are written in these sentences."""


class _Say(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        return FORMATS[format_spec](value) if format_spec in FORMATS else format(value, format_spec)


def _say(name: str, **values: Any) -> str:
    return _Say().format(SENTENCES[name], **values)


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


def _mcnemar(first: Any = None, second: Any = None) -> Scene:
    if first is None:
        first, second = _two_prompts()
    table, names = paired_table(first, second), _names(first, second)
    b, c, n = table.first_only, table.second_only, table.first_only + table.second_only
    exact, mid_p = (mcnemar_test(table, method=name).p_value for name in ("exact", "mid-p"))
    data = {
        "names": names,
        "both": table.both,
        "first": b,
        "second": c,
        "neither": table.neither,
    }
    sentence = _say(
        "mcnemar",
        **data,
        one=names[0],
        other=names[1],
        discordant=n,
        concordant=table.n - n,
        n=table.n,
        exact=exact,
        midP=mid_p,
        difference=(b - c) / max(table.n, 1),
    )
    counts = np.arange(n + 1)
    mass = binom.pmf(counts, n, 0.5)
    tails = np.where(np.minimum(counts, n - counts) <= min(b, c), mass, 0)
    labels = f"only {names[0]} correct, if both systems were equally good", "probability"
    return Scene(data, sentence, draw_bars(np.arange(n + 2) - 0.5, mass, tails, b, *labels))


# ---- a conformal threshold -----------------------------------------------------------------------


def _conformal(probability: Any = None, label: Any = None) -> Scene:
    if probability is None:
        replies = load_study("sample-labelled-en")
        replies = replies.query("system == 'answer' and noise_rate == 0.4")
        probability, label = replies["embedding_cosine"], replies["label"]
    scores = _nonconformity(probability, label)
    n = ceil(len(scores) / 2)
    known, others, rank = np.sort(scores[:n]), scores[n:], conformal_rank(n, 0.1)
    threshold = known[rank - 1] if rank <= n else 1.0
    coverage = coverage_distribution(n, 0.1)
    sentence = _say(
        "conformal",
        alpha=0.1,
        n=n,
        rank=rank,
        threshold=threshold,
        mean=coverage.mean(),
        low=coverage.ppf(0.05),
        high=coverage.ppf(0.95),
        others=len(others),
        covered=100 * np.mean(others <= threshold),
    )
    edges = np.linspace(0, 1, 21)
    counts, excluded = (np.histogram(part, edges)[0] for part in (known, known[rank:]))
    labels = "nonconformity score of the true label", "items"
    static = draw_bars(edges, counts, excluded, threshold, *labels)
    return Scene({"scores": scores.round(6).tolist()}, sentence, static)


@accepts(probability="probabilities", label="labels")
def _nonconformity(probability: Floats, label: Booleans) -> Floats:
    """One minus the probability of the true label of each item."""
    if len(label) < 18:
        raise InputError(f"label must have at least 18 items, got {len(label)}")
    return np.where(label, 1 - probability, probability)


# ---- a threshold on a score ----------------------------------------------------------------------


def _threshold(scores: Any = None, label: Any = None) -> Scene:
    if scores is None:
        answers = load_study("evouna-nq").query("system == 'fid' and improper == 0").head(300)
        scores, label = score(answers, "answer.f1")["value"], answers["verdict"]
    correct, incorrect = _by_label(scores, label)
    at = 0.5
    caught, rejected = int((correct >= at).sum()), int((incorrect < at).sum())
    sentence = _say(
        "threshold",
        at=at,
        caught=caught,
        positive=len(correct),
        sensitivity=caught / len(correct),
        rejected=rejected,
        negative=len(incorrect),
        specificity=rejected / len(incorrect),
    )
    edges = np.linspace(0, 1, 21)
    counts, marked = (np.histogram(part, edges)[0] for part in ([*correct, *incorrect], correct))
    static = draw_bars(edges, counts, marked, at, "score (orange: label 1)", "items")
    data = {"correct": correct.tolist(), "incorrect": incorrect.tolist(), "threshold": at}
    return Scene(data, sentence, static)


@accepts(scores="probabilities", label="labels")
def _by_label(scores: Floats, label: Booleans) -> tuple[Floats, Floats]:
    """Scores of the items with label 1, and of those with label 0."""
    if label.all() or not label.any():
        raise InputError("label must contain both 0 and 1")
    return scores[label], scores[~label]


# ---- the errors of a judge -----------------------------------------------------------------------


def _judge(report: JudgeReport | None = None) -> Scene:
    if report is None:
        answers = load_study("sample-labelled-en")
        report = judge_report(
            answers, judge="judged_correct", by="noise_rate", clusters="question_id"
        )
    name = report.judges[0]
    agreement, bias = report.agreement, report.bias
    rates = agreement[(agreement["rater"] == name) & (agreement["against"] == report.label)]
    rates = rates.set_index("metric")
    sensitivity, specificity = (float(rates["mean"][key]) for key in ("sensitivity", "specificity"))
    chosen = bias[(bias["judge"] == name) & ~bias["by"].isin(["overall", "response length"])]
    groups = chosen[["baseline_mean", "mean"]].astype(float).to_numpy().tolist()
    by = " and ".join(chosen["by"].unique()).replace("_", " ")
    youden = sensitivity + specificity - 1
    errors = 1 - youden
    percent = 100 * (1 - specificity) / errors if errors else 0.0
    data = {"sensitivity": sensitivity, "specificity": specificity, "groups": groups, "by": by}
    kind = "judge" if errors else "no errors"
    sentence = _say(kind, **data, points=10 * youden, youden=youden, percent=percent)
    return Scene(data, sentence, draw_reported_shares(**data))


# ---- a paired difference -------------------------------------------------------------------------


def _permutation(first: Any = None, second: Any = None) -> Scene:
    if first is None:
        first, second = _two_prompts()
    test = sign_flip_test(first, second)
    differences = paired_differences(np.asarray(first, float), np.asarray(second, float))
    steps, grid = to_lattice(differences)
    lattice = find_lattice(differences)
    unit = (grid or (lattice[1] if lattice else 1.0)) / len(differences)
    sentence = _say("permutation", difference=test.statistic, p=test.p_value)
    flips = np.random.default_rng(0).choice([-1, 1], (1000, len(steps)))
    worlds, observed = flips @ steps, int(steps.sum())
    width = 2 * ceil((np.abs(worlds).max() + 2) / 40)
    bins = np.rint((np.append(worlds, observed) - observed) / width)
    edges = observed + width * (np.arange(bins.min(), bins.max() + 2) - 0.5)
    extreme = worlds[np.abs(worlds) >= abs(observed)]
    counts, marked = (np.histogram(part, edges)[0] for part in (worlds, extreme))
    labels = "mean difference in a random world", "worlds"
    static = draw_bars(edges * unit, counts, marked, observed * unit, *labels)
    data = {"steps": steps[steps != 0].tolist(), "unit": unit, "p": test.p_value}
    return Scene(data, sentence, static)


def _power(first: Any = None, second: Any = None) -> Scene:
    if first is None:
        first, second = _two_prompts()
    table = paired_table(first, second)
    n, share = table.n, (table.first_only + table.second_only) / max(table.n, 1)
    if n < 5:
        raise InputError(f"power needs at least 5 items, got {n}")
    mde = mcnemar_mde(n, discordance=share)
    sentence = _say("power", n=n, share=share, mde=mde)
    return Scene({"n": n, "share": share}, sentence, draw_power(n, share, mde))


# ---- a ratio of means ----------------------------------------------------------------------------


def _fieller(gain: Any = None, cost: Any = None, clusters: Any = None) -> Scene:
    if gain is None:
        report = multilingual_report(recorded_responses("multilingual"))
        pairs = gains_and_costs(report.scores).query("system == 'lbrag'")
        gain, cost, clusters = pairs["gain"], pairs["cost"], pairs["unit"]
    found = fieller_interval(gain, cost, clusters=clusters)
    if found.problem:
        raise InputError(f"gain and cost must have a confidence set: {found.problem}")
    data = _moments(gain, cost, clusters)
    low, high = found.limits
    sentence = _say(found.kind, **data, ratio=found.estimate, low=low, high=high)
    return Scene(data, sentence, draw_fieller_set(gain, cost, clusters))


@accepts(gain="scores", cost="scores", clusters="clusters")
def _moments(gain: Floats, cost: Floats, clusters: Integers | None = None) -> dict[str, float]:
    """Means of gain and cost, and their estimated covariances times the squared t quantile."""
    y, z = unit_values(gain, clusters), unit_values(cost, clusters)
    n = len(y)
    covariance = np.cov(y, z) / n * stdtrit(n - 1, 0.975) ** 2
    values = y.mean(), z.mean(), *covariance[np.triu_indices(2)]
    return dict(zip(("gain", "cost", "yy", "yz", "zz"), map(float, values), strict=True))


# ---- questions with and without an answer --------------------------------------------------------


def _mix(report: Any = None) -> Scene:
    if report is None:
        study = load_study("nomiracl").query("language == 'en'")
        chosen = ["gpt-4-azure", "Mistral-7B-Instruct-v0.2", "flan-t5-xxl"]
        report = abstention_report(study[study["system"].isin(chosen)])
    needed = ["system", "hallucination", "over_refusal"]
    require_columns(report, needed, "explore", unique=["system"])
    systems = [
        {"name": str(name), "answered": 1 - over_refusal, "refused": 1 - hallucination}
        for name, hallucination, over_refusal in report[needed].dropna().itertuples(index=False)
    ]
    if not systems:
        raise InputError(
            "explore needs a system with answerable and unanswerable questions, got none"
        )
    shares = [(50 * one["refused"] + 50 * one["answered"]) / 100 for one in systems]
    share = max(shares)
    best = systems[shares.index(share)]["name"]
    sentence = _say("mix", percent=50, best=best, share=share)
    return Scene({"systems": systems}, sentence, draw_mix(systems))


# ---- a ranked list -------------------------------------------------------------------------------

SHOWN = 120
"""Characters of a passage in a ranked list."""


def _ranking(row: Any = None) -> Scene:
    if row is None:
        replies = recorded_responses("rgb_noise").query("system == 'answer' and noise_rate == 0.4")
        row = _as_ranked(replies.iloc[0])
    keys, relevant = list(row["retrieved"]), [*row["relevant"]]
    texts = row.get("passages", keys)
    k = min(3, len(keys))
    measures: dict[str, Callable[..., float]]
    measures = {"success": success, "recall": recall, "reciprocal": reciprocal_rank, "ndcg": ndcg}
    values = {name: measure(keys, relevant, k=k) for name, measure in measures.items()}
    kind = "ranking" if relevant else "nothing to find"
    found = len({*keys[:k]} & {*relevant})
    sentence = _say(kind, k=k, found=found, total=len(relevant), **values)
    passages = [
        [str(rank), text if len(text) <= SHOWN else text[:SHOWN] + "…"]
        for rank, text in enumerate(map(str, texts), 1)
    ]
    question = str(row.get("question", ""))
    good = [rank for (rank, _), key in zip(passages, keys, strict=True) if key in relevant]
    data = {
        "question": question,
        "passages": passages,
        "relevant": good,
        "elsewhere": len({*relevant} - {*keys}),
    }
    lines = [tag("li", sign(rank in good), " ", text, dir="auto") for rank, text in passages]
    static = join([tag("p", question, dir="auto"), tag("ol", *lines)])
    return Scene(data, sentence, static)


def _as_ranked(response: Any) -> dict[str, Any]:
    """The passages of a recorded reply as a ranked list."""
    kinds = response["kinds"]
    return {
        "question": response["question"],
        "passages": response["passages"],
        "retrieved": list(range(len(kinds))),
        "relevant": [rank for rank, kind in enumerate(kinds) if kind == "positive"],
    }


# ---- the four numbers of TRACe -------------------------------------------------------------------


def _trace(record: Any = None) -> Scene:
    if record is None:
        record = load_ragbench("sample-ragbench").iloc[0]
    shown = Card(record, "trace")
    context = sentence_pairs(record["documents_sentences"])
    response = sentence_pairs([record["response_sentences"]])
    known, said = ({key for key, _ in pairs} for pairs in (context, response))
    fields = {
        "all_relevant_sentence_keys": known,
        "all_utilized_sentence_keys": known,
        "unsupported_response_sentence_keys": said,
    }
    labels = {name: sorted(keys & {*record[name]}) for name, keys in fields.items()}
    relevant, used, unsupported = labels.values()
    scores = trace_scores({**record, **labels})
    r, u, common = len(relevant), len(used), len({*relevant} & {*used})
    counts = {"n": len(context), "r": r, "u": u, "common": common, "wrong": len(unsupported)}
    four = {
        name: getattr(scores, name)
        for name in ("relevance", "utilization", "completeness", "adherence")
    }
    kind = "trace" if relevant else "nothing relevant"
    sentence = _say(kind, **counts, **four, said=len(response))
    data = {"context": context, "response": response, "relevant": relevant, "used": used}
    data |= {"question": record["question"], "unsupported": unsupported}
    return Scene(data, sentence, shown._repr_html_())


# ---- noise robustness ----------------------------------------------------------------------------


def _noise(responses: Any = None) -> Scene:
    if responses is None:
        responses = recorded_responses("rgb_noise").query("system == 'answer'")
    key = ["example_id", "noise_rate"]
    require_columns(responses, [*key, "question", "passages", "kinds"], "explore", unique=key)
    scored = score(responses, "rgb.accuracy")
    table = scored.pivot(index="example_id", columns="noise_rate", values="value").dropna()
    if table.empty:
        raise InputError("explore needs a question with replies at every noise rate, got none")
    rates = list(table)
    changing = table.index[table.nunique(axis=1) > 1]
    chosen = [*changing, *table.index.difference(changing)][:6]
    rows = {(row["example_id"], row["noise_rate"]): row for row in responses.to_dict("records")}
    items = [
        _item([rows[example, rate] for rate in rates], table.loc[example]) for example in chosen
    ]
    first, accuracy = items[0]["runs"][0], table.mean().tolist()
    sentence = _say(
        "noise",
        noise=f"{rates[0]:g}",
        useful=first["kinds"].count(True),
        total=len(first["kinds"]),
        verdict="correct" if first["correct"] else "incorrect",
        n=len(table),
        share=accuracy[0],
    )
    cells = [
        (f"{rate:g}", "".join(map(sign, run["kinds"])), run["reply"], sign(run["correct"]))
        for rate, run in zip(rates, items[0]["runs"], strict=True)
    ]
    head = "noise rate", "passages with the answer", "reply", "correct"
    shown = [tag("tr", *(tag("th", name) for name in head))]
    shown += [tag("tr", *(tag("td", cell, dir="auto") for cell in row)) for row in cells]
    static = join([tag("p", items[0]["question"], dir="auto"), tag("table", *shown)])
    data = {"rates": rates, "items": items, "accuracy": accuracy, "n": len(table)}
    return Scene(data, sentence, static)


def _item(runs: list[dict[str, Any]], correct: Any) -> dict[str, Any]:
    """One question with all its passages, and the recorded reply at each noise rate."""
    passages = list(dict.fromkeys(text for run in runs for text in run["passages"]))
    shown = [
        {
            "order": [passages.index(text) for text in run["passages"]],
            "kinds": [kind == "positive" for kind in run["kinds"]],
            "reply": run["response"] or "no reply",
            "correct": value == 1,
        }
        for run, value in zip(runs, correct.tolist(), strict=True)
    ]
    return {"question": runs[0]["question"], "passages": passages, "runs": shown}


EXPLORABLES: dict[str, tuple[str, str, Callable[..., Scene]]] = {
    "mcnemar": (
        "Which questions decide between two systems?",
        "Distribution of the questions on which one system is correct, with the observed number marked.",
        _mcnemar,
    ),
    "conformal": (
        "Which calibration score becomes the threshold, and what does it promise?",
        "Histogram of the calibration scores, with the threshold marked.",
        _conformal,
    ),
    "judge": (
        "What do a judge's errors do to the share of correct answers that it reports?",
        "Reported against true share of correct answers: a line that is flatter than the diagonal.",
        _judge,
    ),
    "permutation": (
        "Could this difference be due to chance?",
        "Histogram of the mean differences in random worlds, with the observed difference marked.",
        _permutation,
    ),
    "power": (
        "How large must a true difference be for this sample to show it?",
        "Power against the true difference, with the minimum detectable effect marked.",
        _power,
    ),
    "fieller": (
        "Which ratios of gain and cost do the data not exclude?",
        "P-value of each ratio; the ratios that are not excluded are shaded.",
        _fieller,
    ),
    "threshold": (
        "At which value does a score accept the right items?",
        "Histogram of the scores, with the items with label 1 and the threshold marked.",
        _threshold,
    ),
    "mix": (
        "Which system decides correctly most often?",
        "Share of right decisions of each system against the share of unanswerable questions.",
        _mix,
    ),
    "ranking": (
        "What do success, recall, reciprocal rank and nDCG count?",
        "",
        _ranking,
    ),
    "trace": (
        "What do the four numbers of TRACe count?",
        "",
        _trace,
    ),
    "noise": (
        "What does a model reply when fewer passages contain the answer?",
        "",
        _noise,
    ),
}
"""Name -> question, description of the picture, and what makes the first state from the data."""
