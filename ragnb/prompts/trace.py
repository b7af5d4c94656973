"""Requests for TRACe labels, and parsing of the keys and verdicts in a judge's reply.

The fields are RAGBench's, and the texts are in ``data/trace.toml``. The JSON schema asks for lists,
texts, true and false. `TraceLabels` also accepts what judges write instead, such as ``"0A."``,
``"Supported without sentence"``, one text in place of a list, or ``"yes"``. `repaired_labels` reads these
and leaves alone what it does not know.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from ragnb.arguments import accepts
from ragnb.cells import WRAPPING, flag_of, plain_word
from ragnb.prompts.template import Message, keyed_lines, load_family
from ragnb.text import fold, well_formed

SPECIAL_SPELLINGS = {
    "supported_without_sentence": "supported_without_sentence",
    "supported_without_sentences": "supported_without_sentence",
    "supported_without_a_sentence": "supported_without_sentence",
    "supported_without_any_sentence": "supported_without_sentence",
    "supported_without_specific_sentence": "supported_without_sentence",
    "general": "general",
    "general_statement": "general",
    "well_known_fact": "well_known_fact",
    "well_known_facts": "well_known_fact",
    "numerical_reasoning": "numerical_reasoning",
    "numeric_reasoning": "numerical_reasoning",
}
"""Spellings of the special supporting keys: small letters, words joined by ``_``."""

NO_KEY = frozenset(["", "none", "null", "n/a", "unsupported", "not_supported"])
"""What judges put into a list that should be empty, in the form of `plain_word`."""


def _is_truth(value: Any) -> Any:
    """Return the truth value that a judge wrote; anything else but null is refused."""
    truth = flag_of(value)
    if truth is None and value is not None:
        raise ValueError(f"{str(value)[:40]!r} is not true or false")
    return truth


def with_response_key(label: Any) -> Any:
    """Return a label with the name ``response_sentence_key``, which the *Visual Guide* shortens to ``key``.

    >>> with_response_key({"key": "a", "fully_supported": True})
    {'fully_supported': True, 'response_sentence_key': 'a'}
    """
    if isinstance(label, Mapping) and "key" in label and "response_sentence_key" not in label:
        others = {name: value for name, value in label.items() if name != "key"}
        return {**others, "response_sentence_key": label["key"]}
    return label


Keys = Annotated[
    list[str] | str | None, WithJsonSchema({"type": "array", "items": {"type": "string"}})
]
Truth = Annotated[
    bool | int | float | str | None, AfterValidator(_is_truth), WithJsonSchema({"type": "boolean"})
]
Explanation = Annotated[str | None, WithJsonSchema({"type": "string"})]


class SentenceSupport(BaseModel):
    """What supports one sentence of the response."""

    response_sentence_key: str = Field(description="key of the response's sentence")
    explanation: Explanation = Field(default=None, description="why it is or is not supported")
    supporting_sentence_keys: Keys = Field(
        default=None, description="keys of the documents' sentences that it rests on; may be empty"
    )
    fully_supported: Truth = Field(
        default=None, description="true when they carry all that the sentence says"
    )

    _key_of_the_guide = model_validator(mode="before")(with_response_key)

    @model_serializer(mode="wrap")
    def _without_absent_keys(self, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Leave out keys that the judge left out: an absent list is not an empty one."""
        label = handler(self)
        if "supporting_sentence_keys" not in self.model_fields_set:
            label.pop("supporting_sentence_keys", None)
        return label


class TraceLabels(BaseModel):
    """Labels that describe how a response uses its documents.

    The JSON schema asks for every field. A reply in the simplified form of the *Visual Guide* is
    accepted too: it has no explanations and no ``overall_supported``, and its labels of sentences
    have flags in place of keys.
    """

    relevance_explanation: Explanation = Field(
        default=None, description="what in the documents bears on the question"
    )
    all_relevant_sentence_keys: Keys = Field(
        description="keys of the documents' sentences that the question needs"
    )
    overall_supported_explanation: Explanation = Field(
        default=None, description="claim by claim, what bears it out"
    )
    overall_supported: Truth = Field(
        default=None, description="whether the documents support the response as a whole"
    )
    sentence_support_information: list[SentenceSupport] = Field(
        description="one object a sentence of the response"
    )
    all_utilized_sentence_keys: Keys = Field(
        description="keys of the documents' sentences that the response uses"
    )


_TEMPLATES = load_family("trace")["templates"]
LABELS = _TEMPLATES["trace.labels"]
"""Fields: ``{documents}`` and ``{response}`` (see `keyed_lines`), ``{question}``."""
ASK_AGAIN = _TEMPLATES["trace.ask_again"]


@accepts()
def render_labelling(
    question: str,
    documents_sentences: Iterable[Iterable[Sequence[str]]],
    response_sentences: Iterable[Sequence[str]],
) -> list[Message]:
    """Chat messages that ask for the labels of one response, with an empty line between documents.

    Parameters
    ----------
    question
        The question.
    documents_sentences
        For each document, its sentences as pairs of key and text.
    response_sentences
        The sentences of the response as pairs of key and text.
    """
    documents = "\n\n".join(keyed_lines(sentences) for sentences in documents_sentences)
    texts = {
        "documents": documents,
        "question": well_formed(question),
        "response": keyed_lines(response_sentences),
    }
    return LABELS.messages(texts)


def repaired_labels(
    record: Mapping[str, Any], document_keys: Iterable[str], response_keys: Iterable[str]
) -> dict[str, Any]:
    """A judge's labels in RAGBench's form; `record` is what `TraceLabels` accepts, as a mapping.

    A key is taken as it is when it names a sentence or is special. Otherwise letter case, width, brackets, quotes and stops
    around it are ignored, special keys are looked up in `SPECIAL_SPELLINGS`, words of `NO_KEY` are left out, and several
    keys in one text are separated. A key that then still names no sentence is kept unchanged.
    Words for true and false are those of `ragnb.cells.flag_of`.

    >>> record = {"relevance_explanation": None, "all_relevant_sentence_keys": "0A", "overall_supported_explanation": None,
    ...           "overall_supported": "yes", "sentence_support_information": [], "all_utilized_sentence_keys": ["9z"]}
    >>> labels = repaired_labels(record, ["0a", "0b"], ["a"])
    >>> labels["all_relevant_sentence_keys"], labels["overall_supported"], labels["all_utilized_sentence_keys"]
    (['0a'], True, ['9z'])
    """
    of_documents, of_response = (
        _reader(document_keys, SPECIAL_SPELLINGS),
        _reader(response_keys, {}),
    )
    support = []
    for label in record["sentence_support_information"]:
        written = label["response_sentence_key"]
        keys = of_response(written)
        repaired = {
            "response_sentence_key": keys[0] if len(keys) == 1 else written,
            "fully_supported": flag_of(label.get("fully_supported")),
        }
        if "supporting_sentence_keys" in label:
            supporting = of_documents(label["supporting_sentence_keys"])
            repaired["supporting_sentence_keys"] = supporting
        support.append(label | repaired)
    return dict(record) | {
        "all_relevant_sentence_keys": of_documents(record["all_relevant_sentence_keys"]),
        "overall_supported": flag_of(record["overall_supported"]),
        "sentence_support_information": support,
        "all_utilized_sentence_keys": of_documents(record["all_utilized_sentence_keys"]),
    }


def _reader(
    keys: Iterable[str], specials: Mapping[str, str]
) -> Callable[[Sequence[str] | str | None], list[str]]:
    """Return a function that reads the keys in a field. A text that does not consist of keys stays as it is."""
    exact = {*keys, *specials.values()}
    spellings = Counter(map(plain_word, exact))
    unambiguous = {plain_word(key): key for key in exact if spellings[plain_word(key)] == 1}
    keys_by_word = {**dict.fromkeys(NO_KEY), **specials, **unambiguous}

    def read(written: Sequence[str] | str | None) -> list[str]:
        """Return the keys that a field names, each as it is written in the prompt."""
        read_keys: list[str] = []
        for text in [written] if isinstance(written, str) else written or []:
            several = re.split(r"[,;、\s]+", fold(text).strip(WRAPPING))
            parts = [text] if plain_word(text) in keys_by_word else several
            words = [plain_word(part) for part in parts]
            if text in exact or not set(words) <= set(keys_by_word):
                read_keys.append(text)
            else:
                read_keys += [key for key in map(keys_by_word.get, words) if key is not None]
        return read_keys

    return read
