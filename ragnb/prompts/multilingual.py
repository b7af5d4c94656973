"""What a multilingual experiment asks of a model, in our own words: answers in the question's language, and translations.

``chat`` instructs; it works for every language of `LANGUAGE_NAMES`. ``few_shot`` shows examples and is a text for base
models to continue; it is there for the languages of `SHOTS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragnb.errors import InputError, check_choice
from ragnb.prompts.template import Message, Template

PROMPTS = ("chat", "few_shot")

LANGUAGE_NAMES = dict(
    entry.split(":")
    for entry in (
        "af:Afrikaans, am:Amharic, ar:Arabic, as:Assamese, az:Azerbaijani, be:Belarusian, bg:Bulgarian, bn:Bengali, "
        "bo:Tibetan, bs:Bosnian, ca:Catalan, cs:Czech, cy:Welsh, da:Danish, de:German, dv:Dhivehi, dz:Dzongkha, el:Greek, "
        "en:English, eo:Esperanto, es:Spanish, et:Estonian, eu:Basque, fa:Persian, fi:Finnish, fil:Filipino, fr:French, "
        "ga:Irish, gl:Galician, gu:Gujarati, ha:Hausa, he:Hebrew, hi:Hindi, hr:Croatian, ht:Haitian Creole, hu:Hungarian, "
        "hy:Armenian, id:Indonesian, ig:Igbo, is:Icelandic, it:Italian, ja:Japanese, jv:Javanese, ka:Georgian, kk:Kazakh, "
        "km:Khmer, kn:Kannada, ko:Korean, ku:Kurdish, ky:Kyrgyz, la:Latin, lo:Lao, lt:Lithuanian, lv:Latvian, mg:Malagasy, "
        "mk:Macedonian, ml:Malayalam, mn:Mongolian, mr:Marathi, ms:Malay, mt:Maltese, my:Burmese, nb:Norwegian, ne:Nepali, "
        "nl:Dutch, nn:Norwegian Nynorsk, no:Norwegian, or:Odia, pa:Punjabi, pl:Polish, ps:Pashto, pt:Portuguese, "
        "ro:Romanian, ru:Russian, sa:Sanskrit, sd:Sindhi, si:Sinhala, sk:Slovak, sl:Slovenian, so:Somali, sq:Albanian, "
        "sr:Serbian, sv:Swedish, sw:Swahili, ta:Tamil, te:Telugu, tg:Tajik, th:Thai, ti:Tigrinya, tl:Tagalog, tr:Turkish, "
        "ug:Uyghur, uk:Ukrainian, ur:Urdu, uz:Uzbek, vi:Vietnamese, xh:Xhosa, yi:Yiddish, yo:Yoruba, zh:Chinese, "
        "zh_cn:Simplified Chinese, zh_hk:Traditional Chinese, zh_tw:Traditional Chinese, zu:Zulu"
    ).split(", ")
)
"""Language code → its English name, for instructions; every code whose writing ragnb knows."""

# ---- instructions ------------------------------------------------------------------------------------------------------

ANSWER = Template(
    name="multilingual.answer",
    version=1,
    system=(
        "You answer questions with the help of texts, which may be in several languages. Reply with the answer alone, in as "
        "few words as possible, and in {language}."
    ),
    user="Texts:\n{passages}\n\nQuestion: {question}",
)
CLOSED_BOOK = Template(
    name="multilingual.closed_book",
    version=1,
    system="You answer questions. Reply with the answer alone, in as few words as possible, and in {language}.",
    user="Question: {question}",
)
TRANSLATE = Template(
    name="multilingual.translate",
    version=1,
    system="You translate from {source} into {language}. Reply with the translation alone.",
    user="{text}",
)

# ---- examples to continue ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shots:
    """One language's part of the examples: the three headings, and texts with a question and its answer.

    The texts say the same in every language, so that any two languages make examples of a translation.
    """

    headings: tuple[str, str, str]
    texts: tuple[tuple[str, str, str], ...]


SHOTS = {
    "en": Shots(
        ("Text: ", "Question: ", "Answer: "),
        (
            (
                "Lake Tana lies in Ethiopia. The Blue Nile leaves it.",
                "Which river leaves Lake Tana?",
                "the Blue Nile",
            ),
            ("A spider has eight legs. An insect has six.", "How many legs has a spider?", "eight"),
            (
                "Bram Stoker's novel Dracula appeared in 1897.",
                "In which year did Dracula appear?",
                "1897",
            ),
        ),
    ),
    "de": Shots(
        ("Text: ", "Frage: ", "Antwort: "),
        (
            (
                "Der Tanasee liegt in Äthiopien. Aus ihm fließt der Blaue Nil.",
                "Welcher Fluss fließt aus dem Tanasee?",
                "der Blaue Nil",
            ),
            (
                "Eine Spinne hat acht Beine. Ein Insekt hat sechs.",
                "Wie viele Beine hat eine Spinne?",
                "acht",
            ),
            (
                "Bram Stokers Roman Dracula erschien 1897.",
                "In welchem Jahr erschien Dracula?",
                "1897",
            ),
        ),
    ),
    "ru": Shots(
        ("Текст: ", "Вопрос: ", "Ответ: "),
        (
            (
                "Озеро Тана находится в Эфиопии. Из него вытекает Голубой Нил.",
                "Какая река вытекает из озера Тана?",
                "Голубой Нил",
            ),
            ("У паука восемь ног. У насекомого шесть.", "Сколько ног у паука?", "восемь"),
            (
                "Роман Брэма Стокера «Дракула» вышел в 1897 году.",
                "В каком году вышел «Дракула»?",
                "1897",
            ),
        ),
    ),
    "zh": Shots(
        ("文本：", "问题：", "答案："),
        (
            ("塔纳湖位于埃塞俄比亚。青尼罗河从这里流出。", "哪条河从塔纳湖流出？", "青尼罗河"),
            ("蜘蛛有八条腿。昆虫有六条。", "蜘蛛有几条腿？", "八条"),
            ("布莱姆·斯托克的小说《德古拉》于1897年出版。", "《德古拉》是哪一年出版的？", "1897年"),
        ),
    ),
    "ar": Shots(
        ("النص: ", "السؤال: ", "الجواب: "),
        (
            (
                "تقع بحيرة تانا في إثيوبيا. ويخرج منها النيل الأزرق.",
                "أي نهر يخرج من بحيرة تانا؟",
                "النيل الأزرق",
            ),
            ("للعنكبوت ثماني أرجل. وللحشرة ست.", "كم رجلاً للعنكبوت؟", "ثماني"),
            ("صدرت رواية دراكولا لبرام ستوكر عام 1897.", "في أي عام صدرت رواية دراكولا؟", "1897"),
        ),
    ),
    "hi": Shots(
        ("पाठ: ", "प्रश्न: ", "उत्तर: "),
        (
            (
                "ताना झील इथियोपिया में है। नीली नील नदी इससे निकलती है।",
                "ताना झील से कौन-सी नदी निकलती है?",
                "नीली नील",
            ),
            ("मकड़ी के आठ पैर होते हैं। कीट के छह होते हैं।", "मकड़ी के कितने पैर होते हैं?", "आठ"),
            ("ब्रैम स्टोकर का उपन्यास ड्रैकुला 1897 में प्रकाशित हुआ।", "ड्रैकुला किस वर्ष प्रकाशित हुआ?", "1897"),
        ),
    ),
}
"""The examples by language; facts that no sample of ragnb asks for."""


def answer_template(language: str, prompt: str = "chat", *, closed_book: bool = False) -> Template:
    """The template that asks for an answer in a language.

    Raises
    ------
    InputError
        Unknown prompt, or a language that it cannot be asked in.

    >>> answer_template("de", "few_shot", closed_book=True).user.splitlines()[0]
    'Frage: Welcher Fluss fließt aus dem Tanasee?'
    """
    if not isinstance(closed_book, bool):
        raise InputError(
            f"closed_book needs to be True or False; got {closed_book!r:.60}; leave it out"
        )
    language = _known(language, prompt)
    if prompt == "chat":
        return CLOSED_BOOK if closed_book else ANSWER
    shots = SHOTS[language]
    text, question, answer = shots.headings
    told = [f"{'' if closed_book else text + shown + chr(10)}{question}{asked}\n{answer}{said}\n\n"
            for shown, asked, said in shots.texts]  # fmt: skip
    asked = f"{'' if closed_book else text + '{passages}' + chr(10)}{question}{{question}}\n{answer.rstrip()}"
    kind = "few_shot_closed_book" if closed_book else "few_shot"
    return Template(
        f"multilingual.{kind}.{language}", 1, "", "".join(told) + asked, kind="completion"
    )


def translation_template(source: str, language: str, prompt: str = "chat") -> Template:
    """The template that asks for the translation of a text from one language into another.

    Raises
    ------
    InputError
        See `answer_template`.

    >>> translation_template("de", "en", "few_shot").user.splitlines()[4]
    'German: Bram Stokers Roman Dracula erschien 1897.'
    """
    source, language = _known(source, prompt), _known(language, prompt)
    if prompt == "chat":
        return TRANSLATE
    here, there = LANGUAGE_NAMES[source], LANGUAGE_NAMES[language]
    pairs = zip(SHOTS[source].texts, SHOTS[language].texts, strict=True)
    shown = [f"{here}: {text}\n{there}: {same}\n" for (text, _, _), (same, _, _) in pairs]
    name = f"multilingual.few_shot_translate.{source}.{language}"
    return Template(name, 1, "", "".join(shown) + f"{here}: {{text}}\n{there}:", kind="completion")


def render_answer(
    question: str, passages: Sequence[str], language: str, prompt: str = "chat"
) -> list[Message] | str:
    """Messages (or a text to continue) that ask a question over passages, or alone when there are none; with its template.

    Raises
    ------
    InputError
        See `answer_template`; one text in place of a list of passages.

    >>> render_answer("How deep?", [], "en")[1]
    {'role': 'user', 'content': 'Question: How deep?'}
    """
    if isinstance(passages, str):
        raise InputError("render_answer needs a list of passages; got one text; put it in a list")
    passages = list(passages) if np.iterable(passages) else [passages]
    if not all(isinstance(passage, str) for passage in passages):
        raise InputError(
            f"render_answer needs a list of passages; got {passages!r:.60}; put texts in a list"
        )
    template = answer_template(language, prompt, closed_book=not passages)
    name = LANGUAGE_NAMES[_known(language, prompt)]
    return _filled(
        template, {"question": question, "passages": "\n".join(passages), "language": name}
    )


def render_translation(
    text: str, source: str, language: str, prompt: str = "chat"
) -> list[Message] | str:
    """Messages (or a text to continue) that ask for a translation."""
    template = translation_template(source, language, prompt)
    here, there = (LANGUAGE_NAMES[_known(code, prompt)] for code in (source, language))
    return _filled(template, {"text": text, "source": here, "language": there})


def _filled(template: Template, values: Mapping[str, str]) -> list[Message] | str:
    return template.text(values) if template.kind == "completion" else template.messages(values)


def _known(language: str, prompt: str) -> str:
    """Code under which a prompt knows a language: the code itself, or the part before its region."""
    known = LANGUAGE_NAMES if check_choice(prompt, PROMPTS, "prompt") == "chat" else SHOTS
    code = language.lower().replace("-", "_") if isinstance(language, str) else ""
    found = next((each for each in (code, code.split("_")[0]) if each in known), None)
    if found is None:
        raise InputError(
            f"the prompt {prompt!r} needs a language out of {', '.join(known)}; got {language!r}; choose one"
        )
    return found
