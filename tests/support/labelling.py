"""Annotators at work: sessions in which given values are said, as a person would say them on the screen."""

import pandas as pd

from ragnb.annotation import AnnotationSession

LANGUAGES = {
    "fr/1": ("Où est l’ile\u0301 ?", "« Là »"),
    "zh/2": ("东京塔有多高？", "三百三十三米。"),
    "ja/3": ("富士山の高さは？", "＝3776メートル"),
    "th/4": ("ภาษาไทย?", "กรุงเทพฯ"),
    "hi/5": ("राजधानी क्या है?", "नई दिल्ली"),
    "ar/6": ("ما العاصمة؟", "\u202eالقاهرة"),
    "he/7": ("מה הבירה?", "יְרוּשָׁלַיִם"),
    "en/8": ("Who? 👩🏽‍🔬", '=HYPERLINK("x")'),
}


def verdict_examples():
    """Questions and responses in eight scripts."""
    rows = [
        {"example_id": name, "question": asked, "references": ["?"], "response": said}
        for name, (asked, said) in LANGUAGES.items()
    ]
    return pd.DataFrame(rows)


TRACE = {
    "relevant": ["0a", "1a"],
    "utilized": ["0a"],
    "supporting": {"a": ["0a"], "b": ["1a", "general"]},
    "support": {"a": "full", "b": "partial"},
    "overall": True,
}
"""A whole set of labels for one of `trace_examples`."""


def say(session, said):
    """Give each item its values: by field, and by sentence where a field is asked of each."""
    for item, values in said.items():
        session.go(item)
        for field, value in values.items():
            given = value if isinstance(value, dict) else {None: value}
            for sentence, one in given.items():
                session.label(field, one, sentence)
    return session


def annotated(examples, task, annotator, folder, said, **options):
    """An open session in which these values were said."""
    return say(AnnotationSession(examples, task, annotator, folder, **options), said)


def verdicts(words, examples=None):
    """Verdicts from a line of initials: ``"cir."`` for correct, incorrect, refuse and none."""
    names = list(LANGUAGES) if examples is None else list(examples["example_id"])
    meant = {"c": "correct", "i": "incorrect", "r": "refuse"}
    return {
        name: {"verdict": meant[word]}
        for name, word in zip(names, words, strict=False)
        if word in meant
    }


TEXTS = [
    "Oslo ist die Hauptstadt. 😀",
    "东京是日本的首都。",
    "東京は日本の首都です。",
    "กรุงเทพฯ เป็นเมืองหลวง",
    "दिल्ली भारत की राजधानी है।",
    "القاهرة عاصمة مصر.",
    "ירושלים היא עיר.",
    "e\u0301a\u0308 ‮gpj.exe‬",
    "👩\u200d🔬👨\u200d👩\u200d👧",
    '</script>"\\\n\t\x00',
    "line\u2028paragraph\u2029next\x85end",
    "half \ud83d a pair",
]
"""A text in each script, and some that do harm where text is written carelessly."""


def keyed_frame(n=3, **columns):
    """Examples of the task trace: two documents of two sentences, and a response of two."""
    rows = [
        {
            "example_id": f"q/{i}",
            "question": f"Question {i}?",
            "documents_sentences": [
                [["0a", f"One {i}."], ["0b", "Two."]],
                [["1a", "Three."], ["1b", "Four."]],
            ],
            "response_sentences": [["a", f"First {i}."], ["b", "Second."]],
            "response": f"First {i}. Second.",
        }
        for i in range(n)
    ]
    return _with(pd.DataFrame(rows), columns)


def trace_examples(n=6):
    """The same as records of RAGBench, with passages."""
    passages = [[f"One {i}. Two.", "Three. Four."] for i in range(n)]
    ids = [f"bench_test/{i}" for i in range(n)]
    return keyed_frame(n, example_id=ids, passages=passages, system="plain")


def plain_frame(n=3, **columns):
    """Examples without sentence keys, for all tasks but trace."""
    rows = [
        {
            "example_id": f"q/{i}",
            "question": f"Question {i}?",
            "references": [["Oslo", "Kristiania"], "Norway"],
            "passages": ["Oslo is a city.", "It rains."],
            "response": f"Oslo {i}.",
            "language": "en",
            "response_a": f"left {i}",
            "response_b": f"right {i}",
        }
        for i in range(n)
    ]
    return _with(pd.DataFrame(rows), columns)


def _with(frame, columns):
    """Columns as they are: pandas' own texts can be no half of a surrogate pair, and no value of any other kind."""
    wide = {
        name: given if isinstance(given, list) else [given] * len(frame)
        for name, given in columns.items()
    }
    return frame.assign(**{name: pd.Series(given, dtype=object) for name, given in wide.items()})


def opened(path, examples=None, task="trace", annotator="ana", **options):
    """A session on the keyed examples, unless told otherwise."""
    return AnnotationSession(
        keyed_frame() if examples is None else examples, task, annotator, path, **options
    )


def said(state):
    """All that a state knows of the items of which anything is known, for comparison."""
    known = {name: vars(labels) for name, labels in state.items.items()}
    return {name: of for name, of in known.items() if of["fingerprint"] or of["values"]}
