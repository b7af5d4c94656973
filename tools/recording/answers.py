"""Write docs/answers.csv: 100 questions of EVOUNA with the answers of two systems and people's
verdicts. ``python -m tools.recording.answers NQ.json``, where NQ.json is EVOUNA's file."""

import sys
from pathlib import Path

from ragnb.datasets import load_evouna

SYSTEMS = {"fid": "FiD", "newbing": "New Bing"}
COLUMNS = ["example_id", "question", "references", "system", "response", "verdict"]


def extract(path, n_questions=100):
    """The first questions that have one reference and a verdict on both systems."""
    frame = load_evouna(path)
    frame = frame[frame["system"].isin(SYSTEMS) & ~frame["improper"] & frame["verdict"].notna()]
    frame = frame[[answer is not None and len(answer[0]) == 1 for answer in frame["references"]]]
    complete = frame.groupby("example_id", sort=False).size() == len(SYSTEMS)
    chosen = complete[complete].index[:n_questions]
    frame = frame[frame["example_id"].isin(chosen)]
    frame["references"] = [answer[0][0] for answer in frame["references"]]
    return frame.replace({"system": SYSTEMS})[COLUMNS]


if __name__ == "__main__":
    target = Path(__file__).parents[2] / "docs" / "answers.csv"
    extract(sys.argv[1]).to_csv(target, index=False)
