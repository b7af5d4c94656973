"""TRACe in sentences: what the four scores of a labelled response say, and what to do about them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragnb.arguments import accepts
from ragnb.cells import present
from ragnb.metrics.trace import GUIDE_SENTENCES, trace_scores
from ragnb.metrics.trace_labels import as_keys, sentence_pairs, unsupported_sentences

# Longest text of a sentence that is quoted, in characters.
QUOTED = 120


@accepts()
def interpret_trace(record: Mapping[str, Any], *, variant: str = "ragbench") -> list[str]:
    """Say in sentences what the TRACe scores of a response mean, and what to do about them.

    The sentences follow from the labels alone. No model is asked.

    Parameters
    ----------
    record : mapping
        A labelled response, such as a row of `ragnb.load_ragbench`; see `ragnb.metrics.trace.trace_scores`.
    variant : {'ragbench', 'guide'}, default='ragbench'
        Definition of the scores: that of RAGBench, or that of the visual guide.

    Returns
    -------
    list of str
        One sentence for each of relevance, utilization, completeness and adherence. Then one sentence that
        begins with *Action* for each sentence of the response that is not supported, and one for relevant
        sentences that the response does not use. A score that is undefined gets the sentence that says so.

    Examples
    --------
    >>> record = {"documents_sentences": [[["0a", "Oslo is a city."], ["0b", "It rains."]]],
    ...     "response_sentences": [["a", "Oslo is sunny."]], "all_relevant_sentence_keys": ["0b"],
    ...     "all_utilized_sentence_keys": [], "sentence_support_information": [{"response_sentence_key": "a",
    ...     "supporting_sentence_keys": [], "fully_supported": False}]}
    >>> for sentence in interpret_trace(record):
    ...     print(sentence)
    Relevance 0.50: 1 of the 2 sentences of the passages is relevant to the question.
    Utilization 0.00: the response uses none of the 2 sentences of the passages.
    Completeness 0.00: the response uses none of the 1 relevant sentences.
    Adherence 0: the passages do not support 1 of 1 sentences of the response.
    Action: correct or remove sentence [a] “Oslo is sunny.”, or retrieve a passage that supports it.
    Action: the answer may lack what the relevant sentence [0b] says; check whether the question needs it.
    """
    scores = trace_scores(record, variant=variant)
    # The keys of the relevant and of the used sentences of the passages.
    relevant = _keys(record, "all_relevant_sentence_keys")
    used = _keys(record, "all_utilized_sentence_keys")
    context = sentence_pairs(_list(record, "documents_sentences"))
    response = dict(sentence_pairs([_list(record, "response_sentences")]))
    support = _list(record, "sentence_support_information")
    published = present(record.get("unsupported_response_sentence_keys"))
    # The guide knows no list of unsupported sentences.
    unsupported_keys = None if variant == "guide" else published
    unsupported = unsupported_sentences(support, unsupported_keys, variant=variant)
    # A sentence that is listed twice needs one action.
    unsupported = list(dict.fromkeys(unsupported))
    # Without the sentences of the response themselves, each has one entry of support.
    n_sentences = len(response) or len(support)

    # What each of the four scores means.
    all_sentences = f"the {len(context)} sentences of the passages"
    n_used = len(used) or "none"
    if variant == "guide":
        # The guide divides the number of relevant sentences by a fixed number.
        relevance = (
            f"{_count(relevant)} relevant to the question, and {GUIDE_SENTENCES} or more count as 1"
        )
        utilization = f"the response uses {n_used}, and {len(relevant)} are relevant"
    else:
        relevance = f"{_of(len(relevant), all_sentences)} relevant to the question"
        utilization = f"the response uses {n_used} of {all_sentences}"
    n_relevant_and_used = len(set(relevant) & set(used)) or "none"
    # A share of nothing, or of everything, needs other words.
    if relevant:
        completeness = f"the response uses {n_relevant_and_used} of the {len(set(relevant))} relevant sentences"
    else:
        completeness = "no sentence is relevant"
    if unsupported:
        adherence = f"the passages do not support {len(unsupported)} of {n_sentences} sentences of the response"
    else:
        adherence = "the passages support every sentence of the response"
    sentences = [
        _sentence("Relevance", scores.relevance, relevance),
        _sentence("Utilization", scores.utilization, utilization),
        _sentence("Completeness", scores.completeness, completeness),
        _sentence("Adherence", scores.adherence, adherence, digits=0),
    ]

    # What to do: about each sentence that is not supported, and about relevant ones that are not used.
    sentences += [_correction(key, response.get(key, "")) for key in unsupported]
    unused = [key for key in dict.fromkeys(relevant) if key not in set(used)]
    if unused:
        keys = " ".join(f"[{key}]" for key in unused)
        noun, verb = ("sentence", "says") if len(unused) == 1 else ("sentences", "say")
        sentences.append(
            f"Action: the answer may lack what the relevant {noun} {keys} {verb}; check whether the "
            "question needs it."
        )
    return sentences


def _list(record: Mapping[str, Any], name: str) -> Sequence[Any]:
    """The list or array in a field of a record; empty if the field is missing."""
    # An array cannot be tested for truth, so a missing field is recognised by None.
    values = present(record.get(name))
    return [] if values is None else values


def _keys(record: Mapping[str, Any], name: str) -> Sequence[str]:
    """The keys in a field of a record; none if it is missing."""
    return as_keys(_list(record, name))


def _count(keys: Sequence[str]) -> str:
    """The number of sentences with its verb: ``no sentences are``, ``1 sentence is``."""
    noun_and_verb = "sentence is" if len(keys) == 1 else "sentences are"
    return f"{len(keys) or 'no'} {noun_and_verb}"


def _of(number: int, whole: str) -> str:
    """A number of a whole with its verb: ``none of the 2 sentences is``."""
    # "None" and "1" take the singular.
    verb = "are" if number > 1 else "is"
    return f"{number or 'none'} of {whole} {verb}"


def _sentence(name: str, value: float, meaning: str, *, digits: int = 2) -> str:
    """The sentence on a score and its meaning, or that the score is undefined."""
    if math.isnan(value):
        return f"{name} is undefined, because the labels or sentences that it needs are missing."
    return f"{name} {value:.{digits}f}: {meaning}."


def _correction(key: str, text: str) -> str:
    """What to do about a sentence of the response that is not supported."""
    quotation = text if len(text) <= QUOTED else f"{text[:QUOTED].rstrip()} …"
    # The text is empty if the record has only the key.
    sentence = f"sentence [{key}] “{quotation}”" if quotation else f"sentence [{key}]"
    return f"Action: correct or remove {sentence}, or retrieve a passage that supports it."
