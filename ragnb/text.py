"""Text in any script: folding, scripts, tokens, sentences and their keys.

Nothing here knows a language unless it is told: decisions rest on Unicode properties of the characters themselves.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import regex

from ragnb.errors import InputError

SCRIPTS = tuple(
    "Latin Han Hiragana Katakana Hangul Cyrillic Greek Arabic Hebrew Devanagari Bengali Tamil Telugu Kannada Malayalam "
    "Gujarati Gurmukhi Oriya Sinhala Thai Lao Khmer Myanmar Tibetan Ethiopic Georgian Armenian Mongolian Cherokee "
    "Canadian_Aboriginal Bopomofo Syriac Thaana Nko Tifinagh Javanese Yi Coptic Gothic".split()
)
"""Scripts that `script_of` tells apart; a letter of any other script is ``"Other"``."""

UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
)
"""Character class (without brackets) of the scripts written without spaces between words."""

_SCRIPT = regex.compile("|".join(rf"(?P<{name}>\p{{{name}}})" for name in SCRIPTS))
_LETTER = regex.compile(r"\p{L}")
_SHARED = regex.compile(r"\p{Common}|\p{Inherited}")
_IGNORABLE = regex.compile(
    r"[\u00AD\u061C\u200C-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFE00-\uFE0F\uFEFF\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F]"
)
_TOKEN = regex.compile(
    rf"(?V1)(?=[[{UNSPACED}]&&[\p{{L}}\p{{M}}\p{{N}}]])\X|[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]+"
)
GRAPHEME = regex.compile(
    r"\p{GCB=Regional_Indicator}{1,2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*|\X"
)
"""Pattern of one extended grapheme cluster, for searches from the start of a text.

For each flag, ``\\X`` alone counts all the flags before it. Pairs of regional indicators therefore have a branch of their
own, which counts from the end of the last cluster.
"""
_ONLY_CLOSED = regex.compile(r"\A.*</think>", flags=regex.DOTALL | regex.IGNORECASE)
_REASONING = regex.compile(r"<think>.*?(?:</think>|\Z)", flags=regex.DOTALL | regex.IGNORECASE)


def fold(text: str) -> str:
    """Text with compatibility forms, letter case and runs of space made equal (NFKC, case-folded, trimmed).

    >>> fold("  Ｓtraße\\u00a0№ ５ ")
    'strasse no 5'
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def visible(text: str) -> str:
    """Text without invisible joiners, direction marks, variation selectors, soft hyphens and skin tones.

    >>> visible("soft\\u00adhyphen")
    'softhyphen'
    """
    return _IGNORABLE.sub("", text)


def split_reasoning(reply: str) -> tuple[str, str]:
    """Split the reply of a reasoning model into its reasoning and its answer.

    The reasoning is every ``<think>…</think>`` passage with its tags; it is empty if there is none. If a passage is not
    closed because the reply was cut off, it reaches to the end. If only the closing tag is there because the opening one was
    in the prompt, the passage begins at the start. A reply that is one JSON object is all answer.

    >>> split_reasoning("<think>Paris or Lyon?</think>\\n\\nParis.")
    ('<think>Paris or Lyon?</think>', 'Paris.')
    >>> split_reasoning("<think>Paris or"), split_reasoning("Paris.")
    (('<think>Paris or', ''), ('', 'Paris.'))
    """
    bare = reply.strip()
    if ">" not in reply or (bare.startswith("{") and bare.endswith("}")):
        return "", reply
    reasoning = "".join(reply[start:end] for start, end in reasoning_spans(reply))
    return reasoning, strip_reasoning(reply).strip() if reasoning else reply


def join_reasoning(reasoning: str, answer: str) -> str:
    """The text of a reply as the model wrote it: the inverse of `split_reasoning`.

    Reasoning without tags came in a field of its own, so it was never part of the text.

    >>> join_reasoning("<think>Paris or Lyon?</think>", "Paris."), join_reasoning("Paris or Lyon?", "Paris.")
    ('<think>Paris or Lyon?</think>Paris.', 'Paris.')
    """
    return reasoning + answer if "think>" in reasoning.lower() else answer


def strip_reasoning(text: str) -> str:
    """Remove the ``<think>…</think>`` passages of reasoning models from a text, as `split_reasoning` finds them.

    >>> strip_reasoning("<think>Paris or Lyon?</think>Paris.")
    'Paris.'
    """
    return _ONLY_CLOSED.sub("", _REASONING.sub("", text))


def reasoning_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each passage of reasoning in a text, in order.

    >>> reasoning_spans("<think>Paris or Lyon?</think>Paris.")
    [(0, 29)]
    """
    opened = [found.span() for found in _REASONING.finditer(text)]
    closed = _ONLY_CLOSED.match(_REASONING.sub(lambda found: " " * len(found.group()), text))
    if closed is None:
        return opened
    return [closed.span(), *(span for span in opened if span[0] >= closed.end())]


def well_formed(text: str) -> str:
    """Text with U+FFFD for each lone surrogate, so that it can be written as UTF-8.

    >>> well_formed("a\\ud800b") == "a\\ufffdb"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@lru_cache(maxsize=65536)
def script_of(character: str) -> str | None:
    """Unicode script of one letter, ``"Other"`` for a rare script; None when it is no letter, or one that scripts share.

    >>> script_of("é"), script_of("中"), script_of("ф"), script_of("7")
    ('Latin', 'Han', 'Cyrillic', None)
    """
    if not _LETTER.match(character) or _SHARED.match(character):
        return None
    found = _SCRIPT.match(character)
    return found.lastgroup if found else "Other"


def scripts(text: str) -> Counter[str]:
    """Number of letters of each script.

    >>> scripts("答案是 4429 meters") == {"Han": 3, "Latin": 6}
    True
    """
    found = Counter[str]()
    for character, n in Counter(text).items():
        script = script_of(character)
        if script:
            found[script] += n
    return found


def graphemes(text: str) -> list[str]:
    """Characters as a reader sees them: extended grapheme clusters (UAX #29).

    >>> graphemes("e\\u0301👩‍🔬") == ["e\\u0301", "👩‍🔬"]
    True
    """
    if text.isascii() and "\r\n" not in text:  # nothing in ASCII joins but these two
        return list(text)
    return GRAPHEME.findall(text)


def tokens(text: str) -> list[str]:
    """Words where a script puts spaces between them, grapheme clusters where it does not; letters, marks and numbers only.

    The decision is made for each run of text, so mixed text is cut rightly. Invisible joiners and direction marks are
    left out; case and compatibility forms are kept (see `fold`).

    >>> tokens("GDP 增长 8.1%, don't")
    ['GDP', '增', '长', '8', '1', 'don', 't']
    """
    return _TOKEN.findall(visible(text))


# ---- sentences -------------------------------------------------------------------------------------------------------

_NEVER_LAST = frozenset(
    "mr mrs ms mx dr prof rev hon st sr jr gen col lt capt sgt gov sen rep vs cf viz approx ca c e.g i.e eg ie "
    "ed eds al dept est b d z.b d.h bzw ggf s.o s.u г ул им т.е т.д डॉ".split()
)
_BEFORE_NUMBER = frozenset("no nos nr fig figs eq eqs sec ch vol vols pp art № str".split())
_GERMAN_MONTHS = frozenset(
    "januar februar märz april mai juni juli august september oktober november dezember".split()
)
_MAYBE_LAST = frozenset(
    "etc inc ltd co corp bros univ jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun "
    "mt ft av ave blvd rd".split()
)
_STARTERS = frozenset(
    "the a an it its in on at by for from to of he she they we i you this that these those there here his her their our "
    "but and or if when while after before as since because however although what who where why how not no".split()
)
_HARD = "。！？｡؟۔।॥։።፧។៕။༎"  # these end a sentence whatever follows
_BREAK = regex.compile(
    rf"""(?:[{_HARD}]+|[.!?…‽]+|(?<=\p{{Greek}}\p{{M}}*)[;\u037E]) [\p{{Pe}}\p{{Pf}}"'“”’«»]*  # a terminator, closed
       | (?:\r?\n[^\S\n]*){{2,}}                            # an empty line
       | \n(?=[^\S\n]*(?:[-*•‣–]|\d{{1,3}}[.)])\s)          # a list item on the next line
    """,
    flags=regex.VERBOSE,
)
_DOTTED = regex.compile(r"(?:\p{L}{1,3}\.)+\p{L}{1,3}")
_LONGEST_ABBREVIATION = 40
_LAST_WORD = regex.compile(r"[\p{L}\p{M}\p{N}.]+\Z")
_NEXT_WORD = regex.compile(r"\s*[\p{P}\p{S}]*([\p{L}\p{M}\p{N}]*)")
_ENUMERATOR = regex.compile(r"\(?(?:\d{1,3}|\p{L})")
_SPACE = regex.compile(r"\s*")


def sentences(text: str) -> list[str]:
    """Sentences of a text in order, trimmed, none empty.

    Knows the full stops of Latin, Greek, CJK, Arabic, Urdu, Devanagari, Armenian, Ethiopic, Khmer, Burmese and Tibetan
    writing, abbreviations, initials, decimals, numbered items and empty lines. Thai and Lao mark no sentence end: their
    text is cut at empty lines and foreign stops only. Nothing but white space is lost.

    >>> sentences("Dr. No paid 3.5 million. Really? 是的。他走了。")
    ['Dr. No paid 3.5 million.', 'Really?', '是的。', '他走了。']
    """
    pieces, start = [], _after_space(text, 0)
    for mark in _BREAK.finditer(text):
        if _ends_sentence(text, start, mark):
            pieces.append(text[start : mark.end()])
            start = _after_space(text, mark.end())
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _ends_sentence(text: str, start: int, mark: regex.Match) -> bool:
    sign = mark.group()
    if sign[0] in _HARD or sign[0].isspace():
        return True
    following = text[mark.end() : mark.end() + 1]
    if following and not following.isspace() and not regex.match(rf"[{UNSPACED}]", following):
        return False  # 3.14, example.org, ?!x
    upcoming = _NEXT_WORD.match(text, mark.end())
    next_word = upcoming.group(1) if upcoming else ""
    if next_word[:1].islower():
        return False
    # A longer piece would make the time grow with the square of the text.
    before = text[max(start, mark.start() - _LONGEST_ABBREVIATION) : mark.start()]
    return sign != "." or not _is_abbreviation(before, next_word)


def _is_abbreviation(before: str, next_word: str) -> bool:
    if _ENUMERATOR.fullmatch(before):
        return bool(next_word)  # "1. Open the box."
    found = _LAST_WORD.search(before)
    if not found:
        return False
    word = found.group().lower()
    if word in _NEVER_LAST:
        return bool(next_word)
    if word in _BEFORE_NUMBER:
        return next_word[:1].isdigit()
    if word.isdigit():
        return len(word) < 3 and next_word.lower() in _GERMAN_MONTHS
    if word in _MAYBE_LAST or _DOTTED.fullmatch(word):
        return bool(next_word) and next_word.lower() not in _STARTERS
    return (
        len(word) == 1
        and word.isalpha()
        and not regex.match(rf"[{UNSPACED}]", word)
        and bool(next_word)
    )


# ---- sentence keys -----------------------------------------------------------------------------------------------------


def sentence_key(number: int) -> str:
    """Letters that stand for a sentence's place, from 0: a to z, then aa, ab and so on.

    Raises
    ------
    InputError
        A negative number.

    >>> [sentence_key(number) for number in (0, 25, 26, 27, 701, 702)]
    ['a', 'z', 'aa', 'ab', 'zz', 'aaa']
    """
    if number < 0:
        raise InputError(
            f"a sentence key needs a place from 0 on; got {number}; count sentences from 0"
        )
    before, last = divmod(number, 26)
    return (sentence_key(before - 1) if before else "") + chr(ord("a") + last)


def keyed_sentences(documents: Iterable[str]) -> list[list[list[str]]]:
    """Sentences of each document with their keys, as RAGBench's ``documents_sentences`` holds them.

    Raises
    ------
    InputError
        One text in place of a list of them (see `keyed_response`).

    >>> keyed_sentences(["One. Two.", "Three."])
    [[['0a', 'One.'], ['0b', 'Two.']], [['1a', 'Three.']]]
    """
    if isinstance(documents, str):
        raise InputError(
            "keyed_sentences needs a list of documents; got a text; use keyed_response, or put it in a list"
        )
    return [_keyed(document, str(number)) for number, document in enumerate(documents)]


def keyed_response(response: str) -> list[list[str]]:
    """Sentences of a response with their keys, as RAGBench's ``response_sentences`` holds them.

    >>> keyed_response("Yes. 是的。")
    [['a', 'Yes.'], ['b', '是的。']]
    """
    return _keyed(response, "")


def _keyed(text: str, prefix: str) -> list[list[str]]:
    return [
        [prefix + sentence_key(place), sentence] for place, sentence in enumerate(sentences(text))
    ]
