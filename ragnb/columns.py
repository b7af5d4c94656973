"""Names of the columns of ragnb's data frames, and checks of data frames.

The data flow from ``examples`` (one row per question) to ``requests`` (rendered prompts),
``replies``, ``responses`` (one row per example, condition and system), ``scores`` (one row per
response and metric), and finally ``summaries`` and ``comparisons``. All are pandas DataFrames.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ragnb.errors import InputError
from ragnb.printing import described
from ragnb.suggestions import did_you_mean


class Column(NamedTuple):
    """A column of ragnb's data frames.

    Attributes
    ----------
    name : str
        Name of the column.
    meaning : str
        What a cell contains. The error message about a missing column contains it. It is empty if no
        function requires the column.
    holds : {"value", "text", "list"}, default="value"
        What the cells are: a short value, a long text, or a list or mapping.
    """

    name: str
    meaning: str
    holds: Literal["value", "text", "list"] = "value"


_TABLE = (
    # examples
    Column("example_id", "identifier that is unique within a frame of examples: 'en_fact/17'"),
    Column("question_id", "identifier that a question keeps in all languages, unlike `example_id`"),
    Column("task", "'noise', 'integration' or 'counterfactual' for RGB; the corpus for RAGBench"),
    Column("language", "language code: 'en', 'zh', ..."),
    Column("question", "the question", "text"),
    Column(
        "references",
        "list of answer parts, which are all required; each part is a list of "
        "aliases, and any one alias is enough",
        "list",
    ),
    Column(
        "positive",
        "list of groups of passages that contain the answer; one group, or one group per "
        "answer part for 'integration'",
        "list",
    ),
    Column("negative", "list of passages that do not contain the answer", "list"),
    Column(
        "positive_wrong", "list of passages in which a false answer replaces the true one", "list"
    ),
    Column(
        "false_answers", "list of false answers; empty unless the task is 'counterfactual'", "list"
    ),
    # conditions and contexts
    Column("system", "name of the evaluated system: a model, a prompt or a pipeline"),
    Column("noise_rate", "nominal share of passages without the answer, in [0, 1]"),
    Column("passage_num", "requested number of passages"),
    Column("passages", "list of passages in the order in which the model sees them", "list"),
    Column(
        "kinds", "list with the kind of each passage: 'positive', 'negative' or 'wrong'", "list"
    ),
    # replies and responses
    Column(
        "messages", "list of {'role', 'content'} messages; None for a completion request", "list"
    ),
    Column("prompt", "text to continue (completions endpoint); None for a chat request", "text"),
    Column(
        "parameters", "mapping of sampling parameters: temperature, max_tokens, seed, ...", "list"
    ),
    Column("request_key", "hash of everything that can change a reply"),
    Column(
        "seconds",
        "latency: seconds from sending the request, or calling the function, to its reply",
    ),
    Column(
        "response", "the model's answer without its reasoning; None if there is no reply", "text"
    ),
    Column(
        "translations",
        "list of translated passages: {'text', 'token_count'} and further fields; or "
        "their total number of tokens",
        "list",
    ),
    Column(
        "token_count",
        "total number of tokens in the translated passages, 0 if none was translated; "
        "instead of 'translations'",
    ),
    Column("f1_system", "token F1 of the response, for CNBE; `ragnb.scoring.bridging` adds it"),
    Column("f1_direct", "token F1 of the baseline's response to the same example, for CNBE"),
    Column("tokens_spent", "number of tokens in the translated passages, for CNBE"),
    Column("retrieved", "ranked list of the ids of the retrieved passages, best first", "list"),
    Column(
        "relevant",
        "list of the ids of the relevant passages, or a mapping from ids to grades",
        "list",
    ),
    Column(
        "blank_reference",
        "True if the reference in the file is a blank text; `references` is then None",
    ),
    Column("response_embedding", "vector that embeds the response", "list"),
    Column("reference_embedding", "vector that embeds the reference", "list"),
    # labels of sentences
    Column(
        "documents_sentences",
        "list of documents, each a list of [key, text] sentences: '0a', '0b', ..., '1a'",
        "list",
    ),
    Column(
        "response_sentences",
        "list of the [key, text] sentences of the response: 'a', 'b', ...",
        "list",
    ),
    Column(
        "all_relevant_sentence_keys",
        "keys of the context sentences that are relevant to the question",
        "list",
    ),
    Column(
        "all_utilized_sentence_keys", "keys of the context sentences that the response uses", "list"
    ),
    Column(
        "sentence_support_information",
        "list of {'response_sentence_key', 'supporting_sentence_keys', "
        "'fully_supported', 'explanation'}",
        "list",
    ),
    Column(
        "unsupported_response_sentence_keys",
        "keys of the response sentences that the context does not support",
        "list",
    ),
    # verdicts on a response
    Column("verdict", "an annotator's verdict: True or False, 'correct', 'incorrect' or 'refuse'"),
    Column("answerable", "1 if the question can be answered (from the passages), else 0"),
    Column(
        "parts", "list of the claims, facts or sentences of the response: {'text', 'label'}", "list"
    ),
    Column(
        "nuggets",
        "list of the facts that an answer should state: {'text', 'importance', 'assignment'}",
        "list",
    ),
    Column(
        "statements",
        "list of the statements of the response: {'text', 'supported', 'citations'}",
        "list",
    ),
    Column("spans", "list of marked passages of the response: [start, end]", "list"),
    Column("reference_spans", "list of the passages that a person marked: [start, end]", "list"),
    Column("conversation_id", "identifier of a conversation, whose turns are examples"),
    Column("turn", "number of the turn in its conversation, from 1"),
    Column("history", "list of the earlier turns of the conversation: {'role', 'content'}", "list"),
    Column("refusal", "an annotator's label: whether the response refuses to answer"),
    Column("error_detected", "an annotator's label: whether the response points out errors"),
    Column("right_language", "an annotator's label: 'yes', 'no', 'mixed' or 'none' (no words)"),
    Column("preferred", "an annotator's preference: 'a', 'b', 'tie' or 'neither'"),
    Column("judged_refusal", "a judge's verdict: 1 if the response refuses to answer, else 0"),
    Column(
        "judged_detection", "a judge's verdict: 1 if the response detects factual errors, else 0"
    ),
    Column("judged_correct", "a judge's verdict: 1 if the response is correct, else 0"),
    Column("judged_similarity", "a judge's score in [0, 1] for the similarity in meaning"),
    Column(
        "judged_statements",
        "list of {'statement', 'supported'}: a judge's verdicts on the statements",
        "list",
    ),
    Column(
        "judged_relevant_statements",
        "list of {'statement', 'relevant'}: a judge's verdicts",
        "list",
    ),
    Column(
        "judged_passages",
        "a judge's verdicts on the passages in their order: 1 if useful, else 0",
        "list",
    ),
    Column("judged_rubric", "a judge's score from 1 to 5 by a rubric"),
    Column(
        "judged_preference", "a judge's preference over the baseline: 1 wins, 0.5 ties, 0 loses"
    ),
    Column("label", "1 if the response was labelled correct, else 0"),
    # scores
    Column("metric", "name of the metric: 'rgb.accuracy'"),
    Column("value", "value of the metric; nan if the response is unscored"),
    Column("signature", "version, metric and options that define the value, see `ragnb.score`"),
    # long columns that other tools or ragnb itself add, and that no function requires
    Column("reasoning", "", "text"),
    Column("reason", "", "text"),
    Column("overall_supported_explanation", "", "text"),
    Column("relevance_explanation", "", "text"),
    Column("judge_explanation", "", "text"),
    Column("label_note", "", "text"),
    Column("documents", "", "list"),
    Column("label_keys", "", "list"),
    Column("judge_keys", "", "list"),
    Column("judge_signature", "", "list"),
    Column("parts_judge", "", "list"),
    Column("statements_judge", "", "list"),
    Column("nuggets_judge", "", "list"),
    Column("judge_verdicts", "", "list"),
    Column("translation_keys", "", "list"),
    Column("passage_languages", "", "list"),
    Column("passage_ids", "", "list"),
    Column("passage_scores", "", "list"),
    Column("released_evidence", "", "list"),
)

# Meaning of each column that a function may require.
COLUMNS = {column.name: column.meaning for column in _TABLE if column.meaning}
# Columns of long texts.
PLAIN_TEXT = frozenset(column.name for column in _TABLE if column.holds == "text")
# Columns that are too long to repeat with every score: long texts, lists and mappings.
PAYLOAD = frozenset(column.name for column in _TABLE if column.holds != "value")

# Column that marks a reference that is a blank text. Only the variant "lbrag" scores such rows.
BLANK_REFERENCE = "blank_reference"

EXAMPLE = ("example_id", "benchmark", "task", "language", "question", "references")
RGB_EXAMPLE = (*EXAMPLE, "positive", "negative", "positive_wrong", "false_answers")
# First columns of a labelled response of RAGBench; RAGBench's own columns follow.
RAGBENCH_RESPONSE = (*EXAMPLE[:5], "passages", "system", "response", "split")

# Columns that distinguish the cells of an experiment. Summaries are grouped by them by default.
CONDITION = (
    "system",
    "benchmark",
    "task",
    "language",
    "noise_rate",
    "passage_num",
    "correct_rate",
    "order",
)

# ---- frames ------------------------------------------------------------------------------------


def require_frame(frame: Any, what: str) -> None:
    """Raise InputError unless `frame` is a pandas DataFrame. The message begins with `what`."""
    if isinstance(frame, str | Path):
        raise InputError(
            f"{what} needs a frame, got the name of a file; load it first, for example with "
            f"ragnb.load_responses({str(frame)!r})"
        )
    tables = getattr(frame, "tables", None)
    if isinstance(tables, Mapping) and tables:
        names = ", ".join(f".{name}" for name in tables)
        raise InputError(
            f"{what} needs a pandas DataFrame, got {type(frame).__name__}; pass one of its tables: {names}"
        )
    kind = type(frame)
    if kind.__module__.startswith(("dask", "pyspark")):
        advice = "call compute() of a Dask frame or toPandas() of a Spark frame"
    elif hasattr(frame, "columns"):
        return
    elif kind.__name__ == "Series":
        advice = "for one column, pass frame[['name']] with two pairs of brackets"
    elif isinstance(frame, list | tuple) and any(hasattr(member, "columns") for member in frame):
        advice = "join the frames with pandas.concat"
    elif isinstance(frame, list | tuple | Mapping):
        advice = "pass pandas.DataFrame(...) of it"
    else:
        advice = "load or build one, for example with ragnb.load_responses"
    raise InputError(f"{what} needs a pandas DataFrame, got {described(frame)}; {advice}")


def require_columns(
    frame: Any, names: Iterable[str], what: str, *, unique: Sequence[str] = ()
) -> None:
    """Raise InputError unless a data frame has each required column exactly once.

    The columns in `unique` are required too, and no two rows may have the same values in all of them.
    `what` is the function or object that requires the columns. The error message begins with it.
    """
    require_frame(frame, what)
    wanted = list(dict.fromkeys([*names, *unique]))
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise InputError(
            _wrong_order(frame, missing, what) or _missing_columns(frame, wanted, missing, what)
        )
    if doubled := [name for name in wanted if list(frame.columns).count(name) > 1]:
        raise InputError(
            f"{what} needs each column once, got several columns {doubled[0]!r}; rename or drop one"
        )
    twice = frame[frame.duplicated([*unique])] if unique else frame[:0]
    if len(twice):
        first = " / ".join(str(twice[name].iloc[0]) for name in unique)
        raise InputError(
            f"{what} needs one row for each {' and '.join(unique)}, got {len(twice)} repeated, such as "
            f"{first}; drop them, or name the column that distinguishes them"
        )


def _wrong_order(frame: Any, missing: Sequence[str], what: str) -> str:
    """Say which function to call first, if the frame belongs to another step; empty if it does not."""
    columns = set(frame.columns)
    has_scores = {"metric", "value"} <= columns
    lacks_scores = not {"metric", "value"} & columns and {"metric", "value"} & set(missing)
    is_comparison = {"metric", "difference", "baseline"} <= columns
    has_means = {"metric", "mean"} <= columns
    if {"difference", "baseline"} <= set(missing) and (has_scores or has_means):
        return (
            f"{what} needs a comparison, got {'scores' if has_scores else 'means'}; call ragnb.compare first: "
            "comparisons = ragnb.compare(scores)"
        )
    if has_means and "value" in missing and not is_comparison:
        return (
            f"{what} needs scores, got their means, without value; pass the scores that "
            "ragnb.summarize was called with"
        )
    if lacks_scores or ("value" in missing and is_comparison):
        if is_comparison:
            return (
                f"{what} needs scores, got a comparison, without value; pass the scores that ragnb.compare was "
                "called with"
            )
        if "response" in columns:
            return (
                f"{what} needs scores, got responses; call ragnb.score first: "
                "scores = ragnb.score(responses, ['answer.f1'])"
            )
        return (
            f"{what} needs scores ({', '.join(missing)}), got a frame with the columns "
            f"{_listed(columns_of(frame))}. Load responses with ragnb.load_responses and call ragnb.score, "
            "or load the scores of another tool with ragnb.load_scores"
        )
    if has_scores and missing == ["signature"]:
        return (
            f"{what} needs scores with a signature, which names their definition; load scores that "
            "ragnb did not compute with ragnb.load_scores"
        )
    of_responses = set(COLUMNS) - {"example_id", "system", "question_id", *CONDITION}
    if has_scores and of_responses & set(missing):
        return (
            f"{what} needs responses, got scores without {', '.join(missing)}; pass the responses"
        )
    return ""


def _missing_columns(frame: Any, wanted: Sequence[str], missing: Sequence[str], what: str) -> str:
    """Say which columns are missing and what they mean, and suggest columns that may be meant."""
    columns = columns_of(frame)
    problem = (
        f"{what} needs the columns {', '.join(map(str, wanted))}, "
        f"got a frame without {', '.join(map(str, missing))}"
    )
    texts = [name for name in missing if name in ("question", "references", "response")]
    if texts:
        # The user has these columns under other names.
        mapping = ", ".join(f"{name!r}: 'NAME'" for name in texts)
        return (
            f"{problem}; its columns are {_listed(columns)}. If they have other names, load the frame "
            f"with ragnb.load_responses(frame, {{{mapping}}}) first"
        )
    hint = did_you_mean(missing[0], [name for name in columns if name not in wanted])
    meanings = [f"; {name}: {COLUMNS[name]}" for name in missing if name in COLUMNS]
    if not hint and not meanings:
        hint = f"; its columns are {_listed(columns)}"
    message = f"{problem}{hint}{''.join(meanings)}"
    of_user = [name for name in columns if name not in COLUMNS]
    if what.startswith("the metric ") and of_user:
        # The column may be there under the user's own name.
        message += (
            f". If one of your columns {_listed(of_user)} contains it, name it when you load the "
            f"responses: ragnb.load_responses(..., {{{missing[0]!r}: 'NAME'}})"
        )
    return message


def columns_of(frame: Any) -> list[str]:
    """Names of the columns of a frame, as texts."""
    return [str(name) for name in frame.columns]


def _listed(names: Sequence[str]) -> str:
    """Names in one line; only the first ones if there are many."""
    most = 12
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more


def list_of_texts(texts: str | Iterable[str] | None) -> list[str]:
    """Return one text, several texts, or None for no texts, as a list.

    Examples
    --------
    >>> list_of_texts("paper"), list_of_texts(("paper", "flexible")), list_of_texts(None)
    (['paper'], ['paper', 'flexible'], [])
    """
    # An array or an index of names cannot be tested for truth.
    if texts is None:
        return []
    return [texts] if isinstance(texts, str) else list(texts)


def column_names(names: str | Iterable[str] | None) -> list[str]:
    """Return one column name, several names, or None for no columns, as a list.

    Examples
    --------
    >>> column_names("turn"), column_names(None)
    (['turn'], [])
    """
    return list_of_texts(names)


def questions(frame: Any) -> Any:
    """Question of each row, as text: its ``question_id``, or else its ``example_id``."""
    named = frame.get("question_id", frame["example_id"]).astype(object)
    return named.where(named.notna(), frame["example_id"]).map(str).astype(object)
