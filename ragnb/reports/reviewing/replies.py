"""Checks of the replies: missing, cut off, not read, or in another language."""

# Tested in tests/reports/test_review.py.

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import pandas as pd
from scipy.special import bdtrc

from ragnb.errors import InputError
from ragnb.metrics.language import known_code, primary_code
from ragnb.metrics.recognition import INVALID, REFUSED, outcome_and_why
from ragnb.numbers import enumeration
from ragnb.replies import reached_limit
from ragnb.reports.reviewing.checks import ALL, ALPHA, ORDER, SYSTEMS, Finding, NotPossible, check
from ragnb.reports.reviewing.evidence import (
    Evidence,
    count_by_system,
    counts_in_words,
    number_of,
    share_of,
    view_rows,
)
from ragnb.reports.reviewing.gaps import effect_of_gaps, explanation
from ragnb.scoring.scores import score
from ragnb.text import fold

# Characters at the beginning of a line of a prompt that show that a reply repeats the prompt.
PROMPT_PIECE = 60
# Smallest share of the prompts that contain a line of the instructions.
INSTRUCTED = 0.5
# The two replies that NoMIRACL's prompt offers: the passages contain an answer, or they do not.
AGREED = ("answer is present", "don't know")
# The rate that depends on what counts as an answer, and ragnb's default rule for this.
HALLUCINATION, DEFAULT_RULE = "abstention.hallucination", "start"
# Identification of a language errs in few texts of this length, and on short names it errs often.
LEAST_LETTERS = 30
# Share of responses whose language may be identified wrongly.
MISIDENTIFIED = 0.05
# Responses of one system in one language that are identified.
IDENTIFIED = 200


@check("missing replies", "Does every system have a reply to every question?")
def missing_replies(evidence: Evidence) -> Iterator[Finding]:
    """Responses that are missing or blank."""
    name = "missing replies"
    if "response" not in evidence.responses:
        raise NotPossible("the responses have no column response")
    missing = evidence.is_reply_missing
    # A column without any reply was not filled in, which says nothing about a system.
    if not missing.any() or missing.all():
        return
    counts = count_by_system(evidence, missing)
    sentence = (
        f"The reply is missing or blank in {share_of(int(missing.sum()), len(missing), 'rows')}: "
        f"{counts_in_words(counts)}."
    )
    effect, best_system = effect_of_gaps(evidence, missing)
    if effect != ALL and len(counts) > 1:
        sentence += (
            " If a metric gives these rows no value, the means of the systems rest on different "
            "questions."
        )
        if "answerable" in evidence.responses:
            sentence += (
                " With rule='nomiracl', such rows count as invalid, so all questions remain."
            )
    why = explanation(evidence, missing)
    sentence = " ".join(filter(None, [sentence, best_system, why.sentence if why else ""]))
    call = why.next_call if why else ""
    rows = evidence.rows_where(missing)
    yield Finding(sentence, float(missing.sum()), rows, effect, call or view_rows(name))


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
        f"{number_of(int(is_cut.sum()), 'reply', 'replies')} of {len(is_cut):,} reached the largest number "
        f"of tokens and may lack the end of the answer: {counts_in_words(counts)}."
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
            f"contain both replies that NoMIRACL's prompt offers, “{AGREED[0]}” and “{AGREED[1]}”"
        )
    if not is_echo.any():
        return
    counts = count_by_system(evidence, is_echo)
    total = share_of(int(is_echo.sum()), len(is_echo), "replies")
    sentence = (
        f"{total} {' or '.join(descriptions)}, so they repeat the prompt instead of answering: "
        f"{counts_in_words(counts)}."
    )
    n_refusals = _refusals_among(texts[has_both])
    if n_refusals:
        sentence += (
            f" With rule='anywhere', which looks for “{AGREED[1]}”, {n_refusals:,} of them count as "
            "refusals."
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


@check("unreadable replies", "Is a reply neither of the two that the prompt offers?")
def unreadable_replies(evidence: Evidence) -> Iterator[Finding]:
    """Replies that NoMIRACL's rule reads neither as an answer nor as a refusal."""
    evidence.column("answerable")
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
        raise NotPossible("most replies are free text, not one of two replies that a prompt offers")
    if not is_invalid.any():
        return
    counts = count_by_system(evidence, is_invalid)
    total = share_of(int(is_invalid.sum()), int(is_reply.sum()), "replies")
    sentence = (
        f"{total} cannot be read as one of the two that NoMIRACL's prompt offers, “Yes, answer is present” "
        f"or “I don't know”: {counts_in_words(counts)}. "
        f"{_kinds_of_invalid(evidence, is_invalid)}"
    )
    effect, on_rates = _effect_on_hallucinations(evidence)
    rows = evidence.rows_where(is_invalid)
    call = "ragnb.abstention_report(responses, rule='nomiracl')"
    yield Finding(f"{sentence} {on_rates}", float(is_invalid.sum()), rows, effect, call)


def _kinds_of_invalid(evidence: Evidence, is_invalid: pd.Series) -> str:
    """How many of the unreadable replies are blank, contain both of the offered replies, or neither."""
    answers, refuses = _agreed_replies(evidence)
    is_blank = evidence.is_reply_missing
    kinds = {
        "contain both (see echoed prompts)": is_invalid & answers & refuses,
        "contain one of them in other words": is_invalid & (answers ^ refuses),
        "contain neither": is_invalid & ~answers & ~refuses & ~is_blank,
        "are blank": is_invalid & is_blank,
    }
    texts = [f"{int(rows.sum()):,} {words}" for words, rows in kinds.items() if rows.any()]
    return f"Of these, {enumeration(texts)}."


def _effect_on_hallucinations(evidence: Evidence) -> tuple[str, str]:
    """What the rule for refusals does to the rate of hallucinations, as an effect and in words."""
    rates = {}
    for rule in (DEFAULT_RULE, "nomiracl"):
        try:
            scores = score(evidence.responses, HALLUCINATION, rule=rule)
        except InputError as error:
            # A label of `answerable` may be another word.
            return SYSTEMS, f"The rate of hallucinations cannot be computed ({error})."
        cells = scores.get("system", pd.Series("the responses", scores.index))
        rates[rule] = scores["value"].groupby(cells, sort=False).mean()
    table = pd.DataFrame(rates).dropna()
    if table.empty:
        # No question is unanswerable, so nothing can be hallucinated.
        return (
            SYSTEMS,
            "No unanswerable question has a score, so there is no rate of hallucinations.",
        )
    before, after = table[DEFAULT_RULE], table["nomiracl"]
    # The three systems whose rate changes most.
    changed = (before - after).abs().sort_values(ascending=False, kind="stable").head(3)
    changes = [
        f"{system} {before[system]:.3f} and {after[system]:.3f}"
        for system in changed.index
        if changed[system] > 0
    ]
    if not changes:
        return SYSTEMS, (
            f"The rate of hallucinations is the same with rule={DEFAULT_RULE!r} and rule='nomiracl'."
        )
    sentence = (
        "These replies change the rate of hallucinations, which is the share of the unanswerable questions that a "
        f"system answers. With rule={DEFAULT_RULE!r} (the default), they count as "
        "answers unless they begin with a refusal; with rule='nomiracl', they are neither answers nor "
        f"refusals. The rates with the two rules are: {'; '.join(changes)}"
    )
    n_more = int(((before - after).abs() > 0).sum()) - len(changes)
    sentence += f"; {number_of(n_more, 'more system')} changed less." if n_more else "."
    reversed_pairs = [
        (first, second)
        for first, second in permutations(table.index, 2)
        if before[first] > before[second] and after[first] < after[second]
    ]
    if not reversed_pairs:
        return SYSTEMS, f"{sentence} The order of the systems is the same."
    # The example is the best system, by the default rule, that another one overtakes, and of the systems that
    # overtake it the one that does so by most.
    first, second = min(
        reversed_pairs, key=lambda pair: (before[pair[1]], after[pair[0]] - after[pair[1]])
    )
    n_pairs = len(table) * (len(table) - 1) // 2
    sentence += (
        f" {len(reversed_pairs)} of {number_of(n_pairs, 'pair')} of systems change order: {first} has "
        f"more hallucinations than {second} with rule={DEFAULT_RULE!r} ({before[first]:.3f} and "
        f"{before[second]:.3f}) and fewer with rule='nomiracl' ({after[first]:.3f} and "
        f"{after[second]:.3f}). A low rate with rule='nomiracl' can mean that a system ignores the "
        "requested form, so report the share of invalid replies next to it."
    )
    return ORDER, sentence


@check("other languages", "Are answers in the language of their question?", is_test=True)
def other_languages(evidence: Evidence) -> Iterator[Finding]:
    """Systems that often answer in another language."""
    name = "other languages"
    evidence.column("language")
    evidence.column("response")
    if _are_agreed(_agreed_replies(evidence)):
        raise NotPossible(
            "not tested, because most replies are fixed phrases that a prompt requests"
        )
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
