"""Functions for text in any script: normalisation, scripts, tokens, sentences and sentence keys.

No function needs to know the language of a text. They use the Unicode properties of the characters
and, to find sentences, lists of common abbreviations.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

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
_TOKEN = regex.compile(
    rf"(?V1)(?=[[{UNSPACED}]&&[\p{{L}}\p{{M}}\p{{N}}]])\X|[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]+"
)
# Pattern of one extended grapheme cluster, for searches from the start of a text. A flag emoji is
# a pair of regional indicators. At each flag, ``\X`` alone would count all the flags before it,
# which takes quadratic time. These pairs therefore have a branch of their own.
GRAPHEME = regex.compile(
    r"\p{GCB=Regional_Indicator}{1,2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*|\X"
)
_ONLY_CLOSED = regex.compile(r"\A.*</think>", flags=regex.DOTALL | regex.IGNORECASE)
_REASONING = regex.compile(r"<think>.*?(?:</think>|\Z)", flags=regex.DOTALL | regex.IGNORECASE)


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


def split_reasoning(reply: str) -> tuple[str, str]:
    """Split the reply of a reasoning model into its reasoning and its answer.

    The reasoning consists of all passages between ``<think>`` and ``</think>``, including the tags.
    A passage without a closing tag extends to the end of the reply. Some chat templates contain the
    opening tag, so text before a closing tag without an opening tag is also reasoning. A reply that
    starts with ``{`` and ends with ``}``, such as a JSON object, is treated as having no reasoning.

    Parameters
    ----------
    reply : str
        Reply of the model.

    Returns
    -------
    reasoning : str
        The passages, joined without a separator; empty if there are none.
    answer : str
        The rest of the reply, without white space at either end. If there is no reasoning, it is
        the unchanged reply.

    Examples
    --------
    >>> split_reasoning("<think>Paris or Lyon?</think>\\n\\nParis.")
    ('<think>Paris or Lyon?</think>', 'Paris.')
    >>> split_reasoning("<think>Paris or"), split_reasoning("Paris.")
    (('<think>Paris or', ''), ('', 'Paris.'))
    """
    bare = reply.strip()
    if ">" not in reply or (bare.startswith("{") and bare.endswith("}")):
        return "", reply
    without_passages = _REASONING.sub(lambda found: " " * len(found.group()), reply)
    unopened = _ONLY_CLOSED.match(without_passages)
    start = unopened.end() if unopened else 0
    reasoning = reply[:start] + "".join(_REASONING.findall(reply, start))
    return reasoning, strip_reasoning(reply).strip() if reasoning else reply


def join_reasoning(reasoning: str, answer: str) -> str:
    """Join the reasoning and the answer of a reply into one text.

    Reasoning without a ``<think>`` or ``</think>`` tag is dropped, because the endpoint returned it
    separately from the text of the reply.

    Examples
    --------
    >>> join_reasoning("<think>Paris or Lyon?</think>", "Paris.")
    '<think>Paris or Lyon?</think>Paris.'
    >>> join_reasoning("Paris or Lyon?", "Paris.")
    'Paris.'
    """
    return reasoning + answer if "think>" in reasoning.lower() else answer


def strip_reasoning(text: str) -> str:
    """Remove all reasoning passages, including their tags, from a text.

    `split_reasoning` describes these passages. Unlike that function, this one also removes them
    from a text that starts with ``{`` and ends with ``}``.

    Examples
    --------
    >>> strip_reasoning("<think>Paris or Lyon?</think>Paris.")
    'Paris.'
    """
    return _ONLY_CLOSED.sub("", _REASONING.sub("", text))


def well_formed(text: str) -> str:
    """Replace each unpaired surrogate with U+FFFD, so that the text can be encoded as UTF-8.

    Examples
    --------
    >>> well_formed("a\\ud800b") == "a\\ufffdb"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@lru_cache(maxsize=65536)
def script_of(character: str) -> str | None:
    """Return the Unicode script of a letter.

    Parameters
    ----------
    character : str
        A single character.

    Returns
    -------
    str or None
        Name of the script, or ``"Other"`` if it is not among `SCRIPTS`. None if the character is not
        a letter, or if its script is Common or Inherited, as for the Japanese ー.

    Examples
    --------
    >>> script_of("é"), script_of("中"), script_of("ф"), script_of("7")
    ('Latin', 'Han', 'Cyrillic', None)
    """
    found = _SCRIPT.match(character)
    return found.lastgroup if found else None


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
    found = _LAST_WORD.search(before)
    if not found:
        return False
    word = found.group().lower()
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
