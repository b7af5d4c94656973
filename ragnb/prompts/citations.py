"""Citation marks in a response, such as ``[1]``: which passages they name, and which sentence cites them.

A mark that can be read in two ways raises InputError, so that the response is unscored with a reason.
"""

from collections.abc import Iterator
from typing import NamedTuple

import regex

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.text import fold, sentences

MOST_PASSAGES = 100
"""Most passages that one range, such as ``[1-3]``, may name."""

_WORD = (
    r"(?:doc(?:ument)?|passage|source|text|context|ref(?:erence)?|citation|chunk|snippet|quelle|文档|段落|来源)"
    r"s?"
)
_BRACKETS = regex.compile(
    rf"""(?:<sup>\s*)?
         (?: (?P<open>\[\[|[\[【［])(?P<inside>[^\[\]【】［］\n]{{1,80}})(?:\]\]|[\]】］])
           | (?<![\p{{L}}\p{{N}}(])\((?P<inside>{_WORD}[^()\n]{{1,60}})\) )
         (?:\(https?://[^\s()]{{1,2000}}(?:\([^\s()]{{0,200}}\)[^\s()]{{0,200}})?\))?   # the address of a link
         (?:\s*</sup>)?
       | <sup>\s*(?P<inside>[\d\s,;–-]{{1,80}})</sup>""",
    flags=regex.VERBOSE | regex.IGNORECASE,
)
# Numbers and ranges, as `fold` leaves them: [1-3], [1; 2], [^1], [doc 1, doc 2], 【1†source】.
_NUMBER = r"[\^#]?\d{1,3}"
_RANGE = rf"{_NUMBER}(?:\s?(?:-|‐|–|—|−|~|〜|\.\.|…|to|bis)\s?{_NUMBER})?"
_ITEM = rf"(?:{_WORD}[\s.:#-]{{0,3}})?{_RANGE}"
_LIST = regex.compile(
    rf"{_ITEM}(?:(?:\s?[,;、/|&+]\s?(?:and|und)?\s?|\s(?:and|und)\s|\s){_ITEM})*+,?"
)
_FOUND_RANGE = regex.compile(_RANGE)
_DECIMAL = regex.compile(r"\d[.]\d")
_SIGNS_ONLY = regex.compile(rf"(?:{_WORD})?[\d\p{{P}}\p{{S}}\s]*")
_SUPERSCRIPT = regex.compile(r"(?<=[.!?。！？,;:)\]\"”]|\p{L}{4})[¹²³⁴-⁹⁰]+")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

# Where brackets are no citations: in code, and behind the name of an array.
_CODE = regex.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", flags=regex.DOTALL)
_MASKED = str.maketrans("[【［(<", "\uf8e0\uf8e1\uf8e2\uf8e3\uf8e4")
_RESTORED = str.maketrans("\uf8e0\uf8e1\uf8e2\uf8e3\uf8e4", "[【［(<")
_COMMA = regex.compile(r"\s*[,;、，]\s*")
_DASH = regex.compile(r"[^\S\n]*[-‐‑–—−][^\S\n]*")
_NAME = regex.compile(r"[A-Za-z_$][\w$]*\Z")
_ARRAY = regex.compile(
    r"(?:[a-z]|\w*_\w*|(?:\w*?(?<![a-z]))?(?i:array|arr|lst|vec|tuple|dict|argv|args|kwargs|df|buf|ptr)s?)"
)
_MAYBE_ARRAY = regex.compile(
    r"(?i:list|vector|matrix|map|index|buffer|stack|queue|data|items?|values?|keys?|rows?|columns?|elements?|string)"
)
_GOES_ON_AS_CODE = regex.compile(r"[^\S\n]?(?:[-+*/]?=|\.[a-z_]+\()")

_DEFINITION = regex.compile(
    r"[^\S\n]*\[\^?\d{1,3}\]:?[^\S\n]*<?https?://\S+[^\S\n]*|[^\S\n]*\[\^\d{1,3}\]:.*"
)
_BULLET = regex.compile(r"[\s>]*(?:[-*•‣–]\s+|\d{1,3}[.)]\s+)?\**")
_SENTENCE_END = regex.compile(r"[.!?…。！？｡؟۔।॥][\p{Pe}\p{Pf}\"'*]*\Z")


class Mark(NamedTuple):
    """A citation mark: its place in a text, and the numbers of the passages that it names."""

    start: int
    end: int
    passages: tuple[int, ...]


@accepts()
def citations_of(response: str) -> list[tuple[str, list[int]]]:
    """Split a response into sentences without marks, each with the numbers of the passages it cites.

    A mark belongs to the sentence in which it stands. A mark behind the end of a sentence belongs to
    that sentence, unless the line begins with a mark: then it belongs to the sentence that follows.
    Lines that only say where a footnote comes from are left out.

    Parameters
    ----------
    response : str
        A text with marks such as ``[1]``, ``[1, 2]``, ``[1; 2]``, ``[1-3]``, ``[1][2]``, ``[ 1 ]``,
        ``【1】``, ``[^1]``, ``[doc 1]``, ``[1](https://…)`` or ``<sup>1</sup>``. Brackets in code or behind
        the name of an array, such as ``array[1]``, are no marks.

    Returns
    -------
    list of (str, list of int)
        Each sentence, and the passages that it cites, in order and each once.

    Raises
    ------
    InputError
        A mark cannot be read, or stands where it could belong to either of two sentences.

    Examples
    --------
    >>> citations_of("It is red [1-3]. Yes.【2】")
    [('It is red.', [1, 2, 3]), ('Yes.', [2])]
    >>> citations_of("[1] It is red. [2] It is array[3].")
    [('It is red.', [1]), ('It is array[3].', [2])]
    """
    masked = _CODE.sub(_without_brackets, response)
    cited = []
    for block, begins_with_mark in _blocks(masked):
        for sentence, numbers in _cited(block, begins_with_mark):
            cited.append((sentence.translate(_RESTORED), numbers))
    return cited


def _without_brackets(code: regex.Match[str]) -> str:
    """Code with other characters in place of its brackets, unless it is nothing but a mark."""
    text = code.group()
    is_mark = _BRACKETS.fullmatch(text.strip("`").strip())
    return text if is_mark else text.translate(_MASKED)


def _blocks(response: str) -> Iterator[tuple[str, bool]]:
    """The lines that begin with a mark, each alone, and the texts between them."""
    before: list[str] = []
    for line in response.split("\n"):
        if _DEFINITION.fullmatch(line):
            continue
        if not _begins_with_mark(line):
            before.append(line)
            continue
        yield "\n".join(before), False
        before = []
        yield line, True
    yield "\n".join(before), False


def _begins_with_mark(line: str) -> bool:
    """Return whether a line begins with a mark, and has a text behind it."""
    bullet = _BULLET.match(line)
    start = bullet.end() if bullet else 0
    marks = _marks(line)
    if not marks or marks[0].start != start:
        return False
    return bool(_without(line, marks)[0].strip(" \t*"))


def _cited(block: str, begins_with_mark: bool) -> list[tuple[str, list[int]]]:
    """The sentences of a block without its marks, each with the passages that it cites."""
    text, places = _without(block, _marks(block))
    spans, end = [], 0
    for sentence in sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        spans.append((start, end))
    passages: list[list[int]] = [[] for _ in spans]
    for place, numbers in places:
        owner = _owner(text, spans, place, begins_with_mark)
        if owner is not None:
            passages[owner] += numbers
    return [
        (text[start:end], list(dict.fromkeys(numbers)))
        for (start, end), numbers in zip(spans, passages, strict=True)
    ]


def _owner(
    text: str, spans: list[tuple[int, int]], place: int, begins_with_mark: bool
) -> int | None:
    """The number of the sentence to which a mark at a place of the text belongs."""
    before = [number for number, (start, _) in enumerate(spans) if start < place]
    last = before[-1] if before else None
    is_inside = last is not None and place < spans[last][1]
    is_behind = last is not None and bool(_SENTENCE_END.search(text[:place].rstrip()))
    if last is None:
        return 0 if spans else None
    if is_inside or not is_behind or not begins_with_mark:
        return last
    if last + 1 == len(spans):
        raise InputError(
            "a line must not both begin and end with a citation mark, because the marks between its "
            f"sentences could belong to either side, got {text[:60]!r} without its marks"
        )
    return last + 1


def _without(text: str, marks: list[Mark]) -> tuple[str, list[tuple[int, tuple[int, ...]]]]:
    """A text without its marks and the space before them, and where in it each mark was."""
    pieces: list[str] = []
    places = []
    end = length = 0
    for mark in marks:
        piece = text[end : mark.start].rstrip()
        pieces.append(piece)
        length += len(piece)
        places.append((length, mark.passages))
        end = mark.end
    return "".join([*pieces, text[end:]]), places


# ---- marks ---------------------------------------------------------------------------------------


def _marks(text: str) -> list[Mark]:
    """The citation marks of a text, in order."""
    marks: list[Mark] = []
    end_of_index = -1
    for match in _BRACKETS.finditer(text):
        written = fold(match["inside"]).partition("†")[0].strip()
        if not _may_name_passages(written):
            continue
        if match.start() == end_of_index or _is_index(text, match.start(), match.end()):
            end_of_index = match.end()  # In array[1][2], the second brackets are an index too.
            continue
        marks.append(Mark(*match.span(), _numbers(written, match.group())))
    for match in _SUPERSCRIPT.finditer(text):
        if len(match.group()) > 1:
            raise InputError(
                f"the mark {match.group()!r} could name one passage or several; write [1] or [1, 2]"
            )
        number = int(match.group().translate(_SUPERSCRIPTS))
        marks.append(Mark(*match.span(), (number,)))
    return _joined(text, marks)


def _joined(text: str, marks: list[Mark]) -> list[Mark]:
    """Marks in order, with those as one that a comma or a dash connects: ``[1], [2]`` and ``[1]-[3]``."""
    joined: list[Mark] = []
    for mark in sorted(marks):
        between = text[joined[-1].end : mark.start] if joined else ""
        if joined and _COMMA.fullmatch(between):
            joined[-1] = Mark(joined[-1].start, mark.end, (*joined[-1].passages, *mark.passages))
        elif joined and _DASH.fullmatch(between):
            whole = f"{joined[-1].passages[-1]}-{mark.passages[0]}"
            passages = _numbers(whole, text[joined[-1].start : mark.end])
            all_passages = (*joined[-1].passages[:-1], *passages, *mark.passages[1:])
            joined[-1] = Mark(joined[-1].start, mark.end, all_passages)
        else:
            joined.append(mark)
    return joined


def _is_index(text: str, start: int, end: int) -> bool:
    """Return whether brackets directly behind a name are the index of an array."""
    name = _NAME.search(text[max(0, start - 40) : start])
    if not name:
        return False
    if _ARRAY.fullmatch(name.group()) or _GOES_ON_AS_CODE.match(text, end):
        return True
    if _MAYBE_ARRAY.fullmatch(name.group()):
        raise InputError(
            f"{name.group()}{text[start:end]} could be a citation or the index of an array; write a "
            "space before a citation"
        )
    return False


def _may_name_passages(written: str) -> bool:
    """Return whether the text in brackets consists of whole numbers and signs, and of nothing else."""
    is_signs = _SIGNS_ONLY.fullmatch(written) and not _DECIMAL.search(written)
    return bool(_LIST.fullmatch(written) or (is_signs and regex.search(r"\d", written)))


def _numbers(written: str, mark: str) -> tuple[int, ...]:
    """The passages that the text in brackets names, in its order."""
    numbers: list[int] = []
    ranges = _FOUND_RANGE.findall(written) if _LIST.fullmatch(written) else []
    for part in ranges:
        first, *others = map(int, regex.findall(r"\d+", part))
        last = others[0] if others else first
        if not 1 <= first <= last < first + MOST_PASSAGES:
            numbers = []
            break
        numbers += range(first, last + 1)
    if not numbers:
        raise InputError(
            "a citation mark must contain numbers of passages from 1 on, such as [1], [1, 2] or [1-3], "
            f"got {mark!r:.60}"
        )
    return tuple(numbers)
