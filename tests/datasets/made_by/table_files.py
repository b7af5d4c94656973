"""Write the rows as Hugging Face datasets and openpyxl write them."""

import json
from pathlib import Path

import pandas as pd
from datasets import Dataset, DatasetDict

HERE = Path(__file__).parent
rows = json.loads((HERE / "rows.json").read_text("utf-8"))
named = [
    {"references" if name == "reference" else name: value for name, value in row.items()}
    for row in rows
]
data = Dataset.from_list(named)
DatasetDict({"test": data}).save_to_disk(HERE / "hf_splits", num_shards={"test": 2})
flat = [{name: row[name] for name in ("question", "references", "response")} for row in named]
pd.DataFrame(flat).assign(id=[1, 2, 3]).to_excel(HERE / "table.xlsx", index=False)
