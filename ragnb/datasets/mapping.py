"""Which column of a table is what: suggestions for a mapping from ragnb's names to those of a file."""

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
# Words that name the response if nothing else does, and the reference if another column does.
_EITHER = "answer, antwort, respuesta, réponse, risposta, resposta, ответ, 答案, text, result"
# Words that say that a column is something about a text, and not the text.
_ABOUT = frozenset(
    "id ids key token tokens time seconds latency cost score scores length count url link type "
    "category lang language version embedding keys hash date label is has".split()
)
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
    chosen = {name: name for name in _ROLES if name in content and name not in columns}
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
            name = _likely(words, free, only_whole=role == "system")
            if name is not None:
                chosen[role] = name
    return {name: chosen[name] for name in (*columns, *_ROLES) if name in chosen}


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
    """The first name that consists of one of the words, or else that contains one."""
    split = {name: _words_of(name) for name in names}
    wanted = [word.split() for word in words.split(", ")]
    for wanted_words in wanted:
        for name, name_words in split.items():
            if name_words == wanted_words:
                return name
    for wanted_words in [] if only_whole else wanted:
        for name, name_words in split.items():
            if {*wanted_words} <= {*name_words} and not {*name_words} & _ABOUT:
                return name
    return None


def _words_of(name: str) -> list[str]:
    """The words of a name such as ``gold_answer``, ``Gold answer`` or ``goldAnswer``."""
    spaced = _CAMEL.sub(" ", name).casefold()
    words = [word for word in re.split(r"[\W_]+", spaced) if word]
    # "model name" and "answer text" add nothing to "model" and "answer".
    return [word for word in words if word not in ("name", "text", "the", "of")] or words
