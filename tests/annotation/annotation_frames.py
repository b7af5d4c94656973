"""Small examples, and sessions on them: shared by the tests of the annotation."""

import pandas as pd

from ragnb.annotation.session import AnnotationSession

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
