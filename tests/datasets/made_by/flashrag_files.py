"""Files of FlashRAG 0.1.2: `pip install --no-deps flashrag-dev; pip install numpy`, then `python flashrag_files.py`."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import flashrag

here = Path(__file__).resolve().parent
rows = json.loads((here / "rows.json").read_text(encoding="utf-8"))
# Only the module that writes datasets is needed, not the models that the package imports.
place = Path(flashrag.__path__[0], "dataset", "dataset.py")
spec = importlib.util.spec_from_file_location("flashrag.dataset.dataset", place)
module = importlib.util.module_from_spec(spec)
utils = sys.modules["flashrag.dataset.utils"] = ModuleType("flashrag.dataset.utils")
utils.convert_numpy = lambda value: value
spec.loader.exec_module(module)
dataset = module.Dataset(
    config={"dataset_name": "nq", "sample_num": None, "random_sample": False},
    data=[
        module.Item(
            {
                "id": f"test_{n}",
                "question": row["question"],
                "golden_answers": [row["reference"], "?"],
                "output": {},
            }
        )
        for n, row in enumerate(rows)
    ],
)
shown = [
    [{"id": f"{n}", "contents": f'"Title"\n{text}'} for text in row["passages"]]
    for n, row in enumerate(rows)
]
dataset.update_output("retrieval_result", shown)
dataset.update_output("pred", [row["response"] for row in rows])
for item, score in zip(dataset.data, (0.5, 1.0, 0.0), strict=True):
    item.update_evaluation_score("f1", score)
folder = here / "nq_2026_naive"
folder.mkdir(exist_ok=True)
dataset.save(folder / "intermediate_data.json")
