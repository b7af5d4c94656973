"""TRACe of one response: the relevant, used and supporting sentences, and the scores."""

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from ragnb.cells import flag_of, present
from ragnb.errors import InputError
from ragnb.metrics.trace import GUIDE_SENTENCES, trace_scores
from ragnb.metrics.trace_labels import (
    SPECIAL_KEYS,
    as_keys,
    sentence_pairs,
    unsupported_sentences,
)
from ragnb.reports.trace_reading import interpret_trace
from ragnb.widgets.pages import MISSING, listed

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
        "average": "mean of the four",
        "rmse_to_ideal": "distance of the four from 1",
        "consistency": "1 − RMSE to ideal",
    },
    "guide": {
        "relevance": "R / 20, at most 1",
        "utilization": "U / R, at most 1; 0 if R is empty",
        "completeness": "R∩U / R; if R is empty, 1 if U is too, else 0",
        "adherence": "every sentence is fully supported",
        "supported_fraction": "sentences fully supported",
        "average": "mean of the four",
        "rmse_to_ideal": "distance of the four from 1",
        "consistency": "1 − RMSE to ideal",
    },
}
SETS = {"R": "only relevant", "RU": "relevant and used", "U": "only used", "": "neither"}
"""Labels of a context sentence -> name of the set that it is in."""


def trace_section(
    row: Mapping[str, Any],
    *,
    variant: str = "ragbench",
    other: Mapping[str, Any] | None = None,
    named: str = "other",
) -> dict[str, Any]:
    """Return the sentences of a labelled response with their labels, and its TRACe scores.

    Fields that are missing count as empty lists here; the scores report them as issues. Of an
    ``other`` set of labels of the same sentences, what differs is shown under its name.
    """
    scores = trace_scores(row, variant=variant)
    documents = [sentence_pairs([one]) for one in listed(row, "documents_sentences")]
    context = [pair for document in documents for pair in document]
    keys = {
        "R": listed(row, "all_relevant_sentence_keys"),
        "U": listed(row, "all_utilized_sentence_keys"),
    }
    support = listed(row, "sentence_support_information")
    response = sentence_pairs([listed(row, "response_sentences")])
    guide = variant == "guide"
    given = None if guide else present(row.get("unsupported_response_sentence_keys"))
    against = unsupported_sentences(support, given, variant=variant)
    unsupported = against if guide else list(dict.fromkeys(against))
    texts = dict(context)
    ids = {key: f"r-s{number}" for number, key in enumerate(texts)}
    statements = [
        _statement(f"r-k{number}", key, text, support, unsupported, ids)
        for number, (key, text) in enumerate(response)
    ]

    def sentence(key: str, text: str) -> dict[str, Any]:
        return {
            "key": key,
            "text": text,
            "letters": "".join(letter for letter in "RU" if key in keys[letter]),
            "id": ids[key],
            "links": [one["link"] for one in statements if key in one["supporting"]],
        }

    shown = [[sentence(*pair) for pair in document] for document in documents]
    letters = Counter(one["letters"] for document in shown for one in document)

    relevant, utilized = len(keys["R"]), len(keys["U"])
    n_statements = len(support if guide else response)
    behind = {
        "relevance": f"{relevant}/{GUIDE_SENTENCES if guide else len(context)}",
        "utilization": f"{utilized}/{relevant if guide else len(context)}",
        "completeness": f"{len({*keys['R']} & {*keys['U']})}/{len({*keys['R']})}",
        "adherence": " ".join(f"[{key}]" for key in unsupported),
        "supported_fraction": f"{max(0, n_statements - len(unsupported))}/{n_statements}",
    }
    values = {name: getattr(scores, name) for name in FORMULAS[variant]}
    numbers = [
        (
            name.replace("rmse", "RMSE").replace("_", " "),
            formula,
            f"{values[name]:.0f}" if name == "adherence" else f"{values[name]:.3f}",
            "" if values[name] != values[name] else behind.get(name, ""),
        )
        for name, formula in FORMULAS[variant].items()
    ]
    said = {
        **{one["key"]: one["letters"] or MISSING for document in shown for one in document},
        **{one["key"]: f"{one['verdict']} {one['rests']}" for one in statements},
        **{name: value for name, _, value, _ in numbers},
    }
    shown_texts = texts | dict(response)
    theirs = {} if other is None else trace_section(other, variant=variant)
    if theirs.get("texts", shown_texts) != shown_texts:
        raise InputError("other must have the same documents and response as the row")
    differing = [key for key in theirs.get("said", ()) if theirs["said"][key] != said[key]]
    return {
        "texts": shown_texts,
        "said": said,
        "differs": {key: f"≠ {named}: {theirs['said'][key]}" for key in differing},
        "documents": [_document(n, sentences, differing) for n, sentences in enumerate(shown)],
        "response": statements,
        "sets": [(f"r-{one or 'D'}", name, letters[one]) for one, name in SETS.items()],
        "numbers": numbers,
        "meaning": interpret_trace(row, variant=variant),
        "issues": scores.issues,
        "explained": [
            ("relevance", row.get("relevance_explanation")),
            *((f"[{one.get('response_sentence_key')}]", one.get("explanation")) for one in support),
            ("overall", row.get("overall_supported_explanation")),
        ],
        "heads": (variant, "lengths in sentences"),
    }


def _statement(
    css: str,
    key: str,
    text: str,
    support: list[Any],
    unsupported: list[str],
    ids: Mapping[str, str],
) -> dict[str, Any]:
    """Return what is shown of a response sentence: the verdicts, and what they rest on.

    There are several verdicts if the label is repeated. A question mark follows a key without a
    sentence.
    """
    own = [one for one in support if str(one.get("response_sentence_key")) == key]
    given = [present(one.get("supporting_sentence_keys")) for one in own]
    keys = [None if each is None else as_keys(each) for each in given]
    supporting = {one for each in keys for one in each or ()}
    rests = [
        "no supporting keys given"
        if each is None
        else "supported by " + (" ".join(_shown(one, ids) for one in each) or "nothing")
        for each in keys
    ]
    return {
        "key": key,
        "text": text,
        "verdict": "".join(GLYPHS[flag_of(one.get("fully_supported"))] for one in own) or "?",
        "rests": ", ".join(rests) or "no support information",
        "unsupported": key in unsupported,
        "supporting": supporting,
        "rests_on": [ids[one] for one in ids if one in supporting],
        "link": css,
    }


def _shown(key: str, ids: Mapping[str, str]) -> str:
    return key if key in SPECIAL_KEYS else f"[{key}]" if key in ids else f"[{key}]?"


def _document(number: int, sentences: list[dict[str, Any]], differing: list[str]) -> dict[str, Any]:
    """Return the title of a document, and its runs of sentences with the title of their fold."""
    counts = Counter(one["letters"] for one in sentences if one["letters"])
    groups = groupby(sentences, key=lambda one: bool(one["letters"]) or one["key"] in differing)
    runs = [(labelled, list(group)) for labelled, group in groups]
    shown = [
        (
            ""
            if labelled or len(run) < FOLD or not counts
            else f"{_counted(run)}, neither relevant nor used",
            run,
        )
        for labelled, run in runs
    ]
    labels = ", ".join(f"{n} {SETS[letters]}" for letters, n in counts.items())
    title = " · ".join(filter(None, [f"document {number + 1}", _counted(sentences), labels]))
    return {"title": title, "runs": shown, "open": bool(counts)}


def _counted(sentences: list[Any]) -> str:
    return f"{len(sentences)} sentence{'' if len(sentences) == 1 else 's'}"
