"""A ranked list: success, recall, reciprocal rank and nDCG at k."""

# Tested in tests/widgets/test_explorables.py.

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
        """The values at cutoff k, if those of the listed passages are relevant that are marked so."""
        marked = [key for key, is_relevant in zip(keys, are_relevant, strict=True) if is_relevant]
        # Passages that were not retrieved count in the denominators of recall and nDCG.
        marked += not_listed
        if not marked:
            return Frame("No passage is relevant, so recall and nDCG are undefined.")
        success_at_k = success(keys, marked, k=k)
        recall_at_k = recall(keys, marked, k=k)
        inverse_rank = reciprocal_rank(keys, marked, k=k)
        ndcg_at_k = ndcg(keys, marked, k=k)
        n_in_first_k = sum(are_relevant[:k])
        sentence = (
            f"The first {k} passages contain {n_in_first_k} of {len(marked)} relevant "
            f"passages. Success@{k} is {success_at_k:.0f}, recall@{k} is {recall_at_k:.2f}, "
            f"the reciprocal rank is {inverse_rank:.2f}, and nDCG@{k} is {ndcg_at_k:.2f}."
        )
        meters = {
            "success": success_at_k,
            "recall": recall_at_k,
            "1 / rank": inverse_rank,
            "nDCG": ndcg_at_k,
        }
        return Frame(sentence, meters=meters)

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
