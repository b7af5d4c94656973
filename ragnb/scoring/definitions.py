"""The METRICS table: every metric that ships, with its definition's name, direction, options and source."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from math import inf
from typing import Any

import pandas as pd

from ragnb.errors import InputError, check_choice
from ragnb.metrics import answer, cost, language, readability, rgb, rgb_judged, semantic, trace, verdict  # noqa: F401
from ragnb.metrics.answer_columns import answer_columns, rlc_column, rlc_ok_column
from ragnb.metrics.record import METRICS as DECLARED
from ragnb.metrics.record import Metric
from ragnb.metrics.rgb_columns import verdicts
from ragnb.metrics.rgb_phrases import PROTOCOLS
from ragnb.scoring import variants

_SHARE = (0.0, 1.0)
_NEVER = "Never where there is a response."
_NEVER_RULED = "Never where there is a response; with a judge or a label as the rule, where its verdict is missing."
_NEVER_JUDGED = "Never where there is a verdict."


# ---- RGB ---------------------------------------------------------------------------------------------------------------

_CHEN = "Chen et al., AAAI 2024, arXiv 2309.01431, section 3"
_CODE = "chen700564/RGB@65ec39e4 evalue.py"
_LANGUAGE = {"language": "language"}
_ANSWERED = {"response": "response", "answer": "references", **_LANGUAGE}
_FACED = {"response": "response", "false_answer": "false_answers", **_LANGUAGE}
_REFUSED = {"judged_refusal": "judged_refusal", "refusal_label": "refusal"}
_DETECTED = {"judged_detection": "judged_detection", "detection_label": "error_detected"}


def _of_verdicts(field: str) -> Callable[..., Any]:
    """The columnar twin of an RGB metric: one field of the verdicts on whole columns."""
    plural = {"response": "responses", "answer": "answers", "false_answer": "false_answers", "language": "languages"}

    def column(*, protocol: str, noise_rate: Any = None, **values: Any) -> Any:
        rules = [values.pop(rule, None) for rule in ("refusal", "detection")]
        if any(rule is not None for rule in rules) or values.pop("parts", "all") != "all":
            raise InputError("other rules than the protocol's are scored one by one")
        named = {plural[name]: value for name, value in values.items() if name in plural}
        answers = named.pop("answers", None) or [None] * len(named["responses"])
        check_choice(protocol, PROTOCOLS, "protocol")
        if field == "rejection" and protocol == "released" and any(answer is None for answer in answers):
            raise InputError("rejections as released need an answer a row; got none; score them one by one")
        answers = ["-" if answer is None else answer for answer in answers]  # no field that is asked for depends on it
        return getattr(verdicts(answers=answers, noise_rates=noise_rate, protocol=protocol, **named), field)

    return column


def _rgb(name: str, function: Callable[..., float], columns: Mapping[str, str], source: str, **more: Any) -> Metric:
    defaults = {"protocol": "paper", "refusal": None, "detection": None, "parts": "all"}
    options = {option: defaults[option] for option in more["variants"]}
    return Metric(f"rgb.{name}", function, columns, True, _SHARE, source, options=options, binary=True, **more)


RGB = (
    _rgb(
        "accuracy",
        rgb.is_correct,
        {**_ANSWERED, "noise_rate": "noise_rate", **_REFUSED},
        f"{_CHEN}; {_CODE} checkanswer",
        evidence=rgb.answer_evidence,
        columnar=_of_verdicts("correct"),
        variants=variants.ACCURACY,
        undefined=_NEVER_RULED,
    ),
    _rgb(
        "rejection",
        rgb.is_rejection,
        {**_ANSWERED, **_REFUSED},
        f"{_CHEN}; {_CODE} all_rate",
        evidence=rgb.rejection_evidence,
        columnar=_of_verdicts("rejection"),
        variants=variants.REJECTION,
        undefined="Never where there is a response; under released, where there is no reference.",
    ),
    _rgb(
        "error_detection",
        rgb.detects_error,
        {**_FACED, **_DETECTED},
        f"{_CHEN}; {_CODE} predict",
        evidence=rgb.detection_evidence,
        columnar=_of_verdicts("detection"),
        variants=variants.DETECTION,
        undefined=_NEVER_RULED,
    ),
    _rgb(
        "error_correction",
        rgb.corrects_error,
        {**_ANSWERED, **_FACED, **_REFUSED, **_DETECTED},
        f"{_CHEN}; {_CODE} correct_rate",
        evidence=rgb.correction_evidence,
        columnar=_of_verdicts("correction"),
        condition="no error detected",
        variants=variants.CORRECTION,
        undefined="Where no error is detected; never under flexible.",
    ),
    Metric(
        "rgb.judged_rejection",
        rgb_judged.judged_rejection,
        {"judged_refusal": "judged_refusal"},
        True,
        _SHARE,
        f"{_CHEN}, Rej*",
        binary=True,
        undefined=_NEVER_JUDGED,
    ),
    Metric(
        "rgb.judged_error_detection",
        rgb_judged.judged_error_detection,
        {"judged_detection": "judged_detection"},
        True,
        _SHARE,
        f"{_CHEN}, ED*",
        binary=True,
        undefined=_NEVER_JUDGED,
    ),
    _rgb(
        "judged_error_correction",
        rgb_judged.judged_error_correction,
        {**_ANSWERED, "judged_detection": "judged_detection"},
        f"{_CHEN}, CR over ED*",
        condition="no error detected",
        variants=variants.JUDGED_CORRECTION,
        undefined="Where the judge saw no error detected.",
    ),
)

# ---- TRACe -------------------------------------------------------------------------------------------------------------

TRACE = tuple(record for name, record in DECLARED.items() if name.startswith("trace."))

# ---- answers in any language -------------------------------------------------------------------------------------------

_LBRAG = "kanoes/LBRAG-NEW experiments/scripts/experiment.py"
_SQUAD = (
    "after Rajpurkar et al. 2016, arXiv 1606.05250, but not SQuAD's number: a, an, the stay, and punctuation parts words"
)
_PAIR = {"response": "response", "reference": "references", **_LANGUAGE}
_SPOKEN = {"response": "response", **_LANGUAGE}
_BOTH_EMPTY = "Where response and reference are both empty once normalised; never under lbrag, which says 1."
_BOTH_BLANK = "Where response and reference are both blank."
_NO_LETTER = "Where the response has no letter"


def _of_answers(field: str) -> Callable[..., Any]:
    """The columnar twin of an answer metric: one field of `answer_columns`."""

    def column(*, response: Any, reference: Any, variant: str, language: Any = None) -> Any:
        return getattr(answer_columns(response, reference, languages=language, variant=variant), field)

    return column


def _answer(name: str, function: Callable[..., float], source: str, **more: Any) -> Metric:
    more = {"options": {"variant": "unicode"}, "variants": variants.TOKENS, "undefined": _BOTH_EMPTY, **more}
    more = {"columns": _PAIR, "bounds": _SHARE, **more}
    return Metric(name, function, higher_is_better=True, source=source, **more)


MULTILINGUAL = (
    _answer(
        "answer.exact_match",
        answer.exact_match,
        f"{_SQUAD}; {_LBRAG}",
        binary=True,
        columnar=_of_answers("exact_match"),
        variants=variants.TEXT,
    ),
    _answer("answer.f1", answer.token_f1, f"{_SQUAD}; {_LBRAG}", columnar=_of_answers("token_f1")),
    _answer("answer.precision", answer.token_precision, _SQUAD, columnar=_of_answers("token_precision")),
    _answer("answer.recall", answer.token_recall, _SQUAD, columnar=_of_answers("token_recall")),
    _answer(
        "answer.contains",
        answer.contains,
        "ours: the normalised reference is a substring",
        binary=True,
        variants=variants.SUBSTRING,
        undefined="Where a part of the reference is empty once normalised.",
    ),
    _answer("answer.rouge_l", answer.rouge_l, "Lin 2004, section 3.1"),
    _answer(
        "answer.chrf",
        answer.chrf,
        "Popović 2015; sacreBLEU",
        options={"word_order": 0},
        variants=variants.WORD_ORDER,
        undefined=_BOTH_BLANK,
    ),
    _answer(
        "answer.bleu",
        answer.bleu,
        "Papineni et al. 2002; Post 2018; sacreBLEU",
        options={"tokenize": None},
        variants=variants.TOKENIZE,
        undefined=_BOTH_BLANK,
    ),
    _answer(
        "answer.flesch_reading_ease",
        readability.flesch_reading_ease,
        "Flesch 1948 and its adaptations",
        options={},
        columns=_SPOKEN,
        bounds=(-inf, inf),
        variants={},
        undefined="Where the response has no word, or its language no published formula.",
    ),
    _answer(
        "language.rlc",
        language.response_language_consistency,
        _LBRAG,
        columns=_SPOKEN,
        columnar=lambda response, language, variant: rlc_column(response, language, variant=variant),
        variants=variants.SCRIPT,
        undefined=f"{_NO_LETTER}; never under lbrag, where nothing to count says 1.",
    ),
    _answer(
        "language.rlc_ok",
        language.response_in_language,
        _LBRAG,
        options={"variant": "unicode", "threshold": 0.6},
        columns=_SPOKEN,
        binary=True,
        columnar=lambda response, language, **options: rlc_ok_column(response, language, **options),
        variants={**variants.SCRIPT, **variants.THRESHOLD},
        undefined=f"{_NO_LETTER}; never under lbrag, where nothing to count says 1.",
    ),
    _answer(
        "language.rlc_lid",
        language.language_identified,
        "Lui and Baldwin 2012; py3langid",
        options={"candidates": None},
        columns=_SPOKEN,
        binary=True,
        variants=variants.CANDIDATES,
        undefined=f"{_NO_LETTER}.",
    ),
    Metric(
        "cost.translation_tokens",
        cost.translation_tokens,
        {"passages": "translations"},
        higher_is_better=False,
        bounds=(0.0, inf),
        source=_LBRAG,
        undefined="Never where the translations are recorded; 0 if there is none.",
    ),
)

# ---- likeness of meaning -----------------------------------------------------------------------------------------------

SEMANTIC = (
    Metric(
        "semantic.judged_similarity",
        semantic.judged_similarity,
        {"score": "judged_similarity"},
        True,
        _SHARE,
        f"ours, after the judged score of {_LBRAG}; unreadable replies and empty responses are unscored",
        undefined="Never where there is a score.",
    ),
    Metric(
        "semantic.judged_correctness",
        semantic.judged_correctness,
        {"verdict": "judged_correct"},
        True,
        _SHARE,
        "ours: a judge's verdict by the references",
        binary=True,
        undefined=_NEVER_JUDGED,
    ),
    Metric(
        "semantic.embedding_cosine",
        semantic.embedding_cosine,
        {"a": "response_embedding", "b": "reference_embedding"},
        True,
        (-1.0, 1.0),
        "ours: the cosine of two embeddings",
        undefined="Where either embedding is zero.",
    ),
)

# ---- people ------------------------------------------------------------------------------------------------------------

PEOPLE = (
    Metric(
        "annotator.verdict",
        verdict.is_accepted,
        {"verdict": "verdict"},
        True,
        _SHARE,
        "the annotator whose column `verdict` it is",
        binary=True,
        undefined=_NEVER_JUDGED,
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in (*RGB, *TRACE, *MULTILINGUAL, *SEMANTIC, *PEOPLE)}
"""The metrics that ship, by name."""


def lookup(metric: str | Metric) -> Metric:
    """The record of a named metric; a `Metric` of your own is returned as it is.

    Raises
    ------
    InputError
        Unknown name, with the nearest known one.
    """
    if isinstance(metric, Metric):
        return metric
    if not isinstance(metric, str) or metric not in METRICS:
        hint = suggestion(str(metric), METRICS, f"use one of {', '.join(METRICS)}")
        raise InputError(f"score needs the name of a metric or a Metric record; got {metric!r}; {hint}")
    return METRICS[metric]


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """What to do about an unknown name: write the nearest known one, if one is near."""
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def is_binary(name: str, values: pd.Series) -> bool:
    """Whether a metric has only the values 0 and 1: as `METRICS` says; of an unknown metric, as its values say."""
    if name in METRICS:
        return METRICS[name].binary
    return len(values) > 0 and bool(values.isin([0.0, 1.0]).all())
