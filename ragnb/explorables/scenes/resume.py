"""A run that is killed: which replies are there, and what the next call sends."""

# Tested in tests/widgets/test_explorables.py.

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.explorables.chart import Chart
from ragnb.explorables.scene import Control, Frame, Scene, evenly_spaced, explorable


def thousand_requests() -> tuple[int, int]:
    """A thousand requests, and the number of them that are under way at once by default."""
    return 1000, 16


@explorable(
    "resume",
    question="What is paid twice if a run is killed?",
    alt="Replies that are paid twice against the reply after which the run is killed: with a store, a low "
    "horizontal line; without a store, a rising line.",
    data="number of requests; number under way at once",
    changes="requests that the next call sends, and replies that are paid twice",
    sample=thousand_requests,
)
@accepts()
def resume(n_requests: int, max_concurrency: int) -> Scene:
    """Return the scene of a run that is killed after some replies, with and without a store."""
    if n_requests < 1 or max_concurrency < 1:
        raise InputError(
            f"resume needs at least one request, and one under way, got {n_requests} and {max_concurrency}"
        )

    def frame(n_stored: int) -> Frame:
        """What a store keeps if the run is killed after ``n_stored`` replies."""
        n_missing = n_requests - n_stored
        n_under_way = min(max_concurrency, n_missing)
        sentence = (
            f"{n_stored:,} replies are stored. The next call sends the other {n_missing:,} requests. Up to "
            f"{n_under_way} of them were under way and may be paid twice. Without a store, the next call "
            f"would send all {n_requests:,}, and pay {n_stored:,} to {n_stored + n_under_way:,} twice."
        )
        dots = ("dot", [n_stored, n_stored], [n_stored, n_under_way])
        return Frame(sentence, Chart(x_axis, y_axis, [without_store, with_store, dots], names))

    x_axis = (0, n_requests, "replies before the run is killed")
    y_axis = (0, n_requests, "replies that are paid twice")
    without_store = ("truth", [0, n_requests], [0, n_requests])
    # As many requests are under way as may be, until fewer are left.
    n_at_once = min(max_concurrency, n_requests)
    first_with_fewer = n_requests - n_at_once
    with_store = ("result", [0, first_with_fewer, n_requests], [n_at_once, n_at_once, 0])
    names = [
        (0.6 * n_requests, 0.7 * n_requests, "without a store "),
        (0.98 * n_requests, 0.06 * n_requests, "with a store "),
    ]

    counts = evenly_spaced(0, n_requests, 41, start=n_requests // 2)
    return Scene([Control("replies before the run is killed", counts, n_requests // 2)], frame)
