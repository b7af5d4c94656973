"""Functions for text in any script: normalisation, scripts, tokens, sentences and sentence keys.

No function needs to know the language of a text. They use the Unicode properties of the characters
and, to find sentences, lists of common abbreviations.
"""

import json
import unicodedata
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

import regex

from ragnb.errors import InputError

# Scripts that `script_of` distinguishes. A letter of any other script is ``"Other"``.
SCRIPTS = tuple(
    "Latin Han Hiragana Katakana Hangul Cyrillic Greek Arabic Hebrew Devanagari Bengali Tamil "
    "Telugu Kannada Malayalam Gujarati Gurmukhi Oriya Sinhala Thai Lao Khmer Myanmar Tibetan "
    "Ethiopic Georgian Armenian Mongolian Cherokee Canadian_Aboriginal Bopomofo Syriac Thaana Nko "
    "Tifinagh Javanese Yi Coptic Gothic".split()
)

# Scripts that are written without spaces between words, as content of a character class.
UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
)

_SCRIPT = regex.compile(
    r"(?V1)(?=[\p{L}--[\p{Common}\p{Inherited}]])(?:"
    + "|".join(rf"(?P<{name}>\p{{{name}}})" for name in SCRIPTS)
    + "|(?P<Other>.))"
)
_IGNORABLE = regex.compile(
    r"[\u00AD\u061C\u200C-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\p{Variation_Selector}\uFEFF"
    r"\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F]"
)
_LINE_BREAK = regex.compile(r"\r\n|\n|\r")
_TOKEN = regex.compile(
    rf"(?V1)(?=[[{UNSPACED}]&&[\p{{L}}\p{{M}}\p{{N}}]])\X|[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]+"
)
# Pattern of one extended grapheme cluster, for searches from the start of a text. A flag emoji is
# a pair of regional indicators. At each flag, ``\X`` alone would count all the flags before it,
# which takes quadratic time. These pairs therefore have a branch of their own.
GRAPHEME = regex.compile(
    r"\p{GCB=Regional_Indicator}{1,2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*|\X"
)
# Characters that people and models write as an apostrophe. A prime, an okina and a modifier letter
# are among them, because keyboards and fonts make them look alike.
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘‛ʼʻʹʽˈ´`′＇｀՚ꞌ‵ˊˋ΄", "'"))


def fold(text: str) -> str:
    """Normalise a text for caseless comparison.

    The steps are NFKC normalisation, case folding and NFKC again. Each run of white space then
    becomes a single space, and white space at either end is removed.

    Examples
    --------
    >>> fold("  Ｓtraße\\u00a0№ ５ ")
    'strasse no 5'
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def straight_apostrophes(text: str) -> str:
    """Replace every character that people write as an apostrophe with the ASCII apostrophe.

    Among them are the typographic apostrophe, the left quotation mark, the modifier letter, the prime
    and the grave and acute accents that stand alone. Call it before `fold`, which would replace an
    acute accent by a space.

    Examples
    --------
    >>> straight_apostrophes("I don’t, donʼt, don`t, don´t, don＇t")
    "I don't, don't, don't, don't, don't"
    """
    return text.translate(_APOSTROPHES)


def visible(text: str) -> str:
    """Remove invisible format characters and skin-tone modifiers from a text.

    The format characters are zero-width joiners and non-joiners, word joiners, bidirectional
    controls, variation selectors, soft hyphens, byte order marks, invisible operators and tag
    characters. The zero-width space (U+200B) is kept, because it separates words.

    Examples
    --------
    >>> visible("soft\\u00adhyphen")
    'softhyphen'
    """
    return _IGNORABLE.sub("", text)


def is_blank(text: str) -> bool:
    """Return whether a text has no visible character.

    White space, the characters that `visible` removes, and zero-width spaces are not visible.

    Examples
    --------
    >>> is_blank(" \\n"), is_blank("\\ufeff\\u200b"), is_blank("-")
    (True, True, False)
    """
    # The first character decides about most texts.
    start = text.lstrip()[:1]
    if start.isascii():  # no ASCII character is removed, and there may be none
        return not start
    if visible(start).replace("\u200b", ""):
        return False
    return not visible(text).replace("\u200b", "").strip()


def well_formed(text: str) -> str:
    """Replace each unpaired surrogate with U+FFFD, so that the text can be encoded as UTF-8.

    Examples
    --------
    >>> well_formed("a\\ud800b") == "a\\ufffdb"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def lines_of(text: str) -> list[str]:
    """Split the text of a file or of a reply into lines.

    A line ends at a line feed, at a carriage return, or at both. ``str.splitlines`` also splits at characters that JSON and
    CSV may contain inside of a text, such as the line separator U+2028 and the next line U+0085.

    Examples
    --------
    >>> lines_of("one\\u2028line\\r\\ntwo")
    ['one\\u2028line', 'two']
    """
    return _LINE_BREAK.split(text)


@lru_cache(maxsize=65536)
def script_of(character: str) -> str | None:
    """Return the Unicode script of a letter, or ``"Other"`` if it is not among `SCRIPTS`.

    The result is None if the character is not a letter, or if its script is Common or Inherited, as for
    the Japanese ー.

    >>> script_of("é"), script_of("中"), script_of("ф"), script_of("7")
    ('Latin', 'Han', 'Cyrillic', None)
    """
    letter = _SCRIPT.match(character)
    return letter.lastgroup if letter else None


def scripts(text: str) -> Counter[str]:
    """Count the letters of each script in a text; `script_of` defines the scripts.

    Examples
    --------
    >>> scripts("答案是 4429 meters") == {"Han": 3, "Latin": 6}
    True
    """
    return Counter(filter(None, map(script_of, text)))


def graphemes(text: str) -> list[str]:
    """Split a text into user-perceived characters.

    These characters are the extended grapheme clusters of Unicode (UAX #29).

    Examples
    --------
    >>> graphemes("e\\u0301👩‍🔬") == ["e\\u0301", "👩‍🔬"]
    True
    """
    if text.isascii() and "\r\n" not in text:  # \r\n is the only cluster of two characters in ASCII
        return list(text)
    return GRAPHEME.findall(text)


def tokens(text: str) -> list[str]:
    """Split a text into tokens of letters, marks and numbers.

    In most scripts, a token is a maximal run of these characters. In Han, Hiragana, Katakana,
    Bopomofo, Thai, Lao, Khmer, Myanmar and Tibetan, which do not separate words with spaces, each
    grapheme cluster is a token.

    Parameters
    ----------
    text : str
        Text in one or several scripts. Characters that `visible` removes are ignored.

    Returns
    -------
    list of str
        The tokens in order. Letter case and compatibility forms are unchanged; use `fold` first to
        normalise them.

    Examples
    --------
    >>> tokens("GDP 增长 8.1%, don't")
    ['GDP', '增', '长', '8', '1', 'don', 't']
    """
    return _TOKEN.findall(visible(text))


# ---- reasoning -----------------------------------------------------------------------------------

# Tags around reasoning, such as <think>, <thinking>, <thought> and <reasoning>, also with the prefix
# or suffix of a model: <seed:think>, <mm:think>, <longcat_think>, <ifm|think_fast>.
_TAG_NAMES = r"(?:[a-z]\w{0,20}[:|_])?(?:think(?:ing)?|thoughts?|reasoning)(?:[:|_]\w{1,20})?"
# These words are also tags of ordinary documents, so they count only at the start of a reply.
_NAMES_AT_START = ("reason", "analysis", "reflection", "scratchpad")
# Opening and closing marks that are not such tags.
_PAIRS = {
    "magistral": (r"(?-i:\[THINK\])", r"(?-i:\[/THINK\])"),
    "thinking": (r"(?-i:\[THINKING\])", r"(?-i:\[/THINKING\])"),
    "reasoning": (r"(?-i:\[REASONING\])", r"(?-i:\[/REASONING\])"),
    "kimi": ("◁think▷", "◁/think▷"),
    "openthinker": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    "command_a": (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    "apertus": (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    "solar": (r"<\|think:start\|>", r"<\|think:end\|>"),
    "plamo": (r"<\|plamo:begin_think:plamo\|>", r"<\|plamo:end_think:plamo\|>"),
    "gemma": (r"<\|channel>(?:thought\b)?", r"<channel\|>"),
    "medgemma": (r"<unused94>(?:thought\b)?", r"<unused95>"),
    "pangu": (r"\[unused16\]", r"\[unused17\]"),
    "open_webui": (r"<details\s[^<>]{0,100}\btype=\"reasoning\"[^<>]{0,200}>", r"</details>"),
    "granite": (r"\A\s*+Here(?:['’]s| is) my thought process:", r"Here(?:['’]s| is) my response:"),
    "apriel": (r"\A\s*+Here are my reasoning steps:", r"(?-i:\[BEGIN FINAL RESPONSE\])"),
    "ollama": (r"\A\s*+Thinking\.\.\.[^\S\n]*+\n", r"\.\.\.done thinking\."),
}
# The closing marks of these occur in ordinary texts, so they count only after an opening mark.
_NEVER_ALONE = frozenset(["open_webui", "granite", "ollama", *_NAMES_AT_START])
# These opening marks are ordinary sentences, so they count only before a closing mark.
_NEVER_UNCLOSED = frozenset(["granite", "apriel", "ollama"])
_MARK = regex.compile(
    rf"<(?P<closing>/)?[ ]?(?P<tag>{_TAG_NAMES}|{'|'.join(_NAMES_AT_START)})(?:\s[^<>]{{0,200}})?(?P<empty>/)?>"
    + "".join(
        rf"|(?P<open_{name}>{opening})|(?P<close_{name}>{closing})"
        for name, (opening, closing) in _PAIRS.items()
    ),
    flags=regex.IGNORECASE,
)

# Every mark contains one of the signs < and ◁, one of these beginnings after a bracket, or one of these
# words, in any letter case. Most replies have none of them, and looking for them takes much less time than
# looking for the marks. A citation such as [1] is none of these beginnings.
_BRACKETS_OF_MARKS = regex.compile(
    r"\[(?:/?thinking|/?think|/?reasoning|unused|begin|end)", regex.IGNORECASE
)
_WORDS_OF_MARKS = (
    "my thought process:",
    "my response:",
    "thinking",
    "analysis",
    "commentary",
    "assistantfinal",
)
# So many replies are searched at once. In larger batches, one with such a word is more frequent.
_BATCH_OF_REPLIES = 32

# A channel of the harmony format, which gpt-oss writes:
# <|start|>assistant<|channel|>analysis<|message|>…<|end|>
_CHANNEL = regex.compile(
    r"(?P<start><\|start\|>[^<]{0,80}|assistant)?<\|channel\|>\s?(?P<channel>[a-z]*)"
    r"(?:[^<]{0,200}(?:<\|constrain\|>[^<]{0,80})?<\|message\|>)?"
    r"|\A\s*+(?P<channel>analysis|commentary|final)[^<]{0,80}<\|message\|>"
)
_END_OF_CHANNEL = regex.compile(r"<\|(?:end|return|call)\|>")
_HEADER_WITHOUT_CHANNEL = regex.compile(r"\s*+(?:<\|start\|>[a-z]*)?(?:<\|message\|>)?")
# The same format, if the server drops the special tokens: analysis…assistantfinal…
_BARE_ANALYSIS = regex.compile(
    r"""\A\s*+(?:assistant)?analysis(?![A-Za-z0-9_.]*+\s*+\Z)(?=[\p{Lu}\p{Lo}\d"“'<])"""
)
_BARE_START = regex.compile(r"\A\s*+(?:assistant)?(?:analysis|commentary)")
_BARE_FINAL = regex.compile(r"assistantfinal(?![.,;:!?…)’”])(?:\s?json(?=\s*+[{\[]))?")
# Without the start of the reasoning, the word can also be one of a sentence.
_BARE_FINAL_ALONE = regex.compile(r"(?<![\p{L}\p{N}_])(?!assistantfinal )" + _BARE_FINAL.pattern)

# Tags around the answer, which some models write after their reasoning.
_ANSWER_NAMES = "answer|final_answer|final|output|response|solution"
_ANSWER_OPENS = regex.compile(
    rf"<(?:{_ANSWER_NAMES})>|<\|begin_of_solution\|>|<\|START_(?:RESPONSE|TEXT)\|>",
    flags=regex.IGNORECASE,
)
_ANSWER_CLOSES = regex.compile(
    rf"(?:</(?:{_ANSWER_NAMES})>|<\|end_of_solution\|>|<\|END_(?:RESPONSE|TEXT)\|>)\s*+\Z",
    flags=regex.IGNORECASE,
)
# Apriel closes the answer with a mark of its own. The mark that opens the answer ends the reasoning.
_ANSWER_ENDS = regex.compile(r"\[END FINAL RESPONSE\]\s*+(?:<\|end\|>\s*+)?\Z")

_QUOTES = "\"'`“”„‘’«»「」『』"
# A mark between a word and a lower-case word or punctuation is a word of the sentence itself.
_AFTER_WORD = regex.compile(r"[^\s.!?…。！？>][^\S\n]\Z|\(\Z")
_BEFORE_WORD = regex.compile(r"[^\S\n]\p{Ll}|[.,;:!?)\]}…]|\s*+\Z")
_MIDDLE_OF_SENTENCE = regex.compile(r"[^\S\n]\p{Ll}|[,;:)]")
_FENCED = regex.compile(r"(?ms)^[^\S\n]*```[^`\n]*\n.*?^[^\S\n]*```[^\S\n]*$")
_JSON_START = regex.compile(r"""\{\s*+["}]|\[\s*+["{\[]""")
# Each error takes time in proportion to the length of the text.
_MOST_JSON_ERRORS = 100
_JSON_DECODER = json.JSONDecoder(strict=False)


class Reasoning(NamedTuple):
    """The reasoning of a reply and its answer.

    ``is_unfinished`` is True if a mark opens reasoning that no mark closes, as in a reply that was
    cut off. The reasoning then extends to the end of the reply.
    """

    reasoning: str
    answer: str
    is_unfinished: bool = False


class _Mark(NamedTuple):
    """A mark of reasoning, with its name and its place in the reply."""

    name: str
    start: int
    end: int
    is_closing: bool
    is_empty: bool = False  # such as <think/>


def split_reasoning(reply: str) -> tuple[str, str]:
    """Split the reply of a reasoning model into its reasoning and its answer; see `read_reasoning`.

    >>> split_reasoning("<think>Paris or Lyon?</think>\\n\\nParis.")
    ('<think>Paris or Lyon?</think>', 'Paris.')
    >>> split_reasoning("<think>Paris or"), split_reasoning("Paris.")
    (('<think>Paris or', ''), ('', 'Paris.'))
    """
    return read_reasoning(reply)[:2]


@lru_cache(maxsize=4096)
def read_reasoning(reply: str) -> Reasoning:
    """Find the reasoning in a reply by the marks that models and servers write around it.

    ==================================================  ==========================================
    Marks                                               Written by
    ==================================================  ==========================================
    ``<think>…</think>``                                DeepSeek, Qwen and most open models
    ``<thinking>``, ``<thought>``, ``<reasoning>``,     prompted models, EXAONE, Gemini, Seed-OSS,
    ``<seed:think>``, ``<mm:think>`` and similar tags   MiniMax, LongCat, K2
    ``<reason>``, ``<analysis>``, ``<reflection>``,     prompted models; only at the start of the
    ``<scratchpad>``                                    reply
    ``[THINK]…[/THINK]``                                Magistral; also ``THINKING``, ``REASONING``
    ``<|channel|>analysis<|message|>…<|end|>`` and      gpt-oss (harmony); the channel ``final`` is
    ``analysis…assistantfinal…``                        the answer
    ``◁think▷…◁/think▷``                                Kimi
    ``<|begin_of_thought|>…<|end_of_thought|>``         OpenThinker, Sky-T1
    ``<|START_THINKING|>…<|END_THINKING|>``             Command A
    ``<|channel>thought…<channel|>``                    Gemma; ``<unused94>…<unused95>`` in MedGemma
    ``<|inner_prefix|>``, ``<|think:start|>``,          Apertus, Solar, PLaMo, Pangu
    ``<|plamo:begin_think:plamo|>``, ``[unused16]``
    ``Here is my thought process:`` …                   Granite
    ``Here is my response:``
    ``Here are my reasoning steps:`` …                  Apriel
    ``[BEGIN FINAL RESPONSE]``
    ``Thinking...`` … ``...done thinking.``             the command line of Ollama
    ``<details type="reasoning">…</details>``           Open WebUI
    ==================================================  ==========================================

    A passage without a closing mark extends to the end of the reply. Some chat templates contain the
    opening mark, so text before a closing mark without an opening mark is also reasoning. Tags around
    the answer that follows, such as ``<answer>``, are removed.

    A mark is only text if it is inside a JSON object or in quotation marks or backticks. The same
    holds for a pair of marks in one block of code or in the middle of a sentence, for an opening mark
    that is used like a word in the middle of a line and never closed, and for a closing mark that is
    never opened and is followed by punctuation. *Here is my thought process*, *Here are my reasoning
    steps* and *Thinking...* are only text if no closing mark follows.

    The reasoning consists of the passages with their marks, joined without a separator. The answer is the
    rest without white space at either end, or the unchanged reply if there is no reasoning.

    The marks are those that the models' chat templates define and that vLLM, SGLang and llama.cpp
    recognise. The time is proportional to the length of the reply.

    >>> read_reasoning("[THINK]Paris or Lyon?[/THINK]Paris.").answer
    'Paris.'
    >>> read_reasoning("<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>Paris.").answer
    'Paris.'
    >>> read_reasoning("<thinking>Paris or")
    Reasoning(reasoning='<thinking>Paris or', answer='', is_unfinished=True)
    >>> read_reasoning("The tag `<think>` marks reasoning.").reasoning
    ''
    """
    if not may_have_reasoning(reply):
        return Reasoning("", reply)
    return _by_channels(reply) or _by_bare_channels(reply) or _by_marks(reply)


def may_have_reasoning(reply: str) -> bool:
    """Return False if a quick look shows that a reply has no mark of `read_reasoning`."""
    if "<" in reply or "◁" in reply or ("[" in reply and _BRACKETS_OF_MARKS.search(reply)):
        return True
    folded = reply.casefold()
    return any(map(folded.__contains__, _WORDS_OF_MARKS))


def places_of_reasoning(replies: Sequence[str | None]) -> list[int]:
    """Places of the replies for which `may_have_reasoning` is true.

    Few replies have a mark, so one search of a batch of replies saves a search of each.

    >>> places_of_reasoning(["Oslo", None, "<think>Oslo?</think>Oslo", "Thinking... Oslo"])
    [2, 3]
    """
    places = []
    for start in range(0, len(replies), _BATCH_OF_REPLIES):
        batch = replies[start : start + _BATCH_OF_REPLIES]
        if not may_have_reasoning("\n".join(filter(None, batch))):
            continue
        for place, reply in enumerate(batch, start):
            if reply and may_have_reasoning(reply):
                places.append(place)
    return places


def strip_reasoning(text: str) -> str:
    """Remove all reasoning from a text; `read_reasoning` defines what counts as reasoning.

    Examples
    --------
    >>> strip_reasoning("<think>Paris or Lyon?</think>Paris.")
    'Paris.'
    """
    return read_reasoning(text).answer


def join_reasoning(reasoning: str, answer: str) -> str:
    """Join the reasoning and the answer of a reply into one text.

    Reasoning without any mark of `read_reasoning` is dropped, because the endpoint returned it
    separately from the text of the reply.

    Examples
    --------
    >>> join_reasoning("<think>Paris or Lyon?</think>", "Paris.")
    '<think>Paris or Lyon?</think>Paris.'
    >>> join_reasoning("Paris or Lyon?", "Paris.")
    'Paris.'
    """
    return reasoning + answer if read_reasoning(reasoning).reasoning else answer


def _by_marks(reply: str) -> Reasoning:
    """The reasoning between pairs of marks."""
    marks = list(_marks(reply))
    fences = [match.span() for match in _FENCED.finditer(reply)] if marks else []
    closings: dict[str, deque[_Mark]] = {}
    for mark in marks:
        if mark.is_closing:
            closings.setdefault(mark.name, deque()).append(mark)
    passages: list[tuple[int, int]] = []
    is_unfinished = False
    read_until = 0  # marks before this place belong to a passage or are text
    checked, is_start = 0, True  # whether there is no answer up to the place that was checked
    for mark in marks:
        if mark.start < read_until:
            continue
        is_start = is_start and not reply[checked : mark.start].strip()
        checked = mark.start
        if mark.is_closing:
            if mark.name not in _NEVER_ALONE and not _is_text(reply, mark):
                # The template of the model contains the opening mark.
                passages = [(0, mark.end)]
                read_until, checked, is_start = mark.end, mark.end, True
            continue
        if mark.name in _NAMES_AT_START and not is_start:
            continue
        closing = mark if mark.is_empty else _closing_of(mark, closings)
        if closing is None and mark.name in _NEVER_UNCLOSED:
            continue
        if closing and _are_in_one(fences, mark, closing):
            read_until = closing.end
            continue
        if _is_pair_of_words(reply, mark, closing, is_start):
            read_until = closing.end if closing else mark.end
            continue
        end = closing.end if closing else _end_of_unclosed(reply, mark, marks)
        is_unfinished = closing is None and end == len(reply)
        passages.append((mark.start, end))
        read_until = checked = end
    if not passages:
        return Reasoning("", reply)
    starts = [start for start, _ in passages]
    ends = [end for _, end in passages]
    between = zip([0, *ends], [*starts, len(reply)], strict=True)
    answer = "".join(reply[end:start] for end, start in between)
    reasoning = "".join(reply[start:end] for start, end in passages)
    return Reasoning(reasoning, _without_answer_tags(answer.strip()), is_unfinished)


def _marks(reply: str) -> Iterator[_Mark]:
    """The marks of a reply that are not inside a JSON object."""
    spans = deque[tuple[int, int]]()
    bare = reply.strip()
    # A reply that is one object may be Python rather than JSON, so its braces are counted.
    is_object = bare.startswith("{") and bare.endswith("}")
    depth = counted = 0
    for match in _MARK.finditer(reply):
        if not counted:
            spans = deque(_json_spans(reply))
        depth += reply.count("{", counted, match.start()) - reply.count("}", counted, match.start())
        counted = match.start()
        while spans and spans[0][1] <= match.start():
            spans.popleft()
        if (spans and spans[0][0] < match.start()) or (is_object and depth > 0):
            continue
        if match["tag"]:
            name, is_closing = match["tag"].lower(), bool(match["closing"])
            yield _Mark(name, match.start(), match.end(), is_closing, bool(match["empty"]))
        else:
            form, _, name = str(match.lastgroup).partition("_")
            yield _Mark(name, match.start(), match.end(), form == "close")


def _json_spans(text: str) -> Iterator[tuple[int, int]]:
    """The outermost JSON objects and lists of a text."""
    start, n_errors = _JSON_START.search(text), 0
    while start and n_errors < _MOST_JSON_ERRORS:
        try:
            _, end = _JSON_DECODER.raw_decode(text, start.start())
            yield start.start(), end
        except json.JSONDecodeError as error:
            end = max(error.pos, start.start() + 1)
            n_errors += 1
        except RecursionError:
            return
        start = _JSON_START.search(text, end)


def _closing_of(mark: _Mark, closings: dict[str, deque[_Mark]]) -> _Mark | None:
    """The next closing mark of the same name."""
    following = closings.get(mark.name, deque())
    while following and following[0].start < mark.start:
        following.popleft()
    return following[0] if following else None


def _end_of_unclosed(reply: str, mark: _Mark, marks: list[_Mark]) -> int:
    """Where reasoning ends whose opening mark has no closing mark of the same name."""
    for other in reversed(marks):
        if other.start < mark.end:
            break
        if other.is_closing:  # such as <thinking>…</think>
            return other.end
    # Some models go on with the answer in tags of its own.
    closing = _ANSWER_CLOSES.search(reply, mark.end)
    openings = list(_ANSWER_OPENS.finditer(reply, mark.end)) if closing else []
    return openings[-1].start() if openings else len(reply)


def _is_text(reply: str, mark: _Mark) -> bool:
    """Return whether a mark is quoted or used like a word of a sentence, as in *the <think> tag*."""
    if _is_quoted(reply, mark.start, mark.end):
        return True
    is_after_word = _AFTER_WORD.search(reply[max(0, mark.start - 2) : mark.start])
    return bool(is_after_word and _BEFORE_WORD.match(reply, mark.end))


def _is_pair_of_words(reply: str, mark: _Mark, closing: _Mark | None, is_start: bool) -> bool:
    """Return whether an opening mark and its closing mark, if there is one, are only text."""
    if _is_quoted(reply, mark.start, closing.end if closing else mark.end):
        return True
    if is_start and not _is_quoted(reply, mark.start, mark.end):
        return False
    if closing and _is_in_sentence(reply, mark.start, closing.end):
        return True
    return _is_text(reply, mark) and (closing is None or _is_text(reply, closing))


def _is_in_sentence(reply: str, start: int, end: int) -> bool:
    """Return whether a passage without a line break is in the middle of a sentence."""
    is_after_word = _AFTER_WORD.search(reply[max(0, start - 2) : start])
    is_in_middle = is_after_word and _MIDDLE_OF_SENTENCE.match(reply, end)
    return bool(is_in_middle) and "\n" not in reply[start:end]


def _are_in_one(fences: list[tuple[int, int]], opening: _Mark, closing: _Mark) -> bool:
    """Return whether two marks are in the same fenced block of code."""
    place = bisect_right(fences, opening.start, key=itemgetter(0)) - 1
    return place >= 0 and closing.end <= fences[place][1]


def _is_quoted(reply: str, start: int, end: int) -> bool:
    before, after = reply[max(0, start - 1) : start], reply[end : end + 1]
    return bool(before and after) and before in _QUOTES and after in _QUOTES


def _without_answer_tags(answer: str) -> str:
    """An answer without the tags around it, such as <answer>."""
    answer = _ANSWER_ENDS.sub("", answer).rstrip()
    opening = _ANSWER_OPENS.match(answer)
    if not opening:
        return answer
    closing = _ANSWER_CLOSES.search(answer, opening.end())
    return answer[opening.end() : closing.start() if closing else len(answer)].strip()


def _by_channels(reply: str) -> Reasoning | None:
    """The reasoning in channels of the harmony format; None if the reply has none."""
    channels = [match for match in _CHANNEL.finditer(reply) if not _is_quoted(reply, *match.span())]
    if not channels:
        return None
    before = reply[: channels[0].start()]
    end_of_first = _END_OF_CHANNEL.search(before)
    if before.strip() and not end_of_first and not channels[0]["start"]:
        return None  # a text about the format
    passages: list[str] = []
    answers: list[str] = []
    if end_of_first or channels[0]["channel"] == "final":
        # The template of the model contains the start of the first channel.
        passages.append(before)
    else:
        answers.append(before)
    is_open = False
    starts = [match.start() for match in channels[1:]]
    for channel, next_start in zip(channels, [*starts, len(reply)], strict=True):
        end = _END_OF_CHANNEL.search(reply, channel.end(), next_start)
        end_of_text = end.start() if end else next_start
        if channel["channel"] == "final":
            passages.append(channel.group())
            answers.append(reply[channel.end() : end_of_text])
        else:
            passages.append(reply[channel.start() : end.end() if end else next_start])
        if end:
            # llama.cpp drops the header of the last channel, which is the answer.
            header = _HEADER_WITHOUT_CHANNEL.match(reply, end.end(), next_start)
            answers.append(reply[header.end() if header else end.end() : next_start])
        is_open = end is None and channel["channel"] != "final"
    answer = _END_OF_CHANNEL.sub("", "".join(answers)).strip()
    return Reasoning("".join(passages), answer, is_open)


def _by_bare_channels(reply: str) -> Reasoning | None:
    """The reasoning in channels whose special tokens were dropped; None if the reply has none."""
    pattern = _BARE_FINAL if _BARE_START.match(reply) else _BARE_FINAL_ALONE
    finals = [match for match in pattern.finditer(reply) if not _is_quoted(reply, *match.span())]
    if finals:
        end = finals[-1].end()
        return Reasoning(reply[:end], reply[end:].strip())
    return Reasoning(reply, "", True) if _BARE_ANALYSIS.match(reply) else None


# ---- sentences -----------------------------------------------------------------------------------

_NEVER_LAST = frozenset(
    "mr mrs ms mx dr prof rev hon st sr jr gen col lt capt sgt gov sen rep vs cf viz approx ca "
    "e.g i.e eg ie "
    "ed eds al dept est z.b d.h bzw ggf s.o s.u г ул им т.е т.д डॉ".split()
)
_BEFORE_NUMBER = frozenset("no nos nr fig figs eq eqs sec ch vol vols pp art № str".split())
_GERMAN_MONTHS = frozenset(
    "januar februar märz april mai juni juli august september oktober november dezember".split()
)
_MAYBE_LAST = frozenset(
    "inc ltd co corp bros univ jan feb mar apr jun jul aug sep sept oct nov dec "
    "mon tue wed thu fri sat sun mt ft av ave blvd rd".split()
)
# Words that start a sentence far more often than they follow an initial or an abbreviation in a
# name. Particles of names, such as *De*, *La*, *Le*, *Van* and *Di*, are not among them.
_STARTERS = frozenset(
    "the a an it its in on at by for from to of he she they we i you this that these those there "
    "here his her their our but and or if when while after before as since because however "
    "although what who where why how not no my your then thus therefore hence so also yet still "
    "though unless until once with without within during under over between among through despite "
    "instead moreover furthermore additionally finally first second third next later today now "
    "meanwhile otherwise overall both each every all some many most several few other others "
    "another one any such it's that's there's he's she's they're is are was were do does did can "
    "could will would should may might must has have had which whose yes please note see "
    "die dies diese dieser dieses es er sie wir ihr ein eine einer im am auf aus bei mit nach von vor "
    "für und aber oder dann danach deshalb daher außerdem wenn weil als wie wer wo auch nicht "
    "il elle ils elles nous vous je ce cette ces cet les une dans pour mais puis ensuite donc "
    "ella ellos este esta esto estos estas el los las una por para pero luego entonces también "
    "gli nel nella questo questa poi però anche het een maar deze dit".split()
)
# Words that are followed by a letter that is a label, as in "Vitamin C.", and not an initial.
_LABELLED = frozenset(
    "vitamin vitamins provitamin hepatitis influenza option options answer answers choice choices "
    "plan group groups grade type types class category appendix section part point points phase "
    "figure table exhibit chapter line letter team vitamina vitamine antwort lösung punkt typ "
    "gruppe klasse réponse respuesta opción risposta".split()
)
_HARD = "。！？｡؟۔।॥։።፧។៕။༎"  # These end a sentence regardless of what follows.
_BREAK = regex.compile(
    rf"""(?:[{_HARD}]+|[.!?…‽]+|(?<=\p{{Greek}}\p{{M}}*)[;\u037E])  # a terminator
         [\p{{Pe}}\p{{Pf}}"'“”’«»]*  # closing brackets and quotation marks
       | (?:\r?\n[^\S\n]*){{2,}}  # an empty line
       | \n(?=[^\S\n]*(?:[-*•‣–]|\d{{1,3}}[.)])\s)  # a list item on the next line
    """,
    flags=regex.VERBOSE,
)
_DOTTED = regex.compile(r"(?:\p{L}{1,3}\.)+\p{L}{1,3}")
_LONGEST_ABBREVIATION = 40
_LAST_WORD = regex.compile(r"[\p{L}\p{M}\p{N}.]+\Z")
_SPACED_ABBREVIATION = regex.compile(r"\b(?:z\.\s*b|d\.\s*h|u\.\s*a|e\.\s*g|i\.\s*e|т\.\s*е)\Z")
_NEXT_WORD = regex.compile(r"\s*[\p{P}\p{S}]*([\p{L}\p{M}\p{N}]*(?:['’]\p{L}+)?)")
# The label and what may be between it and its letter: "Option B", "The answer is: (B)".
_LABEL = regex.compile(
    r"([\p{L}\p{M}]+)(?:\s+(?:is|was|are|ist|est|es|è))?\s*:?\s*[\p{P}]*\s*\p{L}\Z",
    flags=regex.IGNORECASE,
)
_ENUMERATOR = regex.compile(r"\(?(?:\d{1,3}|\p{L})")


def sentences(text: str) -> list[str]:
    """Split a text into sentences by punctuation and line breaks.

    The function recognises the sentence-ending punctuation of many scripts, such as Latin, Greek,
    Chinese, Arabic, Devanagari, Armenian, Ethiopic, Khmer and Burmese. Empty lines and list items
    also separate sentences, whereas the periods of list numbers, common abbreviations, initials and
    decimals do not. A period, question mark or exclamation mark before a lower-case letter does not
    end a sentence. Thai and Lao do not mark the end of a sentence, so text in these languages is
    split only at empty lines, list items and the punctuation of other scripts.

    Parameters
    ----------
    text : str
        Text in any language.

    Returns
    -------
    list of str
        The sentences in order, without white space at either end. None of them is empty.

    Examples
    --------
    >>> sentences("Dr. No paid 3.5 million. Really? 是的。他走了。")
    ['Dr. No paid 3.5 million.', 'Really?', '是的。', '他走了。']
    """
    pieces, start = [], 0
    for mark in _BREAK.finditer(text):
        if _ends_sentence(text, start, mark):
            pieces.append(text[start : mark.end()])
            start = mark.end()
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _ends_sentence(text: str, start: int, mark: regex.Match[str]) -> bool:
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
    # Without this limit, the time would grow with the square of the length of the text.
    before = text[max(start, mark.start() - _LONGEST_ABBREVIATION) : mark.start()]
    after = text[upcoming.end() : upcoming.end() + 1] if upcoming else ""
    return sign != "." or not _is_abbreviation(
        before.lstrip(), next_word, _starts(next_word, after)
    )


def _starts(word: str, after: str) -> bool:
    """Whether a word, and the character after it, look like the start of a sentence.

    In "J. A. Smith" and "K. He, X. Zhang", the second word is an initial or a surname.
    """
    is_initial = len(word) == 1 and after == "."
    is_surname = len(word) < 4 and after == ","
    return word.lower().replace("’", "'") in _STARTERS and not is_initial and not is_surname


def _is_abbreviation(before: str, next_word: str, next_starts: bool) -> bool:
    if _ENUMERATOR.fullmatch(before):
        return bool(next_word)  # "1. Open the box."
    last_word = _LAST_WORD.search(before)
    if not last_word:
        return False
    word = last_word.group().lower()
    if word in _NEVER_LAST or _SPACED_ABBREVIATION.search(before.lower()):
        return bool(next_word)
    if word in _BEFORE_NUMBER:
        return next_word[:1].isdigit()
    if word.isdigit():
        return len(word) < 3 and next_word.lower() in _GERMAN_MONTHS
    if word in _MAYBE_LAST or _DOTTED.fullmatch(word):
        return bool(next_word) and not next_starts
    is_initial = len(word) == 1 and word.isalpha() and not regex.match(rf"[{UNSPACED}]", word)
    label = _LABEL.search(before)
    if label and label.group(1).lower() in _LABELLED:
        return False
    return is_initial and bool(next_word) and not next_starts


# ---- sentence keys -------------------------------------------------------------------------------


def sentence_key(number: int) -> str:
    """Return the key of the sentence at a position, counted from 0: a to z, then aa, ab and so on.

    Examples
    --------
    >>> [sentence_key(number) for number in (0, 25, 26, 27, 701, 702)]
    ['a', 'z', 'aa', 'ab', 'zz', 'aaa']
    """
    before, last = divmod(number, 26)
    return (sentence_key(before - 1) if before else "") + chr(ord("a") + last)


def keyed_sentences(documents: Iterable[str]) -> list[list[list[str]]]:
    """Split documents into [key, sentence] pairs, as in RAGBench's ``documents_sentences``.

    There is one list for each document. A key consists of the position of the document, counted
    from 0, and the `sentence_key`. For a single text, use `keyed_response`.

    Examples
    --------
    >>> keyed_sentences(["One. Two.", "Three."])
    [[['0a', 'One.'], ['0b', 'Two.']], [['1a', 'Three.']]]
    """
    if isinstance(documents, str):
        raise InputError(
            "keyed_sentences needs a list of documents, got a single text; put it in a list, "
            "or use keyed_response"
        )
    return [_keyed(document, str(number)) for number, document in enumerate(documents)]


def keyed_response(response: str) -> list[list[str]]:
    """Split a response into [key, sentence] pairs, as in RAGBench's ``response_sentences``.

    Examples
    --------
    >>> keyed_response("Yes. 是的。")
    [['a', 'Yes.'], ['b', '是的。']]
    """
    return _keyed(response, "")


def _keyed(text: str, prefix: str) -> list[list[str]]:
    return [
        [prefix + sentence_key(place), sentence] for place, sentence in enumerate(sentences(text))
    ]
