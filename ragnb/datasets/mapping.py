"""Suggestions for a mapping from ragnb's names of columns to those of a table."""

# Tested in tests/datasets/test_responses.py.

import re
from collections.abc import Iterable, Mapping

import pandas as pd

# Words of the names of columns, most likely first. A word such as "gold answer" needs all its parts.
_REFERENCES = (
    "references, reference, gold, golds, golden, ground truth, groundtruth, truth, gt, expected, "
    "target, targets, ideal, correct answer, correct answers, true answer, right answer, answer key, "
    "human answer, references answer, ref, refs, musterlösung, referenz, referencia, référence, "
    "riferimento, risposta corretta, resposta correta, respuesta correcta, bonne réponse, réponse correcte, "
    "richtige antwort, goldantwort, verwacht antwoord, правильный ответ, эталон, "
    "参考答案, 标准答案, 正确答案, 正解, 模範解答, 정답, الإجابة الصحيحة, answers, golds answer"
)
_RESPONSE = (
    "response, responses, output, outputs, prediction, predictions, predicted, pred, preds, "
    "completion, completions, generation, generated, generated answer, reply, hypothesis, candidate, "
    "model answer, system answer, llm answer, bot answer, assistant answer, actual, modellantwort, "
    "antwort modell, ki antwort, systemantwort, réponse modèle, respuesta modelo, respuesta generada, "
    "ответ модели, 模型回答, モデルの回答, 回答, 生成答案, 모델 답변, 답변, 응답"
)
_QUESTION = (
    "question, questions, query, queries, prompt, input, inputs, instruction, problem, "
    "frage, pregunta, domanda, pergunta, vraag, вопрос, 问题, 問題, 質問, 질문, سؤال, السؤال, pytanie, soru, प्रश्न"
)
_SYSTEM = (
    "system, model, pipeline, run, variant, method, configuration, engine, modell, modelo, modèle, "
    "modello, модель, 模型, モデル, 모델"
)
# Words that name the response if no other column does, and otherwise the reference.
_EITHER = "answer, antwort, respuesta, réponse, risposta, resposta, ответ, 答案, text, result"
# Words of columns that describe a text, such as its length or its id, and do not contain it.
_ABOUT = frozenset(
    "id ids key token tokens time seconds latency cost score scores length count url link type "
    "category lang language version embedding keys hash date label is has".split()
)
# The place between two words of a name such as ``goldAnswer``.
_CAMEL = re.compile(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])")


def suggested_columns(content: pd.DataFrame, columns: Mapping[str, str]) -> dict[str, str]:
    """Suggest the columns of a table that ragnb needs, by the words in their names.

    `columns` maps names in ragnb to names in the table, as far as they are known. The result adds a column
    for ``question``, ``response``, ``references`` and ``system`` if the table has one that is likely. No
    column is suggested twice.

    >>> table = pd.DataFrame(columns=["question", "answer", "prediction"])
    >>> suggested_columns(table, {})
    {'question': 'question', 'response': 'prediction', 'references': 'answer'}
    """
    names = _names(content)
    # A column that has ragnb's name needs no suggestion, unless the user gave it another role.
    names_of_user = {*columns, *columns.values()}
    chosen = {role: role for role in _ROLES if role in content and role not in names_of_user}
    chosen |= columns
    for role, words in (
        ("question", _QUESTION),
        ("references", _REFERENCES),
        ("response", _RESPONSE),
        # A column "answer" is the response, unless another column is; then it is the reference.
        ("response", _EITHER),
        ("references", _EITHER),
        ("system", _SYSTEM),
    ):
        if role not in chosen:
            free = [name for name in names if name not in chosen.values()]
            # "Model output" is a response. Only a name without other words is that of a system.
            column = _likely(words, free, only_whole=role == "system")
            if column is not None:
                chosen[role] = column
    # The columns that the user named come first, and then the suggestions in the order of the roles.
    return {role: chosen[role] for role in (*columns, *_ROLES) if role in chosen}


# The columns for which `suggested_columns` looks, in the order in which it reports them.
_ROLES = ("question", "response", "references", "system")


def _names(content: pd.DataFrame) -> list[str]:
    """The names of the columns; in place of a column of objects, the paths to their values."""
    names = []
    for name in map(str, content):
        column = content[name] if name in content else pd.Series(dtype=object)
        first = next(iter(column.dropna()), None)
        inner = list(first) if isinstance(first, Mapping) else []
        names += [f"{name}.{key}" for key in inner] or [name]
    return names


def _likely(words: str, names: Iterable[str], *, only_whole: bool) -> str | None:
    """The first name that consists of one of the terms, or else the first that contains one.

    The second search leaves out names with a word of `_ABOUT`: "response length" is not the response.
    `words` are the terms, separated by commas, the most likely one first. A term such as "gold answer"
    has several words. With `only_whole`, a name that contains more than the term is not returned.
    """
    words_by_name = {name: _words_of(name) for name in names}
    terms = [term.split() for term in words.split(", ")]
    for term in terms:
        for name, name_words in words_by_name.items():
            if name_words == term:
                return name
    if only_whole:
        return None
    for term in terms:
        for name, name_words in words_by_name.items():
            is_about_a_text = not _ABOUT.isdisjoint(name_words)
            if {*term} <= {*name_words} and not is_about_a_text:
                return name
    return None


def _words_of(name: str) -> list[str]:
    """The words of a name such as ``gold_answer``, ``Gold answer`` or ``goldAnswer``."""
    spaced = _CAMEL.sub(" ", name).casefold()
    words = [word for word in re.split(r"[\W_]+", spaced) if word]
    # "model name" and "answer text" add nothing to "model" and "answer". A name that consists of such
    # words alone keeps them.
    return [word for word in words if word not in ("name", "text", "the", "of")] or words
