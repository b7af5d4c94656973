"""Files of open-rag-eval 0.3.0: `pip install open-rag-eval`, then `python open_rag_eval_files.py`."""

import json
from pathlib import Path

from open_rag_eval.data_classes.eval_scores import (
    AugmentedGenerationScores,
    RAGScores,
    RetrievalScores,
    ScoredRAGResult,
)
from open_rag_eval.data_classes.rag_results import (
    AugmentedGenerationResult,
    GeneratedAnswerPart,
    RAGResult,
    RetrievalResult,
)
from open_rag_eval.evaluators.trec_evaluator import MultiScoredRAGResult, TRECEvaluator

here = Path(__file__).resolve().parent
rows = json.loads((here / "rows.json").read_text(encoding="utf-8"))
made = []
for n, row in enumerate(rows):
    passages = {f"[{k}]": text for k, text in enumerate(row["passages"], start=1)}
    runs = []
    for umbrela in (1.5, 2.0):
        answer = [GeneratedAnswerPart(text=row["response"], citations=["[1]"])]
        result = RAGResult(
            RetrievalResult(query=row["question"], retrieved_passages=passages),
            AugmentedGenerationResult(query=row["question"], generated_answer=answer),
        )
        scores = RAGScores(
            RetrievalScores(scores={"mean_umbrela_score": umbrela, "umbrela_scores": {"[1]": 2}}),
            AugmentedGenerationScores(scores={"hallucination_score": 0.25 * n}),
        )
        runs.append(ScoredRAGResult(rag_result=result, scores=scores))
    made.append(
        MultiScoredRAGResult(query=row["question"], query_id=f"q{n}", scored_rag_results=runs)
    )
# The scores are given, so that no model is asked and none is needed.
evaluator = object.__new__(TRECEvaluator)
evaluator.to_repeat = 1
evaluator.to_csv(made, str(here / "open_rag_eval_results.csv"))
