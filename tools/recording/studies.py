"""Write the studies that the package contains: real answers with people's labels.

``python -m tools.recording.studies FOLDER``. FOLDER contains the files of each study
under its name, as its authors published them (``ragnb.studies()`` lists the addresses).
"""

import ast
import gzip
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from ragnb.datasets import load_evouna, load_ragbench, load_responses, write_table

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "ragnb" / "datasets" / "data" / "studies"
GRADES = ("naturalness", "appropriateness", "completeness", "faithfulness", "win-rate")
ANSWERABLE = {"ANSWERABLE": True, "PARTIAL": True, "UNANSWERABLE": False, "CONVERSATIONAL": None}
JUDGES = ("RougeL", "Bert-Rec", "Bert-KPrec", "conditional_idk", "rl_f", "rb_llm", "rb_agg")
LABELS = {
    "S": "supported",
    "NS": "not supported",
    "IR": "irrelevant",
    "irrelevant sentence": "irrelevant",
    "Supported": "supported",
    "Neither": "not supported",
    "Conflicted": "contradicted",
    "Entailment": "supported",
    "Neutral": "not supported",
    "Contradiction": "contradicted",
}
"""Label of a study -> label of a part in ragnb."""


def _lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _part(text, label, **more):
    return {"text": text.strip(), "label": LABELS[label], "source_label": label, **more}


def evouna_nq(folder):
    return load_evouna(folder / "NQ.json")


def nomiracl(folder):
    rows = []
    for subset, answerable in (("relevant", True), ("non_relevant", False)):
        for path in sorted((folder / subset).glob("*.gz")):
            language = path.name.partition(".")[0]
            for record in _lines(path):
                question = {
                    "example_id": f"nomiracl/{language}/{subset}/{record['query_id']}",
                    "benchmark": "nomiracl",
                    "language": language,
                    "answerable": answerable,
                }
                for system, response in record["results"].items():
                    rows.append(question | {"system": system, "response": response.strip()})
    return pd.DataFrame(rows)


def _mtrag(folder):
    path = folder / "reference_subset_with_human_evaluations.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))


def mtrag(folder):
    content = _mtrag(folder)
    tasks = {task["task_id"]: task for task in content["tasks"]}
    rows = []
    for given in content["evaluations"]:
        task, found = tasks[given["task_id"]], given["annotations"]
        *before, asked = task["input"]
        conversation, _, turn = task["task_id"].partition("<::>")
        people = {name: [float(one["value"]) for one in found[name].values()] for name in GRADES}
        rows.append(
            {
                "example_id": f"mtrag/{conversation}/{turn}",
                "benchmark": "mtrag",
                "task": task["Collection"].split("-")[2],
                "language": "en",
                "conversation_id": conversation,
                "turn": int(turn),
                "history": [{"role": one["speaker"], "content": one["text"]} for one in before],
                "question": asked["text"],
                "references": [[task["targets"][0]["text"]]],
                "system": given["model_id"],
                "response": given["model_response"],
                "answerable": ANSWERABLE[task["Answerability"][0]],
                "answerability": task["Answerability"][0].lower(),
                "n_raters": len(people["faithfulness"]),
                **{f"human_{name}": sum(all_) / len(all_) for name, all_ in people.items()},
                **{f"mtrag.{name}": next(iter(found[name].values()))["value"] for name in JUDGES},
            }
        )
    return pd.DataFrame(rows)


def mtrag_labels(folder):
    rows = []
    for given in _mtrag(folder)["evaluations"]:
        conversation, _, turn = given["task_id"].partition("<::>")
        example, system = f"mtrag/{conversation}/{turn}", given["model_id"]
        found = given["annotations"]
        for rater in dict.fromkeys(rater for name in GRADES for rater in found[name]):
            grades = {
                name: int(found[name][rater]["value"]) if rater in found[name] else None
                for name in GRADES
            }
            rows.append(
                {
                    "item": f"{example} | {system}",
                    "example_id": example,
                    "conversation_id": conversation,
                    "system": system,
                    "annotator": rater,
                    "task": "grades",
                    **grades,
                }
            )
    return pd.DataFrame(rows).astype(dict.fromkeys(GRADES, "Int64"))


def delucionqa(folder):
    rows = []
    for split in ("dev", "test", "unanswerable"):
        table = pd.read_csv(folder / f"{split}.csv.gz", keep_default_na=False, dtype=str)
        for number, record in enumerate(table.to_dict("records")):
            key = record.get("sample_id", f"{split}_{number}")
            # The third file contains the answers of all splits that are refusals.
            refused = record.get("Does_not_answer", "TRUE") == "TRUE"
            parts = []
            if split != "unanswerable":
                labels = ast.literal_eval(record["Sentence_labels"])
                sentences = ast.literal_eval(record["Answer_sent_tokenized"])
                texts = dict(sentence.split(":", 1) for sentence in sentences)
                parts = [_part(texts[name], label) for name, label in labels.items()]
            rows.append(
                {
                    "example_id": f"delucionqa/{key}",
                    "benchmark": "delucionqa",
                    "language": "en",
                    "split": split,
                    "retriever": record.get("Retreival Setting", record.get("Retreival_Setting")),
                    "question": record["Question"].strip(),
                    "system": "chatgpt",
                    "response": record["Answer"],
                    "answerable": record["Answerable"] == "TRUE",
                    "refusal": refused,
                    "hallucinated": record["Label"] == "Hallucinated" if parts else None,
                    "parts": parts or None,
                }
            )
    return pd.DataFrame(rows)


def factscore(folder):
    rows = []
    for system in ("ChatGPT", "PerplexityAI"):
        for record in _lines(folder / f"{system}.jsonl.gz"):
            sentences = record["annotations"]
            parts = []
            for number, sentence in enumerate(sentences or []):
                facts = sentence["human-atomic-facts"] or []
                # People labelled the sentence, and not the facts into which a model split it.
                if not sentence["is-relevant"]:
                    label = {"label": "irrelevant sentence"}
                    facts = [fact | label for fact in sentence["model-atomic-facts"]]
                parts += [_part(fact["text"], fact["label"], sentence=number) for fact in facts]
            frequency, region = record["cat"]
            rows.append(
                {
                    "example_id": f"factscore/{record['topic']}",
                    "benchmark": "factscore",
                    "language": "en",
                    "frequency": frequency,
                    "region": region,
                    "question": record["input"].removeprefix("Question: "),
                    "system": system,
                    "response": record["output"],
                    "refusal": sentences is None,
                    "parts": None if sentences is None else parts,
                }
            )
    return pd.DataFrame(rows)


def refchecker(folder):
    rows = []
    for path in sorted(folder.glob("msmarco_*_answers.json.gz")):
        system = path.name.removeprefix("msmarco_").removesuffix("_answers.json.gz")
        for record in json.loads(gzip.decompress(path.read_bytes())):
            claims = record["claude2_response_kg"]
            rows.append(
                {
                    "example_id": f"refchecker/{record['id']}",
                    "benchmark": "refchecker",
                    "language": "en",
                    "system": system,
                    "response": record["response"],
                    "refusal": not claims,
                    "parts": [
                        _part("; ".join(claim["triplet"]), claim["human_label"]) for claim in claims
                    ]
                    or None,
                }
            )
    return pd.DataFrame(rows)


def ragbench_delucionqa(folder):
    """The ten records of the test split of DelucionQA in RAGBench, with every field that it publishes."""
    lines = (folder / "ragbench_test_5x10.jsonl").read_text(encoding="utf-8").splitlines()
    chosen = [line for line in lines if json.loads(line)["dataset_name"] == "delucionqa_test"]
    with TemporaryDirectory() as temporary:
        file = Path(temporary) / "delucionqa_test.jsonl"
        file.write_text("\n".join(chosen), encoding="utf-8")
        return load_ragbench(file)


def gpqa_epochs(folder):
    """Scores of two models on GPQA Diamond, five times each, in the columns of `ragnb.load_scores`."""
    table = pd.read_csv(folder / "gpqa_diamond_scores.csv")
    return pd.DataFrame(
        {
            "example_id": "gpqa/" + table["item_id"],
            "benchmark": "gpqa",
            "language": "en",
            "system": table["model_id"].str.partition("/")[2],
            "repeat": table["epoch"],
            "metric": "gpqa.choice",
            "value": table["score"],
            "signature": "metric:gpqa.choice|tool:inspect_ai",
        }
    )


UMBRELA = "UMBRELA (GPT-4o)"
PEOPLE = "NIST"


def _pair(query, passage):
    return {
        "example_id": f"trec-rag/{query}/{passage}",
        "benchmark": "trec-rag",
        "language": "en",
        "question_id": query,
        "passage_id": passage,
    }


def _judge(name):
    """Name of a judge without its provider, such as ``Claude Opus 4.7``."""
    return name.removesuffix(" (OpenRouter)").replace(" (reasoning=low)", "").replace(" (chat)", "")


def _trec_rag_grades(folder):
    """Pairs of query and passage, and the grades of each judge in their order."""
    content = json.loads((folder / "trec-rag-2024_judges.json").read_text(encoding="utf-8"))
    umbrela = json.loads(
        (folder / "umbrela_baseline_trec_rag_2024.json").read_text(encoding="utf-8")
    )
    assert umbrela["pair_index"] == content["pair_index"]
    grades = {_judge(name): values for name, values in content["per_judge_scores"].items()}
    return (
        content["pair_index"],
        content["human_scores"],
        grades | {UMBRELA: umbrela["umbrela_scores"]},
    )


def trec_rag_judges(folder):
    pairs, people, grades = _trec_rag_grades(folder)
    rows = []
    for number, pair in enumerate(pairs):
        for judge, values in grades.items():
            graded = {"system": judge, "grade": values[number], "human_grade": people[number]}
            rows.append(_pair(*pair) | graded)
    return pd.DataFrame(rows).astype({"grade": "Int64", "human_grade": "Int64"})


def trec_rag_judges_labels(folder):
    pairs, people, grades = _trec_rag_grades(folder)
    rows = []
    for number, pair in enumerate(pairs):
        for judge, values in ({PEOPLE: people} | grades).items():
            named = _pair(*pair)
            label = {"item": named["example_id"], "annotator": judge, "task": "relevance"}
            rows.append(named | label | {"grade": values[number]})
    return pd.DataFrame(rows).astype({"grade": "Int64"})


def trec_rag_judges_repeats(folder):
    """Three runs of each judge on the same 50 pairs."""
    path = folder / "intra_judge_consistency.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for number, (pair, people) in enumerate(
        zip(content["pair_index"], content["human_scores"], strict=True)
    ):
        for judge, runs in content["per_judge"].items():
            for repeat, grades in enumerate(runs["runs"], 1):
                graded = {"grade": grades[number], "human_grade": people}
                rows.append(_pair(*pair) | {"system": _judge(judge), "repeat": repeat} | graded)
    return pd.DataFrame(rows).astype({"grade": "Int64", "human_grade": "Int64"})


def quickstart(folder):
    """The answers of docs/answers.csv, an extract of EVOUNA, which needs no published file."""
    columns = ["example_id", "language", "question", "references", "system", "response", "verdict"]
    frame = load_responses(ROOT / "docs" / "answers.csv", language="en")[columns]
    return frame.assign(verdict=frame["verdict"] == 1)


FRAMES = {
    "quickstart": quickstart,
    "evouna-nq": evouna_nq,
    "nomiracl": nomiracl,
    "mtrag": mtrag,
    "mtrag.labels": mtrag_labels,
    "delucionqa": delucionqa,
    "factscore": factscore,
    "refchecker": refchecker,
    "ragbench-delucionqa": ragbench_delucionqa,
    "gpqa-epochs": gpqa_epochs,
    "trec-rag-judges": trec_rag_judges,
    "trec-rag-judges.labels": trec_rag_judges_labels,
    "trec-rag-judges.repeats": trec_rag_judges_repeats,
}
"""Name of a file that the package contains -> what makes it."""


def folder_of(data, name):
    """Folder with the published files of a frame: ``evouna`` for ``evouna-nq``, ``mtrag`` for ``mtrag.labels``."""
    study = name.split(".")[0]
    whole = data / study.replace("-", "_")
    return whole if whole.exists() else data / study.split("-")[0]


if __name__ == "__main__":
    for name, make in FRAMES.items():
        source = folder_of(Path(sys.argv[1]), name)
        write_table(make(source), TARGET / f"{name}.jsonl.gz")
