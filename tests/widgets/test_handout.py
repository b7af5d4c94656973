"""The annotator that is handed out: one file that may do nothing but label, and labels as Python reads them."""

import json
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
import regex
from support.hostile import PAYLOADS
from support.labelling import keyed_frame, plain_frame

import ragnb
from ragnb.annotation import AnnotationSession
from ragnb.annotation.places import nested
from ragnb.widgets.annotation_page import state_of

NODE = shutil.which("node")
ACTS = Path(__file__).parents[2] / "tools" / "js" / "test" / "random_acts.mjs"
GUESSED = {"q/1": {"relevant": ["0b"], "overall": True, "support": {"a": "none"}}}


def data_of(path):
    """The JSON in a page."""
    return regex.search(
        r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8")
    )[1]


def test_the_page_allows_its_own_script_and_style_and_nothing_else(tmp_path):
    frame = plain_frame(1, question=PAYLOADS[1], passages=[[PAYLOADS[7], "</script>\u2028\x00"]])
    path = ragnb.export_annotator(frame, "verdict", tmp_path / "page.html")
    page = path.read_text("utf-8")
    policy = regex.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)[1].replace(
        "&#x27;", "'"
    )
    for element in ("script", "style"):
        text = regex.search(rf"(?s)<{element}>(.*?)</{element}>", page)[1]
        assert (
            f"{element}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}';"
            in policy
        )
    assert policy.startswith("default-src 'none'; ")
    assert page.count("<script") == 2
    assert "<" not in data_of(path)


@pytest.mark.skipif(NODE is None, reason="NO NODE: the labels of the page are not compared")
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("task", ["trace", "spans", "error_analysis"])
def test_the_page_and_python_agree_on_what_all_actions_amount_to(tmp_path, task, seed):
    frame = keyed_frame(4, passages=[["One."]] * 4)
    guessed = GUESSED if task == "trace" else None
    tags = {"refusal": "says nothing", "off topic": ""} if task == "error_analysis" else None
    if tags:
        guessed = {f"q/{i}": {"tags": ["off topic"], "open_note": "?"} for i in range(4)}
    path = ragnb.export_annotator(
        frame, task, tmp_path / "page.html", suggestions=guessed, suggested_by="judge",
        codebook=tags,
    )  # fmt: skip
    data = tmp_path / "data.json"
    data.write_text(data_of(path), "utf-8")
    ran = subprocess.run(
        [NODE, str(ACTS), str(data), str(seed), "400"], capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)
    assert found["same"], "the page reads its own file"
    file = tmp_path / "Ana.jsonl"
    file.write_text(found["file"], "utf-8")
    session = AnnotationSession(
        frame, task, "Ana", file, suggestions=guessed, suggested_by="judge", codebook=tags
    )
    for number, shown in enumerate(found["shown"]):
        session.number = number
        labels = session.labels
        assert shown == {
            "values": nested(session.values), "status": session.statuses[number], "flag": labels.flag, "note": labels.note,
            "can_undo": bool(session.state.done), "can_redo": bool(session.state.undone),
            "suggested": nested(session.suggestion()), "codebook": state_of(session)["codebook"],
        }  # fmt: skip
    assert found["progress"] == session.progress()
    sources = {
        said["source"]
        for labels in session.state.items.values()
        for said in labels.details.values()
    }
    has_suggestions = any(source.startswith("suggestion") for source in sources)
    assert has_suggestions == bool(guessed)
