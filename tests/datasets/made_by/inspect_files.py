"""Files of inspect_ai 0.3.285: `pip install inspect-ai`, then `python inspect_files.py`."""

import json
import shutil
import tempfile
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import f1, includes

here = Path(__file__).resolve().parent
rows = json.loads((here / "rows.json").read_text(encoding="utf-8"))
samples = [Sample(input=row["question"], target=[row["reference"], "?"]) for row in rows]
outputs = [ModelOutput.from_content("mockllm/parrot", row["response"]) for row in rows * 2]
for output in outputs:
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
folder = tempfile.mkdtemp()
(log,) = eval(
    Task(samples, name="rivers", scorer=[includes(), f1()]),
    model=get_model("mockllm/parrot", custom_outputs=outputs),
    epochs=2,
    log_dir=folder,
    display="none",
    max_connections=1,
    max_samples=1,
)
shutil.copy(log.location.removeprefix("file://"), here / "inspect.eval")
