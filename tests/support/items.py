"""Items to be labelled: imported by the cells of the notebooks that the tests run."""

import pandas as pd

COLUMNS = ["example_id", "question", "references", "passages", "response"]
"""Of the items for task verdict."""
BIDI = {
    "ar": ("ما عاصمة النرويج؟", "أوسلو هي عاصمة النرويج، واسمها القديم Kristiania حتى 1925."),
    "he": ("מהי בירת נורווגיה?", "אוסלו היא בירת נורווגיה, ושמה הקודם Kristiania."),
    "en": (
        "What is the capital of Norway?",
        "Oslo, in Hebrew אוסלו, is its capital; read a\u202egpj.exe\u202c twice.",
    ),
}


def trace_items(n=3, sentences=3, documents=2):
    """Items for task trace, of some documents and a response of two sentences."""
    rows = [
        {
            "example_id": f"q/{k}",
            "question": f"Question {k}: what is told of river {k}?",
            "documents_sentences": [
                [[f"{d}{i}", f"Fact {i} of document {d}."] for i in range(sentences)]
                for d in range(documents)
            ],
            "response_sentences": [["a", f"The river {k} is long."], ["b", "It flows north."]],
        }
        for k in range(1, n + 1)
    ]
    return pd.DataFrame(rows)


def verdict_items(n=3):
    """Items for task verdict."""
    rows = []
    for k in range(1, n + 1):
        author, passages = f"Author {k}", [f"Book {k} is by Author {k}.", "It was read by many."]
        rows.append((f"v/{k}", f"Who wrote book {k}?", [author], passages, f"{author} wrote it."))
    return pd.DataFrame(rows, columns=COLUMNS)


def bidi_items():
    """The same in scripts that run from right to left, and in mixed ones."""
    items = BIDI.items()
    rows = [(code, asked, [text], [text, "Oslo."], text) for code, (asked, text) in items]
    return pd.DataFrame(rows, columns=COLUMNS)


def long_items():
    """The same with words, keys and names that are too long for any line."""
    word = "a" * 400
    return pd.DataFrame([(word, word, [word], [word, "b " * 900], word)], columns=COLUMNS)


def judged():
    """What a judge suggests for the items of task trace: arguments of the annotator."""
    return {
        "suggestions": {"q/1": {"relevant": ["01"], "overall": True}},
        "suggested_by": "Judge Judy",
    }


def two_logs(name):
    """Logs of two people who differ on the first item of task trace."""
    from ragnb.annotation import AnnotationSession

    said = {"Zoe": (["00"], True), "Yan": (["00", "01"], False)}
    paths = []
    for number, (who, (relevant, overall)) in enumerate(said.items()):
        paths.append(f"{name}{number}.jsonl")
        session = AnnotationSession(trace_items(1), "trace", who, paths[-1])
        session.label("relevant", relevant)
        session.label("overall", overall)
        session.close()
    return paths
