"""Every viewer with one text in the place of every text: shared by what reads its HTML and by what shows it in a browser."""

import pandas as pd

from ragnb.annotation import AnnotationSession, adjudicate
from ragnb.widgets import Annotator, view


def context_row(text):
    """A response to passages, with all that viewers show of it."""
    return {
        "example_id": text, "question": text, "references": [text, [text, "x"]], "passages": [text, text * 40], "language": "en",
        "kinds": ["positive", "wrong"], "false_answers": [f"{text}!"], "response": f"{text}\n{text}", "system": text,
        "noise_rate": 0.0, "reason": text, "judged_refusal": None, "judged_detection": None, "judge_reason": text,
    }  # fmt: skip


def trace_record(text):
    """A labelled response, with the text as sentence, as key, and as explanation."""
    said = {
        "response_sentence_key": text,
        "supporting_sentence_keys": [text, f"{text}?"],
        "fully_supported": True,
        "explanation": text,
    }
    return {
        "example_id": text, "question": text, "system": text, "language": text, "documents_sentences": [[[text, text]]],
        "response_sentences": [[text, text]], "sentence_support_information": [said],
        "unsupported_response_sentence_keys": [f"{text}!"], "all_relevant_sentence_keys": [text],
        "all_utilized_sentence_keys": [text, f"{text}?"], "relevance_explanation": text, "overall_supported_explanation": text,
        "adherence_score": False,
    }  # fmt: skip


def plain_row(text):
    """A response in a conversation, with claims and citations."""
    return {
        "question": text, "response": f"{text} [1]", "system": text, "passages": [text], "passage_ids": [text], "relevant": [text],
        "history": [{"role": text, "content": text}], "parts": [{"text": text, "label": text}], "verdict": text, "label": 1,
    }  # fmt: skip


def judged_row(text):
    """A judge's error."""
    return context_row(text) | {
        "judged_by": text, "judge_score": 0.0, "judge_verdict": 0.0, "human_label": 1.0, "annotations": {text: 1.0},
        "disagreement": 1.0, "judge_explanation": text,
    }  # fmt: skip


def task(texts):
    """A task that asks in these texts."""
    groups = [texts[start : start + 7] for start in range(0, len(texts), 7)]
    choices = [
        {"name": f"{n} {group[0]}", "label": group[0], "key": "bcdhilqrstuv"[n], "options": group}
        for n, group in enumerate(groups)
    ]
    free = {"name": f"text {texts[0]}", "label": texts[0], "kind": "text", "key": "y"}
    each = {"name": f"each {texts[0]}", "label": texts[-1], "kind": "sentences", "each": True, "key": "w", "options": texts[:2]}  # fmt: skip
    return {"name": texts[0], "guideline": "\n".join(texts), "fields": [*choices, free, each]}


def annotator(texts, folder):
    """An annotator of items that show seven texts each, labelled, noted and with suggestions."""
    groups = [texts[start : start + 7] for start in range(0, len(texts), 7)]
    rows = [
        {
            "example_id": f"{n} {group[0]}", "question": group[0], "references": [group[1], group[2:]],
            "documents_sentences": [[[f"0{text}", text] for text in group]], "response_sentences": [[f"a{text}", text] for text in group],
        }
        for n, group in enumerate(groups)
    ]  # fmt: skip
    asked = task(texts)
    first, second, *_ = asked["fields"]
    each = asked["fields"][-1]
    guess = {first["name"]: first["options"][-1], asked["fields"][-2]["name"]: texts[0]}
    suggestions = {row["example_id"]: guess for row in rows}
    shown = Annotator(pd.DataFrame(rows), asked, "".join(texts)[:2000], folder / "hostile.jsonl", suggestions=suggestions,
                      suggested_by=texts[-1])  # fmt: skip
    for number, (first_text, *_, last_text) in enumerate(groups):
        shown.session.go(number)
        shown.session.label(second["name"], second["options"][0])
        shown.session.label(each["name"], [f"0{first_text}"], f"a{last_text}")
        shown.session.note(last_text)
        shown.session.flag()
    shown.session.go(0)
    shown.refresh(message=texts[4])
    return shown


def adjudication(texts, folder):
    """What two annotators with such names differ in, before a third."""
    items = pd.DataFrame(
        [{"example_id": text, "question": text, "response": text} for text in texts]
    )
    sessions = [
        AnnotationSession(items, "verdict", text, folder / f"{n}.two.jsonl")
        for n, text in enumerate(texts[:2])
    ]
    for item in range(len(texts)):
        for session, said in zip(sessions, ("correct", "refuse"), strict=True):
            session.go(item)
            session.label("verdict", said)
    return Annotator(adjudicate(items, sessions, texts[2], folder / "gold.jsonl"))


def whole_frame(texts):
    """The live view of a frame with these texts in its cells, in the names of columns, and as choices of a filter."""
    rows = [
        {**plain_row(text), text: text, "group": texts[number % 5]}
        for number, text in enumerate(texts)
    ]
    return view(pd.DataFrame(rows))


def static_views(text):
    """Each static viewer of that text: what `view` is called with."""
    rgb = {name: value for name, value in context_row(text).items() if name != "reason"}
    return [
        (rgb, "rgb"),
        (context_row(text) | {"response": None},),
        (context_row(text), "language"),
        (judged_row(text),),
        (plain_row(text),),
        (trace_record(text),),
    ]
