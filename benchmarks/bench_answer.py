"""EM, F1 and RLC of whole columns, beside a loop over the rows

Pairs of short answers in twelve languages and ten scripts: a third of the responses equal the reference, a third repeat part
of it, a third are of other words. The loop is the definition of `variant="lbrag"` written row by row: one regular
expression, a dict of tokens, a walk over the characters; the columns of that variant have the same values, one for one.
"""

import random
import re
import tracemalloc
from functools import cache

import pytest

from benchmarks.timing import ours, peer, task
from ragnb.metrics.answer_columns import answer_columns, rlc_column

SIZES = [10_000, 1_000_000]

BLOCKS = {
    "en": "a-z",
    "de": "a-zäöüß",
    "fr": "a-zàâçéèêëîïôùû",
    "ru": "а-я",
    "el": "α-ω",
    "ar": "ء-غف-ي",
    "he": "א-ת",
    "hi": "क-हा-ूेै",
    "th": "ก-ฮะ-ูเ-ไ่-้",
    "ko": "가-힣",
    "ja": "ぁ-んァ-ヶ一-丏",
    "zh_cn": "一-鿋",
}
UNSPACED = ("th", "ja", "zh_cn")


def letters(block: str) -> str:
    ranges = re.findall(r"(.)-(.)|(.)", block)
    return "".join("".join(map(chr, range(ord(a), ord(z) + 1))) if a else single for a, z, single in ranges)


@cache
def pairs(n: int, seed: int = 20240131) -> tuple[list[str], list[str], list[str]]:
    """Responses, references and languages of `n` short answers."""
    draw = random.Random(seed)
    words = {
        code: ["".join(draw.choices(letters(block), k=draw.randint(2, 8))) for _ in range(3000)]
        for code, block in BLOCKS.items()
    }
    responses, references, languages = [], [], []
    for _ in range(n):
        code = draw.choice(list(BLOCKS))
        space = "" if code in UNSPACED else " "
        wanted = draw.choices(words[code], k=draw.randint(1, 4))
        said = draw.choice([wanted, wanted[:2] + draw.choices(words[code], k=2), draw.choices(words[code], k=3)])
        year = f" {draw.randint(1, 2024)}." if draw.random() < 0.2 else ""
        responses.append(space.join(said).capitalize() + year)
        references.append(space.join(wanted) + year.rstrip("."))
        languages.append(code)
    return responses, references, languages


# ---- the peer ----------------------------------------------------------------------------------------------------------

DROPPED = re.compile(
    "[^0-9a-z\u00c0-\u024f\u0400-\u04ff\u0590-\u05ff\u0600-\u06ff\ufb50-\ufdff\ufe70-\ufeff\u0e00-\u0e7f\u1100-\u11ff"
    "\uac00-\ud7af\u3040-\u30ff\u4e00-\u9fff]+"
)


def plain(text: str) -> str:
    return DROPPED.sub(" ", re.sub(r"\s+", " ", text.lower().strip())).strip()


def peer_em(response: str, reference: str) -> float:
    return float(plain(response) == plain(reference))


def peer_f1(response: str, reference: str, language: str) -> float:
    said, wanted = plain(response), plain(reference)
    if not said or not wanted:
        return float(said == wanted)
    by_character = language in ("ja", "zh", "zh_cn", "zh_tw")
    a, b = (list(text.replace(" ", "")) if by_character else text.split() for text in (said, wanted))
    left: dict[str, int] = {}
    for token in b:
        left[token] = left.get(token, 0) + 1
    overlap = 0
    for token in a:
        if left.get(token, 0) > 0:
            overlap += 1
            left[token] -= 1
    if not overlap:
        return 0.0
    precision, recall = overlap / len(a), overlap / len(b)
    return 2 * precision * recall / (precision + recall)


def peer_rlc(response: str, language: str) -> float:
    total = hits = 0
    for character in response:
        if character.isspace() or character.isdigit() or character in ".,!?;:()[]{}-–—'\"/":
            continue
        total += 1
        han, kana = "\u4e00" <= character <= "\u9fff", "\u3040" <= character <= "\u30ff"
        if language.startswith("ja"):
            hits += han or kana
        elif language.startswith("zh"):
            hits += han
        elif language in ("en", "de", "es", "fr", "it", "pt"):
            hits += character.isalpha()
        else:
            hits += character.isalpha() or han or kana
    return hits / total if total else 1.0


def loop(responses: list[str], references: list[str], languages: list[str]) -> list[tuple[float, float, float]]:
    return [
        (peer_em(said, wanted), peer_f1(said, wanted, code), peer_rlc(said, code))
        for said, wanted, code in zip(responses, references, languages, strict=True)
    ]


def columns(responses: list[str], references: list[str], languages: list[str], variant: str):
    scores = answer_columns(responses, references, languages=languages, variant=variant)
    return scores.exact_match, scores.token_f1, rlc_column(responses, languages, variant=variant)


# ---- the comparison ----------------------------------------------------------------------------------------------------


@task("EM, F1 and RLC")
@pytest.mark.parametrize("n", SIZES)
class TestAnswerColumns:
    @ours("`{variant}`")
    @pytest.mark.parametrize("variant", ["unicode", "lbrag"])
    def test_ragnb(self, benchmark, few, n: int, variant: str) -> None:
        few(columns, *pairs(n), variant, warm=n == SIZES[0])
        benchmark.extra_info["note"] = f"{peak(columns, *pairs(n), variant):.0f} MiB at its peak beside the pairs"

    @peer("row by row, `lbrag`")
    def test_row_by_row(self, few, n: int) -> None:
        small = n == SIZES[0]
        expected = few(loop, *pairs(n), rounds=3 if small else 1, warm=small)
        assert list(zip(*(values.tolist() for values in columns(*pairs(n), "lbrag")), strict=True)) == expected


def peak(function, *arguments) -> float:
    """MiB that a call has at most beside what was there before."""
    tracemalloc.start()
    function(*arguments)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / 2**20
