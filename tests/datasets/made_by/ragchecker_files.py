"""Files of RAGChecker 0.1.9: `pip install ragchecker`, then `python ragchecker_files.py`."""

import json
from pathlib import Path

from ragchecker import RAGChecker, RAGResults

here = Path(__file__).resolve().parent
rows = json.loads((here / "rows.json").read_text(encoding="utf-8"))
results = [
    {
        "query_id": f"q{n}",
        "query": row["question"],
        "gt_answer": row["reference"],
        "response": row["response"],
        "retrieved_context": [
            {"doc_id": f"d{n}.{k}", "text": text} for k, text in enumerate(row["passages"])
        ],
    }
    for n, row in enumerate(rows)
]
inputs = RAGResults.from_dict({"results": results})
(here / "ragchecker_inputs.json").write_text(inputs.to_json(indent=1, ensure_ascii=False))
for result, is_right in zip(results, (True, True, False), strict=True):
    label = "Entailment" if is_right else "Neutral"
    result["response_claims"] = [[result["response"]], ["it is a claim"]]
    result["gt_answer_claims"] = [[result["gt_answer"]]]
    result["answer2response"] = [label, "Neutral"]
    result["response2answer"] = [label]
    result["retrieved2response"] = [[label] * len(result["retrieved_context"])] * 2
    result["retrieved2answer"] = [[label] * len(result["retrieved_context"])]
outputs = RAGResults.from_dict({"results": results})
# All labels are given, so that no model is asked and none is needed.
RAGChecker.evaluate(object.__new__(RAGChecker), outputs, "all_metrics")
(here / "ragchecker_outputs.json").write_text(outputs.to_json(indent=1, ensure_ascii=False))
