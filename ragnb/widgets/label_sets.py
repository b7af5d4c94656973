"""One annotator's labels of a record, read for showing: marks, verdicts, and the counts behind each TRACe score."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragnb.metrics.trace import GUIDE_SENTENCES, LENGTHS, TraceScores, trace_scores
from ragnb.metrics.trace_labels import (
    as_flag,
    as_keys,
    listed,
    sentence_pairs,
    unsupported_sentences,
)
from ragnb.records import present

Sentence = tuple[str, str]
"""Key and text."""


@dataclass(frozen=True)
class Support:
    """What one annotator says of one sentence of the response."""

    key: str
    supporting: tuple[str, ...] | None
    glyph: str
    explanation: str

    @classmethod
    def read(cls, label: Mapping[str, Any]) -> "Support":
        """Support information as RAGBench writes it; an undecided ``fully_supported`` has the glyph ``?``."""
        supporting = present(label.get("supporting_sentence_keys"))
        return cls(
            key=str(label.get("response_sentence_key")),
            supporting=None if supporting is None else tuple(as_keys(supporting)),
            glyph={True: "✓", False: "✗", None: "?"}[as_flag(label.get("fully_supported"))],
            explanation=_text(label.get("explanation")),
        )


@dataclass(frozen=True)
class LabelSet:
    """The labels of one annotator, with the scores that follow from them.

    Attributes
    ----------
    name, sign : str
        Who labelled, and the superscript that stands for them; empty where nobody else did.
    record : mapping
        The record with RAGBench's field names; those that are missing count as empty lists here, and are issues.
    scores : TraceScores
        Under `variant` and `length`.
    """

    name: str
    sign: str
    record: Mapping[str, Any]
    variant: str
    length: str
    scores: TraceScores

    @classmethod
    def read(
        cls, record: Mapping[str, Any], *, name: str, sign: str, variant: str, length: str
    ) -> "LabelSet":
        """The labels of a record; InputError when a field has another shape."""
        return cls(
            name,
            sign,
            record,
            variant,
            length,
            trace_scores(record, variant=variant, length=length),
        )

    # ---- the labels ----------------------------------------------------------------------------------------------------

    @cached_property
    def documents(self) -> list[list[Sentence]]:
        """Sentences of each document."""
        return [sentence_pairs([sentences]) for sentences in self._field("documents_sentences")]

    @cached_property
    def response(self) -> list[Sentence]:
        """Sentences of the response."""
        return sentence_pairs([self._field("response_sentences")])

    @cached_property
    def keys(self) -> dict[str, list[str]]:
        """Relevant (R) and utilized (U) keys as they are listed: with the repeated and the unknown ones."""
        return {
            "R": self._field("all_relevant_sentence_keys"),
            "U": self._field("all_utilized_sentence_keys"),
        }

    @cached_property
    def support(self) -> list[Support]:
        """What is said of the response's sentences."""
        return list(map(Support.read, self._field("sentence_support_information")))

    @cached_property
    def unsupported(self) -> list[str]:
        """Keys of unsupported sentences: as listed or, if there is no list, as the labels of each sentence say."""
        if present(self.record.get("unsupported_response_sentence_keys")) is not None:
            return self._field("unsupported_response_sentence_keys")
        return unsupported_sentences(self._field("sentence_support_information"))

    def letters(self, key: str) -> str:
        """Of a context sentence ``"R"``, ``"U"``, ``"RU"`` or nothing."""
        return "".join(letter for letter, keys in self.keys.items() if key in keys)

    def of(self, key: str) -> list[Support]:
        """What is said of one sentence of the response; more than one where labels are repeated."""
        return [support for support in self.support if support.key == key]

    def statement(self, key: str) -> tuple[Any, ...]:
        """All that is decided of one sentence of the response, comparable with another annotator's."""
        said = [
            (support.glyph, support.supporting and set(support.supporting))
            for support in self.of(key)
        ]
        return said, key in self.unsupported

    def explanation(self, name: str) -> str:
        """Text of an explanation field, empty when there is none."""
        return _text(self.record.get(name))

    # ---- what the numbers rest on --------------------------------------------------------------------------------------

    @property
    def parts(self) -> dict[str, list[str]]:
        """Keys that are only relevant, both, and only utilized, each once, in the order of the context."""
        relevant, utilized = map(set, self.keys.values())
        parts = {
            "only R": relevant - utilized,
            "R∩U": relevant & utilized,
            "only U": utilized - relevant,
        }
        order = {
            key: place
            for place, key in enumerate(
                dict.fromkeys([*self._sizes, *self.keys["R"], *self.keys["U"]])
            )
        }
        return {name: sorted(keys, key=order.__getitem__) for name, keys in parts.items()}

    @property
    def fractions(self) -> dict[str, tuple[int, int]]:
        """Part and whole behind each ratio, before it is limited to 1."""
        relevant, utilized = map(self._size, self.keys.values())
        context = sum(
            LENGTHS[self.length](text) for sentences in self.documents for _, text in sentences
        )
        ratios = {"relevance": (relevant, context), "utilization": (utilized, context)}
        if self.variant == "guide":
            ratios = {"relevance": (relevant, GUIDE_SENTENCES), "utilization": (utilized, relevant)}
        unique = set(self.keys["R"])
        ratios["completeness"] = (self._size(unique & set(self.keys["U"])), self._size(unique))
        return ratios | {"supported_fraction": self._supported_of}

    @property
    def against_adherence(self) -> list[str]:
        """Keys of the response's sentences for whose sake adherence is 0; under ``ragbench`` each once."""
        if self.variant == "guide":
            return unsupported_sentences(
                self._field("sentence_support_information"), variant="guide"
            )
        return list(dict.fromkeys(self.unsupported))

    def knows(self, key: str) -> bool:
        """Whether a key names a sentence of the context."""
        return key in self._sizes

    @property
    def _supported_of(self) -> tuple[int, int]:
        n = len(self.support if self.variant == "guide" else self.response)
        return max(0, n - len(self.against_adherence)), n

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {
            key: LENGTHS[self.length](text)
            for sentences in self.documents
            for key, text in sentences
        }

    def _size(self, keys: Any) -> int:
        return sum(self._sizes.get(key, int(self.length == "sentence")) for key in keys)

    def _field(self, name: str) -> list[Any]:
        value = present(self.record.get(name))
        return [] if value is None else listed(value, name)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
