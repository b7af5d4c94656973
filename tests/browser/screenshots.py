"""Pictures of the widgets as JupyterLab shows them, into figures/: ``python -m browser.screenshots``, in ``tests``."""

import io
import tempfile
from pathlib import Path

import pandas as pd
from browser.lab import change_theme, lab_page, launch, show, wait_for_kernel
from browser.screen import Annotating
from PIL import Image, ImageOps
from playwright.sync_api import sync_playwright

import ragnb

FIGURES = Path(__file__).parents[2] / "figures"
WIDTH = 1100  # of the notebook, in px
SIZE = {"width": WIDTH + 100, "height": 3000}

TRACE = """
import ragnb
from ragnb.widgets import *
sample = ragnb.load_ragbench("sample-ragbench").query("language == 'en'")
Annotator(sample, "trace", "ana", ".", id=["example_id", "system"], suggestions=sample, suggested_by="a judge")
"""
VERDICT = """
import ragnb
from ragnb.widgets import *
arabic = ragnb.load_study("sample-labelled-multilingual").query("language == 'ar'")
Annotator(arabic, "verdict", "ben", ".", id=["example_id", "system"])
"""
ADJUDICATION = """
import ragnb
from ragnb.annotation.adjudication import adjudicate
from ragnb.annotation.session import AnnotationSession
from ragnb.widgets import *
sample = ragnb.load_ragbench("sample-ragbench").query("language == 'en'")[:2]
ids = ["example_id", "system"]
for name in ("ana", "ben"):
    session = AnnotationSession(sample, "trace", name, f"{name}.two.jsonl", id=ids, suggestions=sample)
    session.accept()
    session.label("relevant", ["0a", "1a"] if name == "ana" else ["0a", "0b", "1a"])
    session.label("support", "partial" if name == "ana" else "none", "b")
    session.close()
Annotator(adjudicate(sample, ["ana.two.jsonl", "ben.two.jsonl"], "cy", "gold.trace.jsonl"))
"""
VIEW = """
import ragnb
from ragnb.experiments.recorded import recorded_responses
ragnb.view(recorded_responses("rgb_noise").query("system in ['answer', 'plain']"))
"""
ARABIC = """
import ragnb
labelled = ragnb.load_study("sample-labelled-multilingual").query("language == 'ar'")
ragnb.view(labelled, changed=["multi", "direct"])
"""
TURNS = """
import ragnb
ragnb.view(ragnb.load_study("mtrag").query("turn > 1"))
"""
STATIC = {
    "rgb": """
import ragnb
from ragnb.experiments.recorded import recorded_responses
rows = recorded_responses("rgb_counterfactual")
ragnb.view(rows[rows.kinds.map(lambda kinds: "wrong" in kinds)].iloc[0])
""",
    "trace": """
import ragnb
from ragnb.widgets import *
view(ragnb.load_ragbench("sample-ragbench").iloc[3])
""",
    "language": """
from ragnb.widgets import *
view({"question": "Когда Киото был столицей Японии?", "language": "ru", "references": ["794–1868"],
              "response": "Киото стал столицей в 794 году.\\nIn 1868 the court moved to Токио.\\u200b"})
""",
    "judge": """
from ragnb.widgets import *
import ragnb
report = ragnb.judge_report(ragnb.load_study("sample-labelled-en"), annotators=["label_a", "label_b"])
ragnb.view(report.worst.iloc[0])
""",
}


def label_some(screen):
    """Two suggestions taken over after second thoughts (a sentence more, and away again), [a] supported; the rest is open."""
    screen.press("x", "x", "u", "x", "x", "v", "1", "s", "r", "j", "j", "j")


SUMMARY = """import ragnb
responses = ragnb.load_responses("answers.csv", language="en")
scores = ragnb.score(responses, ["answer.exact_match", "answer.f1", "annotator.verdict"])
ragnb.summarize(scores)"""
COMPARISON = "ragnb.compare(scores)"
NOTED = "ragnb.summarize(scores).tail(1).assign(note='لا أعرف، لا أعرف')"


def main():
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        launch(playwright) as chromium,
        lab_page(chromium, Path(folder), ["import ragnb"], viewport=SIZE) as page,
    ):
        page.folder = Path(folder)
        wait_for_kernel(page)
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        annotator_of_trace(page)
        annotator_of_verdicts(page)
        adjudication(page)
        for name, cell in STATIC.items():
            show(page, cell)
            shoot(page.locator(".jp-RenderedHTMLCommon > div").first, f"widget_{name}", margin=12)
        results(page)
        whole_frame(page)
        handout(chromium, Path(folder))


def results(page):
    (page.folder / "answers.csv").write_bytes((FIGURES.parent / "docs/answers.csv").read_bytes())
    show(page, SUMMARY, COMPARISON)
    page.locator(".ragnb-table").nth(1).wait_for()
    shoot(page.locator(".jp-WindowedPanel-viewport").first, "widget_results")
    change_theme(page, "dark")
    page.set_viewport_size({"width": 600, "height": 3000})
    show(page, SUMMARY, COMPARISON, NOTED)
    page.locator(".ragnb-table").nth(2).wait_for()
    shoot(page.locator(".jp-WindowedPanel-viewport").first, "widget_results_narrow_dark")
    change_theme(page, "light")
    page.set_viewport_size(SIZE)


def handout(chromium, folder):
    """What a person sees who was sent the file: in a dark browser, and zoomed in to 200 %."""
    row = {
        "example_id": "oslo",
        "history": [{"role": "user", "content": "Tell me about Norway."}],
        "question": "What is its capital like?",
        "passages": ["Oslo is the capital of Norway. It lies at the northern end of a fjord."],
        "response": "Oslo is the capital of Norway. It lies far from the sea, among old forests.",
        "claims": ["Oslo is the capital of Norway.", "Oslo lies far from the sea.", "Oslo lies among old forests."],
    }  # fmt: skip
    frame = pd.DataFrame([row])
    path = ragnb.export_annotator(frame, "claims", folder / "claims.html", annotator="Ana")
    page = chromium.new_page(viewport={"width": 560, "height": 400}, color_scheme="dark")
    page.goto(path.as_uri())
    for key in "12":
        page.keyboard.press(key)
    shoot(page.locator("main"), "widget_handout_narrow_dark", margin=12)
    page.close()


def whole_frame(page):
    show(page, VIEW)
    page.locator(".ragnb-rows-row").first.wait_for()
    page.locator(".ragnb-rows-list").focus()
    page.keyboard.press("/")
    page.keyboard.type("year")
    page.wait_for_timeout(800)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    shoot(page.locator(".ragnb-view").first, "widget_view")
    change_theme(page, "dark")
    for name, cell, width in (("arabic_dark", ARABIC, WIDTH + 100), ("narrow_dark", TURNS, 600)):
        page.set_viewport_size({"width": width, "height": 3000})  # 600 of 1200: as at 200 % zoom
        show(page, cell)
        page.locator(".ragnb-rows-row").first.wait_for()
        shoot(page.locator(".ragnb-view").first, f"widget_view_{name}")
    change_theme(page, "light")
    page.set_viewport_size(SIZE)


def annotator_of_trace(page):
    show(page, TRACE)
    screen = Annotating(page, "ana.trace.jsonl")
    screen.focus()
    label_some(screen)
    shoot(screen.root, "widget_annotator_trace")
    screen.press("n", "a", "n", "x", "f", "n", ".", "g")
    shoot(screen.root, "widget_annotator_list")


def annotator_of_verdicts(page):
    change_theme(page, "dark")
    show(page, VERDICT)
    screen = Annotating(page, "ben.verdict.jsonl")
    screen.focus("response")
    screen.press("2", "p")  # it names what was discovered, not who did it
    shoot(screen.root, "widget_annotator_verdict_dark")
    change_theme(page, "light")


def adjudication(page):
    show(page, ADJUDICATION)
    screen = Annotating(page, "gold.trace.jsonl")
    screen.focus()
    screen.press("x", "j", "u", "x")
    shoot(screen.root, "widget_adjudication")


def shoot(what, name, margin=0):
    """A picture of one element with a margin around, in few colours."""
    what.page.mouse.move(0, 0)
    what.page.wait_for_timeout(400)
    picture = Image.open(io.BytesIO(what.screenshot())).convert("RGB")
    picture = ImageOps.expand(picture, margin, picture.getpixel((0, 0)))
    picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        FIGURES / f"{name}.png", optimize=True
    )
    print(
        f"{name}.png: {picture.width} x {picture.height}, {(FIGURES / f'{name}.png').stat().st_size / 1000:.0f} kB"
    )


if __name__ == "__main__":
    main()
