"""Files of ragas 0.4.3: `pip install ragas "langchain-community<0.4"`, then `python ragas_files.py`."""

import json
import os
from pathlib import Path

os.environ["RAGAS_DO_NOT_TRACK"] = "true"

from ragas import evaluate
from ragas.dataset_schema import EvaluationDataset, SingleTurnSample
from ragas.metrics import ExactMatch, StringPresence

here = Path(__file__).resolve().parent
rows = json.loads((here / "rows.json").read_text(encoding="utf-8"))
samples = [
    SingleTurnSample(
        user_input=row["question"],
        retrieved_contexts=row["passages"],
        response=row["response"],
        reference=row["reference"],
    )
    for row in rows
]
dataset = EvaluationDataset(samples=samples)
dataset.to_jsonl(here / "ragas_dataset.jsonl")
dataset.to_csv(here / "ragas_dataset.csv")
result = evaluate(dataset, metrics=[ExactMatch(), StringPresence()], show_progress=False)
frame = result.to_pandas()
frame.to_csv(here / "ragas_result.csv", index=False)
frame.to_json(here / "ragas_result.json")
frame.to_json(here / "ragas_records.json", orient="records", force_ascii=False)
