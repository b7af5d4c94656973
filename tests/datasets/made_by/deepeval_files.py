"""Files of deepeval 4.3.1: `pip install deepeval`, then `python deepeval_files.py`."""

import json
import os
import shutil
import tempfile
from pathlib import Path

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
here = Path(__file__).resolve().parent
rows = json.loads((here / "rows.json").read_text(encoding="utf-8"))
folder = tempfile.mkdtemp()
os.chdir(folder)

from deepeval import evaluate  # noqa: E402
from deepeval.dataset import EvaluationDataset, Golden  # noqa: E402
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig  # noqa: E402
from deepeval.metrics import BaseMetric  # noqa: E402
from deepeval.test_case import LLMTestCase  # noqa: E402


class Length(BaseMetric):
    """A metric that needs no model."""

    threshold, async_mode = 0.5, False

    def measure(self, test_case, *args, **kwargs):
        self.score = min(1.0, len(test_case.actual_output) / 32)
        self.reason = f"{len(test_case.actual_output)} characters"
        self.success = self.score >= self.threshold
        return self.score

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Answer Length"


cases = [
    LLMTestCase(
        input=row["question"],
        actual_output=row["response"],
        expected_output=row["reference"],
        retrieval_context=row["passages"],
    )
    for row in rows
]
evaluate(
    cases,
    [Length()],
    identifier="parrot",
    display_config=DisplayConfig(print_results=False, show_indicator=False, results_folder=folder),
    async_config=AsyncConfig(run_async=False),
)
(made,) = Path(folder).glob("test_run_*.json")
shutil.copy(made, here / "deepeval_test_run.json")
latest = Path(folder, ".deepeval", ".latest_test_run.json")
print(latest.exists(), sorted(path.name for path in Path(folder, ".deepeval").iterdir()))
if latest.exists():
    shutil.copy(latest, here / "deepeval_latest_test_run.json")
goldens = [
    Golden(
        input=row["question"],
        actual_output=row["response"],
        expected_output=row["reference"],
        retrieval_context=row["passages"],
    )
    for row in rows
]
for kind in ("json", "csv", "jsonl"):
    EvaluationDataset(goldens=goldens).save_as(kind, str(here), file_name="deepeval_goldens")
