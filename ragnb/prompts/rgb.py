"""What RGB asks of a model, in our own words; only the agreed sentences that its protocol looks for are the benchmark's.

``answer`` tells the model how to refuse and how to report false documents, as the benchmark does. ``plain`` only asks
the question over the passages; ``closed_book`` asks it alone. ``few_shot`` and ``few_shot_closed_book`` are texts for base
models to continue. Fields: ``{passages}`` (joined by line breaks, as in the released code) and ``{question}``.
"""

import re
from collections.abc import Sequence

from ragnb.errors import InputError
from ragnb.prompts.template import Message, Template

ANSWER = {
    "en": Template(
        name="rgb.answer.en",
        version=1,
        system=(
            "You answer questions with the help of documents. Be exact and brief. Some documents may be off the subject or "
            "state something false. If the documents hold the answer, give it. If they do not, reply 'I can not answer the "
            "question because of the insufficient information in documents.' If documents contradict known facts, first "
            "reply 'There are factual errors in the provided documents.' and then give the right answer."
        ),
        user="Documents:\n{passages}\n\nQuestion: {question}",
    ),
    "zh": Template(
        name="rgb.answer.zh",
        version=1,
        system=(
            "你借助所给文档回答问题，回答要准确、简短。有些文档可能与问题无关，或含有错误。文档中有答案时，请直接给出答案；"
            "没有答案时，请回答“文档信息不足，因此我无法基于提供的文档回答该问题。”；"
            "如果文档与事实不符，请先回答“提供文档的文档存在事实性错误。”，再给出正确答案。"
        ),
        user="文档：\n{passages}\n\n问题：{question}",
    ),
}

PLAIN = {
    "en": Template(
        "rgb.plain.en",
        1,
        "",
        "{passages}\n\nAnswer in a few words, from the text above. {question}",
    ),
    "zh": Template("rgb.plain.zh", 1, "", "{passages}\n\n请根据上文用几个词回答：{question}"),
}

CLOSED_BOOK = {
    "en": Template("rgb.closed_book.en", 1, "", "Answer in a few words. {question}"),
    "zh": Template("rgb.closed_book.zh", 1, "", "请用几个词回答：{question}"),
}

_SHOTS_EN = (
    "Text: Lake Tana lies in the highlands of Ethiopia. The Blue Nile leaves it near Bahir Dar.\n"
    "Question: Which river leaves Lake Tana?\nAnswer: the Blue Nile\n\n"
    "Text: The bridge was begun in 1902. It was opened to traffic on 3 May 1906.\n"
    "Question: How long is the bridge?\n"
    "Answer: I can not answer the question because of the insufficient information in documents.\n\n"
    "Text: The Blue Nile rises in the Alps.\nQuestion: In which country does the Blue Nile rise?\n"
    "Answer: There are factual errors in the provided documents. Ethiopia\n\n"
)
_SHOTS_ZH = (
    "文本：塔纳湖位于埃塞俄比亚高原，青尼罗河从这里流出。\n问题：哪条河从塔纳湖流出？\n答案：青尼罗河\n\n"
    "文本：这座桥于1902年动工，1906年5月3日通车。\n问题：这座桥有多长？\n"
    "答案：文档信息不足，因此我无法基于提供的文档回答该问题。\n\n"
    "文本：青尼罗河发源于阿尔卑斯山。\n问题：青尼罗河发源于哪个国家？\n"
    "答案：提供文档的文档存在事实性错误。埃塞俄比亚\n\n"
)
FEW_SHOT = {
    "en": Template(
        "rgb.few_shot.en",
        2,
        "",
        _SHOTS_EN + "Text: {passages}\nQuestion: {question}\nAnswer:",
        kind="completion",
    ),
    "zh": Template(
        "rgb.few_shot.zh",
        2,
        "",
        _SHOTS_ZH + "文本：{passages}\n问题：{question}\n答案：",
        kind="completion",
    ),
}

FEW_SHOT_CLOSED_BOOK = {
    "en": Template(
        name="rgb.few_shot_closed_book.en",
        version=1,
        system="",
        user=(
            "Question: Which river leaves Lake Tana?\nAnswer: the Blue Nile\n\n"
            "Question: How many legs has a spider?\nAnswer: eight\n\nQuestion: {question}\nAnswer:"
        ),
        kind="completion",
    ),
    "zh": Template(
        name="rgb.few_shot_closed_book.zh",
        version=1,
        system="",
        user=(
            "问题：哪条河从塔纳湖流出？\n答案：青尼罗河\n\n问题：蜘蛛有几条腿？\n答案：八条\n\n问题：{question}\n答案："
        ),
        kind="completion",
    ),
}

TEMPLATES = {
    "answer": ANSWER,
    "plain": PLAIN,
    "closed_book": CLOSED_BOOK,
    "few_shot": FEW_SHOT,
    "few_shot_closed_book": FEW_SHOT_CLOSED_BOOK,
}


def render(question: str, passages: Sequence[str], template: Template) -> list[Message] | str:
    """Chat messages that ask ``question`` over ``passages``, or the text to continue of a completion template."""
    values = {"question": question, "passages": "\n".join(passages)}
    return template.text(values) if template.kind == "completion" else template.messages(values)


def template_for(prompt: str | Template, language: str) -> Template:
    """The template of a named prompt in a language; a `Template` of your own is returned as it is.

    Raises
    ------
    InputError
        Unknown prompt name, or a language without a template.
    """
    if isinstance(prompt, Template):
        return prompt
    if prompt not in TEMPLATES:
        raise InputError(
            f"prompt needs one of {', '.join(TEMPLATES)} or a Template; got {prompt!r}; choose one"
        )
    try:
        return TEMPLATES[prompt][re.split("[-_]", language.lower())[0]]
    except KeyError:
        known = ", ".join(TEMPLATES[prompt])
        raise InputError(
            f"the prompt {prompt!r} needs one of the languages {known}; got {language!r}; write a Template for it"
        ) from None
