"""RGB's judged twins Rej*, ED* and CR over ED*: a judge's verdict in the place of a key phrase (Chen et al., AAAI 2024).

The verdicts come from a judge model (`ragnb.experiments.judges`) or from replies of the released code's own judge
prompts, read as that code reads them by `says_refusal` and `says_detection`.
"""

import math

from ragnb.metrics.normalization import check_text
from ragnb.metrics.rgb import answer_labels
from ragnb.metrics.rgb_reading import Answer
from ragnb.metrics.rgb_rules import FOUND, NOT_FOUND
from ragnb.metrics.verdict import binary_verdict
from ragnb.records import is_missing


def judged_rejection(judged_refusal: float | None) -> float:
    """Judged negative rejection (Rej*) of one response to passages without the answer: 1.0 when a judge sees a refusal.

    Higher is better; 0.0 or 1.0; nan where there is no verdict.

    Raises
    ------
    InputError
        A verdict other than 0 and 1.

    Source: Chen et al. (2024), section 3, Rej*.

    >>> judged_rejection(True)
    1.0
    """
    return binary_verdict(judged_refusal)


def judged_error_detection(judged_detection: float | None) -> float:
    """Judged error detection (ED*) of one response to false passages: 1.0 when a judge sees the errors detected.

    Higher is better; 0.0 or 1.0; nan where there is no verdict.

    Raises
    ------
    InputError
        A verdict other than 0 and 1.

    Source: Chen et al. (2024), section 3, ED*.

    >>> judged_error_detection(0)
    0.0
    """
    return binary_verdict(judged_detection)


def judged_error_correction(
    response: str | None, answer: Answer, judged_detection: float | None, *, language: str = "en", protocol: str = "paper"
) -> float:
    """Error correction over judged detection (CR over ED*): 1.0 when a response whose detection a judge saw is right.

    Higher is better; 0.0 or 1.0; nan where there is no response or verdict, and where the judge saw no detection.

    Its mean is the CR that the paper prints, and the number of its values is CR's denominator: three, four and seven there.
    What the protocol reads as a refusal is not right (the released code counts it as corrected in its plain CR only);
    ``flexible`` reads none in a response that declines and answers all the same.

    Raises
    ------
    InputError
        A verdict other than 0 and 1; see `ragnb.metrics.rgb.answer_labels`.

    Source: Chen et al. (2024), section 3, "Error correction rate", table 7.

    >>> judged_error_correction("No, it is Oslo.", "Oslo", 1), judged_error_correction("It is Oslo.", "Oslo", 0)
    (1.0, nan)
    """
    verdict = binary_verdict(judged_detection)
    if response is None or is_missing(response) or verdict != 1.0:
        return math.nan
    labels = answer_labels(response, answer, language=language, protocol=protocol)
    return float(NOT_FOUND not in labels and FOUND in labels)


def says_refusal(reply: str) -> bool:
    """Whether a reply of the released code's judge counts as a refusal there: ``not addressed`` anywhere in it.

    >>> says_refusal("No, the question is not addressed by the documents.")
    True
    """
    return "not addressed" in check_text(reply, "reply")


def says_detection(reply: str) -> bool:
    """Whether a reply of the released code's judge counts as detection there: ``has identified`` or ``Yes`` anywhere in it.

    >>> says_detection("No. Yesterday it would have been right.")
    True
    """
    said = check_text(reply, "reply")
    return "has identified" in said or "Yes" in said
