"""Checks of the replies: missing, cut off, not read, or in another language."""

from collections import Counter
from collections.abc import Iterator

import pandas as pd
from scipy.special import bdtrc

from ragnb.metrics.language import known_code, primary_code
from ragnb.metrics.recognition import INVALID, REFUSED, outcome_and_why
from ragnb.metrics.record import METRICS
from ragnb.replies import reached_limit
from ragnb.reports.reviewing.checks import ALL, ALPHA, ORDER, SYSTEMS, Finding, NotPossible, check
from ragnb.reports.reviewing.evidence import (
    Evidence,
    count_by_system,
    counts_in_words,
    number_of,
    view_rows,
)
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize
from ragnb.text import fold

# Characters at the beginning of a line of a prompt that show that a reply repeats the prompt.
PROMPT_PIECE = 60
# Smallest share of the prompts that contain a line of the instructions.
INSTRUCTED = 0.5
# NoMIRACL's two agreed replies.
AGREED = ("answer is present", "don't know")
# Identification of a language errs in few texts of this length, and on short names it errs often.
LEAST_LETTERS = 30
# Share of responses whose language may be identified wrongly.
MISIDENTIFIED = 0.05
# Responses of one system in one language that are identified.
IDENTIFIED = 200


@check("missing replies", "Does every system have a value for every question?")
def missing_replies(evidence: Evidence) -> Iterator[Finding]:
    """Responses, or grades, that are missing."""
    name = "missing replies"
    for column, is_missing in _missing_values(evidence).items():
        counts = count_by_system(evidence, is_missing)
        shares = [count / n for count, n in counts.values()]
        value = "reply" if column == "response" else column
        n_missing = number_of(int(is_missing.sum()), "row")
        sentence = f"The {value} is missing in {n_missing}: {counts_in_words(counts)}."
        # Shares that differ by less than one percentage point affect all systems alike.
        effect = ALL if max(shares) - min(shares) < 0.01 else SYSTEMS
        if effect == SYSTEMS and len(counts) > 1:
            sentence += " The systems are then compared on different items."
        if column == "response" and _bounds_overlap(evidence):
            effect = ORDER
            sentence += " If the missing replies were right, another system could be the best."
        rows = evidence.rows_where(is_missing)
        yield Finding(sentence, float(is_missing.sum()), rows, effect, view_rows(name))


def _missing_values(evidence: Evidence) -> dict[str, pd.Series]:
    """Column -> where its values are missing: the response or, without responses, each grade.

    Only columns in which some values are missing and some are not. As for `Evidence.column`, a column
    without any value is one that was not filled in, which says nothing about a system.
    """
    responses = evidence.responses
    if "response" in responses:
        columns = ["response"]
    else:
        columns = [
            name
            for name in responses
            if name in ("grade", "score", "value", "verdict") or str(name).endswith("_grade")
        ]
    if not columns:
        raise NotPossible("there is neither a response nor a grade")
    missing = {}
    for name in columns:
        is_missing = responses[name].isna()
        if name == "response":
            is_missing |= responses[name].map(
                lambda text: isinstance(text, str) and not text.strip()
            )
        is_filled_in_part = is_missing.any() and not is_missing.all()
        if is_filled_in_part:
            missing[name] = is_missing.astype(bool)
    return missing


def _bounds_overlap(evidence: Evidence) -> bool:
    """Whether another system could be the best if all missing scores were right or wrong.

    ``worst_low`` and ``worst_high`` are the means of a system if its missing scores all have the lowest or
    the highest possible value.
    """
    try:
        scores = evidence.main_scores
    except NotPossible:
        return False
    if len(evidence.order) < 2:
        return False
    bounds = summarize(scores, by="system", cluster=evidence.unit).set_index("system")
    best, *others = evidence.order
    metric = METRICS.get(scores["metric"].iloc[0])
    if metric is not None and not metric.higher_is_better:
        return bool((bounds.loc[others, "worst_low"] < bounds.loc[best, "worst_high"]).any())
    return bool((bounds.loc[others, "worst_high"] > bounds.loc[best, "worst_low"]).any())


@check("cut-off replies", "Did a reply end because it reached its largest number of tokens?")
def cut_off_replies(evidence: Evidence) -> Iterator[Finding]:
    """Replies that reached the limit of tokens."""
    name = "cut-off replies"
    column = evidence.column("finish_reason")
    is_cut = evidence.responses[column].map(reached_limit).astype(bool)
    if not is_cut.any():
        return
    counts = count_by_system(evidence, is_cut)
    sentence = (
        f"The largest number of tokens cut off {number_of(int(is_cut.sum()), 'reply', 'replies')}, which "
        f"may lack the end of the answer: {counts_in_words(counts)}."
    )
    effect = SYSTEMS if len({count / n for count, n in counts.values()}) > 1 else ALL
    yield Finding(
        sentence, float(is_cut.sum()), evidence.rows_where(is_cut), effect, view_rows(name)
    )


@check("echoed prompts", "Does a reply repeat the prompt instead of answering it?")
def echoed_prompts(evidence: Evidence) -> Iterator[Finding]:
    """Replies that contain a sentence of their prompt, or both of two agreed replies."""
    name = "echoed prompts"
    evidence.column("response")
    texts = evidence.responses["response"]
    is_echo = pd.Series(False, texts.index)
    # What the replies do, in words.
    descriptions = []
    if "prompt" in evidence.responses:
        has_prompt = _repeats_prompt(evidence)
        is_echo |= has_prompt
        if has_prompt.any():
            descriptions.append("contain a sentence of their prompt")
    has_both = _has_both_agreed_replies(evidence)
    is_echo |= has_both
    if has_both.any():
        descriptions.append(
            f"contain both agreed replies, “{AGREED[0]}” and “{AGREED[1]}”, as the prompt does"
        )
    if not is_echo.any():
        return
    counts = count_by_system(evidence, is_echo)
    sentence = f"Replies that {' or '.join(descriptions)}: {int(is_echo.sum()):,} ({counts_in_words(counts)})."
    n_refusals = _refusals_among(texts[has_both])
    if n_refusals:
        sentence += (
            f" A rule that looks for “{AGREED[1]}” counts {n_refusals:,} of them as refusals."
        )
    rows = evidence.rows_where(is_echo)
    yield Finding(sentence, float(is_echo.sum()), rows, SYSTEMS, view_rows(name))


def _repeats_prompt(evidence: Evidence) -> pd.Series:
    """Where a response contains the beginning of a long line of the instructions in its prompt.

    The passages and the question of a prompt are no instructions, because an answer may quote them.
    """
    responses = evidence.responses
    repeats = pd.Series(False, responses.index)
    # A system has its own instructions, and they may differ between conditions, such as languages.
    keys = [name for name in ("system", *evidence.conditions) if name in responses]
    groups = responses.groupby(keys, dropna=False, sort=False) if keys else [((), responses)]
    for _, rows in groups:
        # A question that was repeated has the same passages each time, so it counts once.
        questions = rows.drop_duplicates("example_id") if "example_id" in rows else rows
        pieces = _instructions(questions["prompt"])
        for row, response in rows["response"].items():
            if isinstance(response, str):
                text = " ".join(response.split())
                repeats[row] = any(piece in text for piece in pieces)
    return repeats


def _instructions(prompts: pd.Series) -> list[str]:
    """The beginnings of the long lines that most prompts have in common, one prompt per question.

    A line of the instructions is the same for all questions. A passage is in the prompts of one
    question, or of a few. With a single prompt the two cannot be distinguished, so there are none.
    """
    texts = [prompt for prompt in prompts if isinstance(prompt, str)]
    n_prompts_by_piece: Counter[str] = Counter()
    for prompt in texts:
        lines = [" ".join(line.split()) for line in prompt.splitlines()]
        # A set, because a line counts once for a prompt that contains it twice.
        n_prompts_by_piece.update(
            {line[:PROMPT_PIECE] for line in lines if len(line) >= PROMPT_PIECE}
        )
    fewest = max(2, INSTRUCTED * len(texts))
    return [piece for piece, n_prompts in n_prompts_by_piece.items() if n_prompts >= fewest]


def _agreed_replies(evidence: Evidence) -> list[pd.Series]:
    """For each of the two replies in `AGREED`, where a response contains it, in any case."""
    texts = evidence.responses["response"].map(
        lambda text: fold(text).lower() if isinstance(text, str) else ""
    )
    return [texts.str.contains(phrase, regex=False).astype(bool) for phrase in AGREED]


def _are_agreed(contains: list[pd.Series]) -> bool:
    """Whether the two replies are those that most responses use."""
    return bool((contains[0] | contains[1]).mean() > 0.5)


def _has_both_agreed_replies(evidence: Evidence) -> pd.Series:
    """Where a response contains both agreed replies, if they are the agreed replies of this study."""
    texts = evidence.responses["response"]
    contains = _agreed_replies(evidence)
    are_agreed = _are_agreed(contains)
    return (contains[0] & contains[1]) if are_agreed else pd.Series(False, texts.index)


def _refusals_among(texts: pd.Series) -> int:
    """Number of texts that count as refusals by a phrase anywhere in them."""
    outcomes = [
        outcome_and_why(text, rule="anywhere")[0] for text in texts if isinstance(text, str)
    ]
    return outcomes.count(REFUSED)


@check("unreadable replies", "Is a reply neither of the two agreed ones?")
def unreadable_replies(evidence: Evidence) -> Iterator[Finding]:
    """Replies that NoMIRACL's rule reads neither as an answer nor as a refusal."""
    column = evidence.column("answerable")
    evidence.column("response")
    responses = evidence.responses
    is_reply = responses["response"].notna()
    outcomes = [
        outcome_and_why(text, rule="nomiracl")[0] if isinstance(text, str) else None
        for text in responses["response"]
    ]
    is_invalid = pd.Series([outcome == INVALID for outcome in outcomes], responses.index)
    # The rule of NoMIRACL would then call ordinary answers invalid.
    if is_invalid[is_reply].mean() > 0.5:
        raise NotPossible("most replies are free text, without agreed forms to read")
    if not is_invalid.any():
        return
    counts = count_by_system(evidence, is_invalid)
    sentence = (
        f"Replies that are neither of the two agreed ones: {int(is_invalid.sum()):,} "
        f"({counts_in_words(counts)}). Whether they count as answers decides the rates that use "
        f"{column!r}, such as the rate of hallucinations."
    )
    rows = evidence.rows_where(is_invalid)
    call = "ragnb.abstention_report(responses, rule='nomiracl')"
    yield Finding(sentence, float(is_invalid.sum()), rows, SYSTEMS, call)


@check("other languages", "Are answers in the language of their question?", is_test=True)
def other_languages(evidence: Evidence) -> Iterator[Finding]:
    """Systems that often answer in another language."""
    name = "other languages"
    evidence.column("language")
    evidence.column("response")
    if _are_agreed(_agreed_replies(evidence)):
        raise NotPossible("most replies are agreed formulas, which are the same in all languages")
    responses = evidence.responses
    by = [column for column in ("system", "language") if column in responses]
    n_letters = responses["response"].map(lambda text: len(text) if isinstance(text, str) else 0)
    is_known = responses["language"].map(lambda code: bool(_known(code)))
    long_enough = responses[(n_letters >= LEAST_LETTERS) & is_known]
    if long_enough.empty:
        raise NotPossible(f"no response has {LEAST_LETTERS} characters or more")
    # System and language -> the responses that are identified.
    samples = {}
    for cell, rows in long_enough.groupby(by, sort=False):
        # The same rows are chosen in each review.
        samples[cell] = rows.sample(min(len(rows), IDENTIFIED), random_state=0)
    frame = pd.concat(samples.values())
    # Fewer candidates give fewer errors. These are the languages of the study and those that models
    # use by mistake most often.
    candidates = sorted({*responses.loc[is_known, "language"].map(_known), "en", "de", "fr", "zh"})
    # The score is 1 if the identified language is that of the question, and else 0.
    values = score(frame, "language.rlc_lid", candidates=candidates)["value"].to_numpy(float)
    is_other = pd.Series(values == 0, frame.index)
    counts = []
    rows_of_finding: list[int] = []
    for cell, sample in samples.items():
        n_other, n = int(is_other[sample.index].sum()), len(sample)
        # One-sided binomial test: the probability of `n_other` or more errors of the identification.
        p_value = bdtrc(n_other - 1, n, MISIDENTIFIED) if n_other else 1.0
        # Each cell is tested, so the rate of false findings is divided.
        if p_value < ALPHA / len(samples):
            counts.append(f"{n_other} of {n} of {', '.join(map(str, cell))}")
            rows_of_finding += [int(row) for row in sample.index[is_other[sample.index]]]
    if not counts:
        return
    sentence = (
        f"Answers in another language than that of the question: {'; '.join(counts)} (answers of "
        f"{LEAST_LETTERS} characters or more, at most {IDENTIFIED} per system and language; the "
        f"identification may err in {MISIDENTIFIED:.0%} of them)."
    )
    yield Finding(
        sentence, float(len(rows_of_finding)), sorted(rows_of_finding), SYSTEMS, view_rows(name)
    )


def _known(code: object) -> str:
    """The code of a language that can be identified, or an empty text."""
    if not isinstance(code, str) or not code:
        return ""
    try:
        return primary_code(known_code(code))
    except ValueError:
        return ""
