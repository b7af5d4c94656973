"""Checks of the questions: answered by nobody, wrong references, passages, and repeated questions."""

# Tested in tests/reports/test_review.py.

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import betaln, chdtrc, gammaln

from ragnb.cells import present
from ragnb.metrics.record import METRICS
from ragnb.metrics.references import listed
from ragnb.numbers import enumeration
from ragnb.reports.reviewing.checks import ALL, ALPHA, SYSTEMS, Finding, NotPossible, check
from ragnb.reports.reviewing.evidence import Evidence, number_of, view_rows
from ragnb.text import fold

# Least number of systems to distinguish a question that cannot be answered from a hard one, and of questions to
# estimate how hard questions are.
LEAST_SYSTEMS = 4
LEAST_QUESTIONS = 50


@check(
    "questions that nobody answers",
    "Are there more questions that no system answers than hard questions explain?",
    is_test=True,
)
def questions_that_nobody_answers(evidence: Evidence) -> Iterator[Finding]:
    """An excess of questions that no system answers, over a beta-binomial distribution."""
    name = "questions that nobody answers"
    systems = evidence.require_systems(LEAST_SYSTEMS)
    evidence.require_questions()
    scores = evidence.main_scores.dropna(subset="value")
    if not scores["value"].isin((0, 1)).all():
        raise NotPossible("it needs scores of 0 and 1")
    # For each question: the number of systems that are right, and of those that have a score.
    by_question = scores.groupby("example_id")["value"].agg(["sum", "size"])
    complete = by_question[by_question["size"] == len(systems)]
    if len(complete) < LEAST_QUESTIONS:
        raise NotPossible(
            f"it needs {LEAST_QUESTIONS} questions that all systems answered, got {len(complete)}"
        )
    n_right = complete["sum"].to_numpy(int)
    p_value, expected = _excess_of_zeros(n_right, len(systems))
    if p_value >= ALPHA:
        return
    nobody = complete.index[n_right == 0]
    sentence = (
        f"No system answers {len(nobody):,} of {len(complete):,} questions, where about {expected:.0f} "
        "would be expected from how often the others are answered. Some may have a wrong reference, "
        "or cannot be answered."
    )
    rows = evidence.rows_where(evidence.responses.get("example_id", pd.Series()).isin(nobody))
    yield Finding(sentence, float(len(nobody)), rows, ALL, view_rows(name))


def _excess_of_zeros(n_right: np.ndarray, n_systems: int) -> tuple[float, float]:
    """p-value of a test of more zeros than a beta-binomial distribution has, and their expected number.

    `n_right` has the number of systems that are right, for each question. The beta-binomial distribution allows
    questions to differ in how hard they are. The alternative is a mixture of this distribution with a share of
    questions that no system can answer. The test compares the likelihoods of both.
    """
    # Number of questions with 0, 1, ... right answers, and the logarithm of n over k.
    counts = np.bincount(n_right, minlength=n_systems + 1)
    values = np.arange(n_systems + 1)
    log_choose = gammaln(n_systems + 1) - gammaln(values + 1) - gammaln(n_systems - values + 1)

    def log_probabilities(parameters: np.ndarray) -> np.ndarray:
        """Log probabilities of 0 to n right answers for the logarithms of alpha and beta."""
        # Beyond these limits the distribution hardly changes, and its logarithms would overflow.
        alpha, beta = np.exp(np.clip(parameters, -6, 8))
        return log_choose + betaln(values + alpha, n_systems - values + beta) - betaln(alpha, beta)

    def loss(parameters: np.ndarray) -> float:
        """Negative log-likelihood of the beta-binomial distribution."""
        return -float(counts @ log_probabilities(parameters))

    def loss_with_zeros(parameters: np.ndarray) -> float:
        """Negative log-likelihood of the mixture; the third parameter is the logit of its share."""
        probabilities = np.exp(log_probabilities(parameters[:2]))
        share_of_zeros = 1 / (1 + np.exp(-parameters[2]))
        probabilities = (1 - share_of_zeros) * probabilities
        probabilities[0] += share_of_zeros
        # The logarithm of 0 does not exist.
        return -float(counts @ np.log(np.maximum(probabilities, 1e-300)))

    plain = minimize(loss, [0.0, 0.0], method="Nelder-Mead")
    # The search begins at a small share of 5 %, whose logit is -3.
    mixed = minimize(loss_with_zeros, [*plain.x, -3.0], method="Nelder-Mead")
    # The mixture contains the plain distribution, so a negative ratio is an error of the search.
    ratio = max(0.0, 2 * (plain.fun - mixed.fun))
    expected = len(n_right) * float(np.exp(log_probabilities(mixed.x[:2])[0]))
    # The share of extra zeros lies at the end of its range under the null hypothesis, which halves
    # the p-value; the whole one is the careful choice.
    return float(chdtrc(1, ratio)), expected


@check("incomplete references", "Do people accept answers that contain no reference?")
def incomplete_references(evidence: Evidence) -> Iterator[Finding]:
    """Questions on which people accept several systems, and none contains a reference."""
    name = "incomplete references"
    evidence.require_systems()
    # The column is required: `column` raises NotPossible without it.
    evidence.column("example_id")
    people, contains = evidence.people, evidence.contains
    question = evidence.responses["example_id"]
    n_accepted = (people == 1).groupby(question).sum()
    n_contained = (contains == 1).groupby(question).sum()
    # A single acceptance may be an error of a person.
    incomplete = n_accepted.index[(n_accepted >= 2) & (n_contained == 0)]
    if incomplete.empty:
        return
    sentence = (
        f"On {len(incomplete):,} of {question.nunique():,} questions, people accept the answers of two "
        "systems or more, and none of the answers contains a reference. The references may lack an accepted "
        "answer, or the answers word the reference differently, or people accept more than the reference "
        "says. Metrics that look for the reference count all of these answers as wrong."
    )
    rows = evidence.rows_where(question.isin(incomplete))
    yield Finding(sentence, float(len(incomplete)), rows, SYSTEMS, view_rows(name))


@check("negatives with the answer", "Does a passage that should lack the answer contain it?")
def negatives_with_the_answer(evidence: Evidence) -> Iterator[Finding]:
    """Questions whose negative passages contain a reference."""
    name = "negatives with the answer"
    column = evidence.column("negative", "negatives")
    references = evidence.column("references")
    contains = METRICS["answer.contains"]
    questions = evidence.responses
    if "example_id" in questions:
        questions = questions.drop_duplicates("example_id")
    rows = []
    columns = zip(questions.index, questions[column], questions[references], strict=True)
    for row, passages, reference in columns:
        if not (present(passages) and present(reference)):
            continue
        texts = [passages] if isinstance(passages, str) else list(passages)
        if any(contains(text, reference) == 1 for text in texts if isinstance(text, str)):
            rows.append(int(row))
    if not rows:
        return
    sentence = (
        f"The negative passages of {len(rows):,} of {len(questions):,} questions contain a reference, "
        "so an answer from them is right, and a refusal is not required."
    )
    yield Finding(sentence, float(len(rows)), rows, ALL, view_rows(name))


@check("repeated questions", "Does the same question occur under several ids?")
def repeated_questions(evidence: Evidence) -> Iterator[Finding]:
    """Texts of questions that have several ids."""
    name = "repeated questions"
    # Both columns are required: `column` raises NotPossible without them.
    evidence.column("example_id")
    column = evidence.column("question")
    responses = evidence.responses
    texts = responses[column].map(
        lambda text: " ".join(fold(text).lower().split()) if isinstance(text, str) else None
    )
    # Turns such as "And why?" have the same words in many conversations.
    if "conversation_id" in responses:
        raise NotPossible("the turns of conversations depend on what came before")
    # A question has one `question_id` in all languages and under all conditions, and its examples are then
    # known to belong together. Without this column, the example is the question.
    has_question_ids = "question_id" in responses and responses["question_id"].notna().all()
    id_column = "question_id" if has_question_ids else "example_id"
    # Questions in several languages can have the same words, such as a name.
    language = ["language"] if "language" in responses else []
    frame = responses[[id_column, *language]].assign(text=texts).dropna(subset="text")
    n_ids = frame.groupby(["text", *language])[id_column].nunique()
    repeated = n_ids[n_ids > 1]
    if repeated.empty:
        return
    repeated_texts = repeated.index.get_level_values("text")
    sentences = [f"{number_of(len(repeated), 'question')} with {int(repeated.sum()):,} ids."]
    different = _ids_with_different_references(evidence, texts, set(repeated_texts), id_column)
    n_same = len(repeated) - len(different)
    is_single = len(repeated) == 1
    if different:
        subject = "Its ids have" if is_single else f"The ids of {len(different):,} have"
        such_as = "they are" if len(different) == 1 else "such as"
        sentences.append(
            f"{subject} different references ({such_as} {enumeration(different[0])}), so a question or a "
            "reference may be in the wrong row: correct the data, or leave these questions out."
        )
    if n_same:
        subject = "Its rows" if is_single else f"The rows of {n_same:,} with the same reference"
        if n_same == len(repeated) > 1:
            subject = "The rows of each"
        sentences.append(f"{subject} count several times and are not independent.")
    sentence = " ".join(sentences)
    # In another language, the same words may be a question of their own.
    keys = frame[["text", *language]].apply(tuple, axis=1)
    is_repeated = keys.isin([key if isinstance(key, tuple) else (key,) for key in repeated.index])
    rows = evidence.rows_where(is_repeated.reindex(responses.index, fill_value=False))
    yield Finding(sentence, float(len(repeated)), rows, ALL, view_rows(name))


def _ids_with_different_references(
    evidence: Evidence, texts: pd.Series, repeated: set[str], id_column: str
) -> list[list[str]]:
    """For each repeated question whose ids have no reference in common, those of its ids that have one."""
    if "references" not in evidence.responses:
        return []
    columns = [id_column, "references", *(["language"] if "language" in evidence.responses else [])]
    frame = evidence.responses[columns].assign(text=texts)[texts.isin(repeated)]
    different = []
    for _, rows in frame.groupby(["text", *columns[2:]], sort=False):
        references_of_id: dict[str, set[str]] = {}
        for key, reference in zip(rows[id_column], rows["references"], strict=True):
            aliases = [alias for part in listed(reference) for alias in listed(part)]
            texts_of_aliases = [alias for alias in aliases if isinstance(alias, str)]
            folded = {" ".join(fold(alias).lower().split()) for alias in texts_of_aliases}
            if folded:
                references_of_id.setdefault(str(key), set()).update(folded)
        # Ids that share an accepted answer ask for the same thing.
        if len(references_of_id) > 1 and not set.intersection(*references_of_id.values()):
            different.append(list(references_of_id))
    return different
