"""Token F1: what each word of a response does to precision, recall and F1."""

# Tested in tests/widgets/test_explorables.py.

from collections import Counter

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.explorables.scene import Control, Frame, Scene, explorable
from ragnb.markup import join, tag
from ragnb.metrics.answer import token_f1, token_precision, token_recall
from ragnb.metrics.normalization import answer_tokens
from ragnb.widgets.pages import sign

# Each combination of words is a frame of its own, so there are few words.
MAX_WORDS = 9


def sentence_and_name() -> tuple[str, str]:
    """A sentence that contains a name, and the name."""
    return "It was painted by P. S. Krøyer in 1892", "P. S. Krøyer"


@explorable(
    "f1",
    question="What does each word of a response do to its F1?",
    data=f"a response (first {MAX_WORDS} words); a reference",
    changes="precision, recall and F1 of the chosen words",
    sample=sentence_and_name,
)
@accepts()
def f1(response: str, reference: str) -> Scene:
    """Return the scene of the words of a response, which can be left out one by one."""
    all_words = response.split()
    words = all_words[:MAX_WORDS]
    if not words or not reference.strip():
        raise InputError("f1 needs a response and a reference with at least one word each")

    # A long response is cut, so that its F1 as a whole is another one.
    is_cut = len(all_words) > len(words)
    subject = "These words have" if is_cut else "The response has"
    heading = f"reference: {reference}"
    if is_cut:
        heading += f" · the first {len(words)} of {len(all_words)} words of the response:"

    def frame(*are_kept: bool) -> Frame:
        """Precision, recall and F1 of the words that are kept."""
        text = " ".join(word for word, is_kept in zip(words, are_kept, strict=True) if is_kept)
        if not text:
            return Frame("A response without words has no precision.")
        n_response, n_reference = len(answer_tokens(text)), len(answer_tokens(reference))
        n_shared = (Counter(answer_tokens(text)) & Counter(answer_tokens(reference))).total()
        meters = {
            "precision": token_precision(text, reference),
            "recall": token_recall(text, reference),
            "F1": token_f1(text, reference),
        }
        sentence = (
            f"{subject} {n_response} tokens and the reference {n_reference}; they share "
            f"{n_shared}. Precision is {n_shared} / {n_response}, recall is {n_shared} / {n_reference}, "
            f"and F1 is 2 · {n_shared} / ({n_response} + {n_reference}) = {meters['F1']:.2f}."
        )
        return Frame(sentence, meters=meters)

    wanted = {*answer_tokens(reference)}
    controls, items = [], []
    for number, word in enumerate(words, 1):
        is_shared = bool(wanted & {*answer_tokens(word)})
        controls.append(Control("in the response", [False, True], True, f"{number}", word))
        items.append(tag("li", sign(is_shared), " ", word, dir="auto"))
    if is_cut:
        items.append(
            tag("li", f"… and {len(all_words) - len(words)} more words, which are left out")
        )
    return Scene(controls, frame, heading, join([tag("ul", *items)]))
