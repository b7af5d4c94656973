"""TRACe of one response: the relevant, used and supporting sentences, and the scores."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.metrics.trace import GUIDE_SENTENCES, LENGTHS, trace_scores
from ragnb.metrics.trace_labels import (
    SPECIAL_KEYS,
    as_flag,
    as_keys,
    listed,
    sentence_pairs,
    unsupported_sentences,
)
from ragnb.records import present
from ragnb.widgets.pages import Page, fields_of

NEEDED = ("question", "documents_sentences", "response_sentences")
FOLD = 4
"""Number of consecutive plain sentences from which they are folded, in a document with others."""

GLYPHS = {True: "✓", False: "✗", None: "?"}
FORMULAS = {
    "ragbench": {
        "relevance": "R / D",
        "utilization": "U / D",
        "completeness": "R∩U / R; 1 if R is empty",
        "adherence": "no sentence is unsupported",
        "supported_fraction": "sentences not unsupported",
        "rmse_to_ideal": "distance of the four from 1",
        "consistency": "1 − RMSE to ideal",
    },
    "guide": {
        "relevance": "R / 20, at most 1",
        "utilization": "U / R, at most 1; 0 if R is empty",
        "completeness": "R∩U / R; if R is empty, 1 if U is too, else 0",
        "adherence": "every sentence is fully supported",
        "supported_fraction": "sentences fully supported",
        "rmse_to_ideal": "distance of the four from 1",
        "consistency": "1 − RMSE to ideal",
    },
}


class TraceView(Page):
    """One labelled response: relevant and used sentences of the context, support, and TRACe scores.

    Relevant sentences are in ``<mark>`` with a superscript R, utilized ones in bold with U.
    Documents without such sentences are folded, and so are long runs of other sentences.

    Parameters
    ----------
    record
        A row of `ragnb.load_ragbench`, or a mapping with its fields ``question,
        documents_sentences, response_sentences`` and any of the labels, see
        `ragnb.metrics.trace.trace_scores`.
    other
        A second record of the same sentences, with the labels of another judge or a person. Then ¹
        and ² show whose each R, U, verdict and number is, and ≠ marks sentences that are labelled
        differently.
    variant, length
        Definition of the scores, see `ragnb.metrics.trace.relevance`.
    names
        Names of the two sets of labels.

    Raises
    ------
    InputError
        If a column is missing, a field has another shape, an option is unknown, or the sentences of
        `other` differ.
    """

    def __init__(
        self,
        record: Mapping[str, Any] | pd.Series,
        *,
        other: Mapping[str, Any] | pd.Series | None = None,
        variant: str = "ragbench",
        length: str = "sentence",
        names: Sequence[str] = ("labels", "other"),
    ) -> None:
        given = {"": record} if other is None else {"¹": record, "²": other}
        sets = [
            LabelSet(fields_of(one, NEEDED, "TraceView"), name, sign, variant, length)
            for name, (sign, one) in zip(names, given.items(), strict=False)
        ]
        first, last = sets[0], sets[-1]
        for what in ("documents", "response"):
            if getattr(last, what) != getattr(first, what):
                raise InputError(
                    f"two sets of labels need the same sentences of the {what}, got others; "
                    "compare labels of one response"
                )
        context = [_sentence(*pair, sets) for pair in first.context]
        response = [_statement(*pair, sets) for pair in first.response]
        question = first.record["question"]
        super().__init__(
            f"TraceView({question!r}, {len(context)} context sentences, "
            f"{len(response)} of the response)",
            "trace.html",
            record=first.record,
            sets=sets,
            context=context,
            documents=[_document(n, one, sets) for n, one in enumerate(first.documents)],
            response=response,
            formulas=FORMULAS[variant],
            length=length,
            variant=variant,
            special=SPECIAL_KEYS,
        )


class LabelSet:
    """The labels of one annotator, and the counts behind the scores that follow from them.

    Fields that are missing count as empty lists here; `scores` reports them as issues.

    Attributes
    ----------
    name, sign : str
        Name of the annotator, and its superscript.
    scores : TraceScores
        Scores under the variant and the length.
    documents, context, response : list
        Sentences of each document, of all documents, and of the response.
    keys : dict
        Relevant (R) and utilized (U) keys as listed, including repeated and unknown ones.
    unsupported : list of str
        Keys of unsupported sentences, as listed or derived from the labels of the sentences.
    numbers : dict
        Each score as text, and the counts or the sentences behind it.
    explained : list
        What the annotator explained, each with the explanation.
    """

    def __init__(
        self, record: Mapping[str, Any], name: str, sign: str, variant: str, length: str
    ) -> None:
        self.record, self.name, self.sign = record, name, sign
        self.variant, self.length = variant, length
        self.scores = trace_scores(record, variant=variant, length=length)
        self.documents = [sentence_pairs([one]) for one in self._field("documents_sentences")]
        self.response = sentence_pairs([self._field("response_sentences")])
        self.keys = {
            "R": self._field("all_relevant_sentence_keys"),
            "U": self._field("all_utilized_sentence_keys"),
        }
        self.support = self._field("sentence_support_information")
        listed_keys = present(record.get("unsupported_response_sentence_keys"))
        self.unsupported = unsupported_sentences(self.support, listed_keys)
        explained = [("relevance", record.get("relevance_explanation"))]
        for label in self.support:
            explained.append((f"[{label.get('response_sentence_key')}]", label.get("explanation")))
        explained.append(("overall", record.get("overall_supported_explanation")))
        self.explained = [
            (f"{what}{sign}", text) for what, text in explained if isinstance(text, str) and text
        ]
        self.context = [pair for document in self.documents for pair in document]
        self._lengths = [LENGTHS[length](text) for _, text in self.context]
        self._sizes = dict(zip((key for key, _ in self.context), self._lengths, strict=True))
        self.numbers = self._numbers()

    def _field(self, name: str) -> list[Any]:
        value = present(self.record.get(name))
        return [] if value is None else listed(value, name)

    def letters(self, key: str) -> str:
        """Return the labels of a context sentence: ``"R"``, ``"U"``, ``"RU"`` or ``""``."""
        return "".join(letter for letter, keys in self.keys.items() if key in keys)

    def said(self, key: str) -> tuple[str, list[tuple[str, ...] | None]]:
        """Return the verdicts on a response sentence (✓, ✗ or ?) and the supporting keys of each.

        There are several if the label is repeated. The keys are None if they are not given.
        """
        own = [one for one in self.support if str(one.get("response_sentence_key")) == key]
        glyphs = "".join(GLYPHS[as_flag(one.get("fully_supported"))] for one in own)
        given = [present(one.get("supporting_sentence_keys")) for one in own]
        return glyphs, [None if keys is None else tuple(as_keys(keys)) for keys in given]

    def shown(self, key: str) -> str:
        """Return a context key in brackets; a question mark follows a key without a sentence."""
        return f"[{key}]" if key in self._sizes else f"[{key}]?"

    def parts(self) -> Iterator[tuple[str, int, str]]:
        """Yield the keys that are only relevant, both, and only utilized: name, number, keys."""
        relevant, utilized = self.keys.values()
        known = dict.fromkeys([*self._sizes, *relevant, *utilized])
        for name, letters in (("only R", "R"), ("R∩U", "RU"), ("only U", "U")):
            keys = [key for key in known if self.letters(key) == letters]
            repeats = [max(relevant.count(key), utilized.count(key)) for key in keys]
            shown = [
                self.shown(key) + (f"×{n}" if n > 1 else "")
                for key, n in zip(keys, repeats, strict=True)
            ]
            yield name, len(keys), " ".join(shown)

    def _numbers(self) -> dict[str, tuple[str, str]]:
        guide, (relevant, utilized) = self.variant == "guide", self.keys.values()
        size, unique = self._size(relevant), dict.fromkeys(relevant)
        against = list(dict.fromkeys(self.unsupported))
        if guide:
            against = unsupported_sentences(self.support, variant="guide")
        of = len(self.support if guide else self.response)
        context = sum(self._lengths)
        behind = {
            "relevance": f"{size}/{GUIDE_SENTENCES if guide else context}",
            "utilization": f"{self._size(utilized)}/{size if guide else context}",
            "completeness": f"{self._size(set(unique) & set(utilized))}/{self._size(unique)}",
            "adherence": " ".join(f"[{key}]" for key in against),
            "supported_fraction": f"{max(0, of - len(against))}/{of}",
        }
        values = {name: getattr(self.scores, name) for name in FORMULAS[self.variant]}
        return {
            name: (
                f"{value:.0f}" if name == "adherence" else f"{value:.3f}",
                "" if value != value else behind.get(name, ""),
            )
            for name, value in values.items()
        }

    def _size(self, keys: Any) -> int:
        return sum(self._sizes.get(key, int(self.length == "sentence")) for key in keys)


# ---- what is shown of the sentences --------------------------------------------------------------


def _document(
    number: int, sentences: list[tuple[str, str]], sets: list[LabelSet]
) -> tuple[str, list[tuple[str, list[Any]]]]:
    """Return the heading of a document, and its runs of sentences with the title of their fold."""
    title, runs = f"document {number} · {_counted(sentences)}", []
    for marked, group in groupby(sentences, key=lambda pair: any(s.letters(pair[0]) for s in sets)):
        run = list(group)
        fold = ""
        if not marked and len(run) >= FOLD:
            fold = f"[{run[0][0]}] … [{run[-1][0]}] · {_counted(run)}, none relevant or utilized"
        runs.append((fold, [_sentence(*pair, sets) for pair in run]))
    if any(s.letters(key) for key, _ in sentences for s in sets):
        return title, runs
    plain = [sentence for _, run in runs for sentence in run]
    return "", [(f"{title}, none relevant or utilized", plain)]


def _sentence(key: str, text: str, sets: list[LabelSet]) -> dict[str, Any]:
    """Return what is shown of a context sentence: its labels, and whose they are."""
    whose = {letter: "".join(s.sign for s in sets if letter in s.letters(key)) for letter in "RU"}
    letters = "".join(x for x in "RU" if any(x in s.letters(key) for s in sets))
    return {
        "key": key,
        "text": text,
        "letters": letters,
        "whose": "".join(letter + whose[letter] for letter in letters),
        "differs": len({s.letters(key) for s in sets}) > 1,
    }


def _statement(key: str, text: str, sets: list[LabelSet]) -> dict[str, Any]:
    """Return what is shown of a response sentence: the verdicts, and what they rest on."""
    said = [(*labels.said(key), key in labels.unsupported) for labels in sets]
    compared = [
        (glyphs, [keys and set(keys) for keys in supporting], listed)
        for glyphs, supporting, listed in said
    ]
    differs = compared[0] != compared[-1]
    verdicts = [glyphs or "?" for glyphs, _, _ in said]
    rests = [(s.sign, *one[1:]) for s, one in zip(sets, said, strict=True)]
    if not differs or said[0][1:] == said[-1][1:]:
        rests = [("", *said[0][1:])]
    if verdicts[0] != verdicts[-1]:
        verdicts[0] += f"{sets[0].sign} {verdicts[-1]}{sets[-1].sign}"
    return {"key": key, "text": text, "differs": differs, "verdict": verdicts[0], "rests": rests}


def _counted(sentences: list[Any]) -> str:
    return f"{len(sentences)} sentence{'' if len(sentences) == 1 else 's'}"
