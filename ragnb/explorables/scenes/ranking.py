"""A ranked list: success, recall, reciprocal rank and nDCG at k."""

from typing import Any

from ragnb.experiments.recorded import recorded_responses
from ragnb.explorables.scene import Control, Frame, Scene, explorable
from ragnb.markup import join, tag
from ragnb.metrics.retrieval import ndcg, recall, reciprocal_rank, success
from ragnb.widgets.pages import sign

# Passages in the list, and characters of each.
MAX_PASSAGES, MAX_CHARACTERS = 6, 120


def ranked_passages() -> tuple[dict[str, Any]]:
    """The passages of a question of RGB. The positive ones are relevant."""
    replies = recorded_responses("rgb_noise").query("system == 'answer' and noise_rate == 0.4")
    response = replies.iloc[0]
    kinds = list(response["kinds"])
    positive = [rank for rank, kind in enumerate(kinds) if kind == "positive"]
    return ({**response, "retrieved": list(range(len(kinds))), "relevant": positive},)


@explorable(
    "ranking",
    question="What do success, recall, reciprocal rank and nDCG count?",
    data=f"a row with a ranked list (first {MAX_PASSAGES})",
    changes="success, recall, 1 / rank and nDCG at k",
    sample=ranked_passages,
)
def ranking(row: Any) -> Scene:
    """Return the scene of a row with ``retrieved``, ``relevant``, and optionally texts."""
    keys = list(row["retrieved"])[:MAX_PASSAGES]
    relevant = {*row["relevant"]}
    not_listed = [*(relevant - {*keys})]
    question = str(row.get("question", ""))
    texts = [_shortened(str(text)) for text in row.get("passages", keys)][: len(keys)]

    def frame(k: int, *are_relevant: bool) -> Frame:
        marked = [key for key, is_relevant in zip(keys, are_relevant, strict=True) if is_relevant]
        marked += not_listed
        if not marked:
            return Frame("No passage is relevant, so recall and nDCG are undefined.")
        values = {
            "success": success(keys, marked, k=k),
            "recall": recall(keys, marked, k=k),
            "1 / rank": reciprocal_rank(keys, marked, k=k),
            "nDCG": ndcg(keys, marked, k=k),
        }
        return Frame(
            f"The first {k} passages contain {sum(are_relevant[:k])} of {len(marked)} relevant "
            f"passages. Success@{k} is {values['success']:.0f}, recall@{k} is "
            f"{values['recall']:.2f}, the reciprocal rank is {values['1 / rank']:.2f}, and nDCG@{k} is "
            f"{values['nDCG']:.2f}.",
            meters=values,
        )

    cutoffs = list(range(1, len(keys) + 1))
    controls = [Control("passages that the model gets, k", cutoffs, min(3, len(keys)))]
    items = []
    for rank, (key, text) in enumerate(zip(keys, texts, strict=True), 1):
        is_relevant = key in relevant
        controls.append(Control("relevant", [False, True], is_relevant, f"[{rank}]", text))
        items.append(tag("li", sign(is_relevant), " ", text, dir="auto"))
    static = join([tag("p", question, dir="auto"), tag("ol", *items)])
    return Scene(controls, frame, question, static)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + "…"
