"""Recorded replies of small local models on the embedded samples: the notebooks replay them, so they run in seconds.

``tools/recording/replies.py`` asks the models again. A recording is a store like any other: code that replays it asks a
live model if it is given another ``store`` and a ``base_url``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.arguments import accepts
from ragnb.datasets.multilingual import load_multilingual
from ragnb.datasets.packaged_studies import load_study
from ragnb.datasets.parts import one_row_per_part
from ragnb.datasets.reading import read_frame
from ragnb.datasets.rgb import load_rgb
from ragnb.errors import InputError
from ragnb.experiments import multilingual
from ragnb.experiments.judges import JUDGEMENTS, judge_responses
from ragnb.experiments.parts import KINDS, label_parts
from ragnb.experiments.retrieval import multilingual_contexts
from ragnb.experiments.rgb import PARAMETERS, run_rgb
from ragnb.experiments.trace import label_trace
from ragnb.llm.store import Store

# The judges were asked with version 1 of the prompts, and their replies are stored under it.
_RECORDED: dict[str, Any] = {"prompt_version": 1}
# The recording of TRACe labels contains the records whose passages are shorter than this, in characters. With a larger
# number it would contain more records, and each takes some minutes to record.
LABELLED_TRACE_MAX_CHARACTERS = 4900
TRACE_PARAMETERS = {"temperature": 0.0, "max_tokens": 512, "seed": 0}


@dataclass(frozen=True, slots=True)
class Recording:
    """A run of one local model on one embedded sample or study.

    Attributes
    ----------
    sample
        Name of the sample or study.
    model
        Name of the model in `ragnb.serve`.
    run
        Function of a model and options of `ragnb.complete`, which yields frames of responses.
    parameters
        Sampling parameters.
    threads
        Number of threads of the engine. It affects rounding, and so, occasionally, a reply.
    """

    sample: str
    model: str
    run: Callable[..., Iterator[pd.DataFrame]]
    parameters: Mapping[str, Any] = field(default_factory=lambda: PARAMETERS)
    threads: int = 2


def _rgb(sample: str, model: str, *arms: dict[str, Any]) -> Recording:
    """A recording of several arms of RGB, which are runs under different conditions.

    Each has arguments of `run_rgb`, and may have a ``judgement`` of the replies.
    """

    def run(model: str, **options: Any) -> Iterator[pd.DataFrame]:
        """Run every arm, and judge its responses if the arm says so."""
        examples = load_rgb(sample)
        for arm in arms:
            judgement = arm.get("judgement")
            arguments = {name: value for name, value in arm.items() if name != "judgement"}
            responses = run_rgb(examples, model=model, **arguments, **options)
            if judgement:
                responses = judge_responses(
                    responses, judgement, model=model, **_RECORDED, **options
                )
            yield responses

    return Recording(sample, model, run)


def _parts_alone(model: str, **options: Any) -> Iterator[pd.DataFrame]:
    """Each part of a question asked alone, over the same passages as the whole question. ``part`` is its number."""
    examples = load_rgb("sample-en-int").set_index("example_id", drop=False)
    questions = pd.read_csv(data_file("rgb_integration_parts.questions.csv"))
    for part, asked in questions.groupby("part"):
        of_part = examples.loc[asked["example_id"]]
        answers = [[references[int(part) - 1]] for references in of_part["references"]]
        of_part = of_part.assign(question=asked["question"].to_numpy(), references=answers)
        of_part = of_part.reset_index(drop=True)
        arm: dict[str, Any] = {**_PLAIN, **_INTEGRATION, "noise_rates": (0.0,)}
        yield run_rgb(of_part, model=model, **arm, **options).assign(part=part)


def _four_systems(model: str, **options: Any) -> Iterator[pd.DataFrame]:
    """The four multilingual systems on the sample, with the recorded ranking."""
    examples = load_multilingual("sample-multilingual")
    contexts = multilingual_contexts(examples, recorded_ranking())
    for system in multilingual.MULTILINGUAL_SYSTEMS:
        yield multilingual.run_multilingual(
            contexts, system, model=model, prompt="few_shot", **options
        )


def _judged(
    recording: str, judgement: str, systems: Sequence[str], languages: Sequence[str] = ("en",)
) -> Callable[..., Iterator[pd.DataFrame]]:
    """A judgement of the replies of some systems in another recording. Equal requests to the judge are sent once."""

    def run(model: str, **options: Any) -> Iterator[pd.DataFrame]:
        """Judge the responses of the other recording."""
        responses = recorded_responses(recording)
        is_judged = responses["system"].isin(systems) & responses["language"].isin(languages)
        responses = responses[is_judged].reset_index(drop=True)
        yield judge_responses(responses, judgement, model=model, **_RECORDED, **options)

    return run


def _judged_evouna(model: str, **options: Any) -> Iterator[pd.DataFrame]:
    """A judgement of answers of EVOUNA: those that an ensemble deferred, and a random sample."""
    items = pd.read_csv(data_file("judged_evouna.items.csv"))
    study = load_study("evouna-nq")
    answers = items.merge(study, on=["example_id", "system"], how="left")
    # `merge` keeps the attributes of `items`, and the source is an attribute of the study.
    answers.attrs = study.attrs
    yield judge_responses(answers, "bare_correctness", model=model, **_RECORDED, **options)


def _facts(model: str, **options: Any) -> Iterator[pd.DataFrame]:
    """Facts of ChatGPT's biographies, one per row, labelled with PerplexityAI's biography of the same person as the passage.

    FActScore's annotators looked at Wikipedia, which the study does not contain.
    """
    biographies = load_study("factscore").query("parts.notna()")
    passages = biographies.query("system == 'PerplexityAI'").set_index("example_id")["response"]
    chatgpt = biographies.query("system == 'ChatGPT' and example_id in @passages.index")
    # Each fact takes one request. Without the longest biographies, the recording stays small.
    short = chatgpt[chatgpt["parts"].str.len() <= 20]
    short = short.assign(passages=[[passages[person]] for person in short["example_id"]])
    yield label_parts(one_row_per_part(short), "claims", model=model, **_RECORDED, **options)


def _labelled_trace(model: str, **options: Any) -> Iterator[pd.DataFrame]:
    """TRACe labels of the records of DelucionQA with short passages.

    Without a repair turn, each record takes one or two requests; see `ragnb.experiments.trace.ASKS`.
    """
    records = load_study("ragbench-delucionqa")
    n_characters = records["passages"].str.join(" ").str.len()
    short = records[n_characters < LABELLED_TRACE_MAX_CHARACTERS].reset_index(drop=True)
    yield label_trace(short, model=model, parameters=TRACE_PARAMETERS, repair=False, **options)


# Arguments of `run_rgb` that several arms share.
_ALONE = {"passage_num": 0, "noise_rates": (0.0,)}
_ANSWER, _PLAIN = {"system": "answer"}, {"system": "plain", "prompt": "plain"}
_FEW = {"system": "few shot", "prompt": "few_shot"}
_FEW_ALONE = {"system": "closed book", "prompt": "few_shot_closed_book", **_ALONE}
_REJECTION = {"ability": "negative_rejection"}
_INTEGRATION = {"ability": "information_integration"}
_COUNTERFACTUAL = {"ability": "counterfactual_robustness"}

RECORDINGS = {
    "rgb_noise": _rgb(
        "sample-en",
        "smollm2",
        _ANSWER,
        {"system": "answer, released order", "order": "released", "noise_rates": (0.0, 0.4, 0.8)},
        _PLAIN,
        {"system": "closed book", "prompt": "closed_book", **_ALONE},
    ),
    "rgb_rejection": _rgb(
        "sample-en",
        "smollm2",
        _ANSWER | _REJECTION | {"judgement": "refusal"},
        _PLAIN | _REJECTION | {"judgement": "refusal"},
    ),
    "rgb_integration": _rgb(
        "sample-en-int", "smollm2", _ANSWER | _INTEGRATION, _PLAIN | _INTEGRATION
    ),
    "rgb_integration_parts": Recording("sample-en-int", "smollm2", _parts_alone, threads=1),
    "rgb_counterfactual": _rgb(
        "sample-en-fact",
        "smollm2",
        _ANSWER | _COUNTERFACTUAL | {"judgement": "detection"},
        _ANSWER | _COUNTERFACTUAL | {"correct_rate": 1.0},
        _ANSWER | _COUNTERFACTUAL | {"prompt": "closed_book", **_ALONE},
        _PLAIN | _COUNTERFACTUAL,
    ),
    "rgb_zh": _rgb("sample-zh", "gemma3", _FEW, _FEW_ALONE, _FEW | _REJECTION),
    "rgb_zh_integration": _rgb("sample-zh-int", "gemma3", _FEW | _INTEGRATION),
    "rgb_zh_counterfactual": _rgb(
        "sample-zh-fact",
        "gemma3",
        _FEW | _COUNTERFACTUAL,
        _FEW | _COUNTERFACTUAL | {"correct_rate": 1.0},
        _FEW_ALONE | _COUNTERFACTUAL | {"system": "few shot"},
    ),
    "multilingual": Recording(
        "sample-multilingual",
        "gemma3",
        _four_systems,
        {"answers": multilingual.PARAMETERS, "translations": multilingual.TRANSLATION_PARAMETERS},
    ),
    "multilingual_judged": Recording(
        "sample-multilingual",
        "smollm2",
        _judged("multilingual", "similarity", ("direct", "multi")),
        JUDGEMENTS["similarity"].parameters,
    ),
    "judged_answers": Recording(
        "sample-en",
        "smollm2",
        _judged("rgb_noise", "bare_correctness", ("answer", "plain")),
        JUDGEMENTS["bare_correctness"].parameters,
    ),
    "judged_evouna": Recording(
        "evouna-nq",
        "smollm2",
        _judged_evouna,
        JUDGEMENTS["bare_correctness"].parameters,
        threads=1,
    ),
    "judged_facts": Recording("factscore", "smollm2", _facts, KINDS["claims"].judgement.parameters),
    "labelled_trace": Recording(
        "ragbench-delucionqa", "smollm2", _labelled_trace, TRACE_PARAMETERS, threads=1
    ),
}
"""The recordings by name."""

LABELS = ("rgb_refusals", "answers")
"""Names of the sets of labels that ragnb's authors gave to recorded replies."""


@accepts()
def recorded_store(name: str) -> Store:
    """Load the replies of a recording into a new store in memory.

    Parameters
    ----------
    name
        Name of the recording, one of `ragnb.experiments.RECORDINGS`.

    Raises
    ------
    InputError
        Unknown name.
    """
    store = Store(":memory:")
    store.read_jsonl(recording_file(name, "replies.jsonl.gz"))
    return store


@accepts()
def recorded_responses(name: str) -> pd.DataFrame:
    """The responses of every arm of a recording, replayed without a model.

    An empty reply counts as an answer here, because the model itself ended it.

    ``attrs["source"]`` says where the questions come from, and ``attrs["model"]`` is `recorded_provenance`.

    Parameters
    ----------
    name
        Name of the recording, one of `ragnb.experiments.RECORDINGS`.

    Raises
    ------
    InputError
        Unknown name.
    """
    provenance = recorded_provenance(name)
    with recorded_store(name) as store:
        replay = {"store": store, "offline": True, "progress": False, "keep_empty": True}
        responses_of_arms = RECORDINGS[name].run(provenance["model"], **replay)
        responses = pd.concat(responses_of_arms, ignore_index=True)
    responses.attrs["model"] = provenance
    return responses


@accepts()
def recorded_ranking() -> pd.DataFrame:
    """The passages retrieved for each question of the multilingual sample, as `rank_passages` ranked them once.

    The ranking is recorded because embeddings differ in their last digits from one processor to the next. Now and then, this
    would change a rank, and with it a prompt and a reply.
    """
    return read_frame(data_file("multilingual.ranking.jsonl"))


@accepts(kind=("query", "passage"))
def recorded_embedding(texts: Sequence[str], *, kind: str = "query") -> NDArray[np.float32]:
    """The recorded embeddings of the multilingual sample, for ``rank_passages(..., embedding=recorded_embedding)``.

    They are those of `ragnb.llm.embed`, in half precision, so that no model is needed.

    Parameters
    ----------
    texts
        Questions or passages of ``ragnb.load_multilingual("sample-multilingual")``.
    kind
        ``"query"`` for questions, ``"passage"`` for passages.

    Returns
    -------
    Array of shape (number of texts, 384)

    Raises
    ------
    InputError
        A text that is not in the sample.
    """
    vectors = _recorded_vectors()
    for text in texts:
        if (kind, text) not in vectors:
            raise InputError(
                f"recorded_embedding has only the questions and passages of sample-multilingual, got {text!r:.60}; "
                "leave out embedding= to compute embeddings of other texts"
            )
    return np.array([vectors[kind, text] for text in texts], dtype=np.float32)


@cache
def _recorded_vectors() -> dict[tuple[str, str], NDArray[np.float16]]:
    """The recorded embedding of each question and passage of the multilingual sample, by its kind and text."""
    examples = load_multilingual("sample-multilingual")
    with np.load(data_file("multilingual.vectors.npz")) as recorded:
        queries = dict(zip(examples["question"], recorded["query"], strict=True))
        passages = dict(zip(examples["passages"].str[0], recorded["passage"], strict=True))
    vectors = {("query", text): vector for text, vector in queries.items()}
    return vectors | {("passage", text): vector for text, vector in passages.items()}


@accepts()
def recorded_provenance(name: str) -> dict[str, Any]:
    """Return how a recording was made: model, file, checksum, engine, date, settings, number of replies.

    Parameters
    ----------
    name
        Name of the recording, one of `ragnb.experiments.RECORDINGS`.
    """
    return dict(json.loads(recording_file(name, "provenance.json").read_text(encoding="utf-8")))


@accepts(name=LABELS)
def recorded_labels(name: str) -> pd.DataFrame:
    """Load the labels that ragnb's authors gave to recorded replies, one row per reply. No independent annotator took part.

    Parameters
    ----------
    name
        ``"rgb_refusals"``: whether an English reply refuses. ``"answers"``: whether a reply in any of six languages is
        correct; ``ragnb.load_study("sample-labelled-en")`` and ``("sample-labelled-multilingual")`` add the responses.

    Returns
    -------
    DataFrame
        ``request_key`` and ``recording`` of the reply, ``label`` (``"refuses"`` or ``"answers"``; ``"correct"`` or
        ``"incorrect"``) and ``response_sha256``, the first 16 digits, which show whether the reply is still the one that was
        labelled. ``attrs["guideline"]`` states the question, how replies were sampled, and who labelled them.

        Answers were labelled twice: ``label_a`` and ``label_b``. Where these differ, ``note`` gives the reason for the
        final label.

        Refusals have ``drawn``, which says how a reply was selected: ``phrase`` (all replies in which a flexible refusal
        phrase occurs), ``random`` (a sample of the others) and ``rejection`` (the rest of one recording). These replies had
        unequal chances to be selected, so a share of the labels does not estimate a share of all replies.

    Raises
    ------
    InputError
        Unknown name.

    >>> recorded_labels("rgb_refusals")["drawn"].value_counts().to_dict()
    {'rejection': 125, 'random': 100, 'phrase': 5}
    """
    labels = read_frame(data_file(f"{name}.labels.jsonl"))
    labels.attrs["guideline"] = data_file(f"{name}.guideline.md").read_text(encoding="utf-8")
    return labels


@accepts(name=tuple(RECORDINGS))
def recording_file(name: str, ending: str) -> Path:
    """Path of a file of a recording, such as its ``"provenance.json"``."""
    return data_file(f"{name}.{ending}")


def data_file(name: str) -> Path:
    """Path of a recorded file."""
    return Path(str(resources.files("ragnb.experiments") / "data" / name))
