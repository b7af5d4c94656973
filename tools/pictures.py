"""Pictures of all widgets into figures/: ``PYTHONPATH=tests python -m tools.pictures [cards|explorables|handout|lab]``.

A sheet shows a viewer in light and dark, in Arabic, in a narrow window and at 200 % zoom.
"""

import io
import shutil
import sys
import tempfile
from base64 import b64encode
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from PIL import Image, ImageOps
from playwright.sync_api import sync_playwright
from support.lab import change_theme, hide_files, lab_page, launch, show, wait_for_kernel

import ragnb
from ragnb.experiments import recorded_responses
from ragnb.explorables import EXPLORABLES

FIGURES = Path(__file__).parents[1] / "figures"
SHEETS = Path(__file__).parents[1] / "build" / "pictures"
WIDE, NARROW, ZOOMED = (1000, 1), (400, 1), (500, 2)
"""Width of a window in CSS pixels, and device pixels per CSS pixel: 200 % zoom halves the former and doubles the latter."""
HEIGHT = 1000
LOOKS = {"light": WIDE, "dark": WIDE, "Arabic": WIDE, "narrow": NARROW, "200 % zoom": ZOOMED}
ROWS = (("light", "dark"), ("Arabic", "narrow", "200 % zoom"))
PAGE = "<!doctype html><meta charset=utf-8><title>x</title><style>:root { color-scheme: light dark } body { margin: 12px; font: 14px system-ui }</style>"
LAB = {"width": 1200, "height": 3000}


# ---- what is shown -------------------------------------------------------------------------------


def response_to(question, response, references, passages, claims, **more):
    """A response to two useful passages, with its claims and their labels."""
    parts = [{"text": text, "label": label} for text, label in claims.items()]
    return {"question": question, "response": response, "references": references, "passages": passages,
            "kinds": ["positive", "positive"], "system": "rag", "parts": parts, **more}  # fmt: skip


ARABIC = response_to(
    "من كتب رواية «أولاد حارتنا» ومتى نُشرت؟",
    "كتبها نجيب محفوظ [1]. نُشرت عام 1959 في صحيفة الأهرام [2].",
    ["نجيب محفوظ", "1959"],
    ["«أولاد حارتنا» رواية للكاتب المصري نجيب محفوظ.", "نشرت الأهرام الرواية مسلسلة سنة 1959."],
    {"كتبها نجيب محفوظ": "supported", "نُشرت عام 1959": "supported"},
    language="ar",
    label=1,
)
ENGLISH = response_to(
    "Who wrote Children of the Alley, and when did it appear?",
    "Naguib Mahfouz wrote it [1]. It appeared in 1959, as a book in Cairo [2].",
    ["Naguib Mahfouz", "1959"],
    ["Children of the Alley is a novel by Naguib Mahfouz.", "Al-Ahram serialised the novel in 1959; the book followed in Beirut in 1967."],
    {"Naguib Mahfouz wrote it": "supported", "as a book in Cairo": "not supported"},
    language="en",
    label=0,
)  # fmt: skip
FALSE = {"references": ["نجيب محفوظ"], "false_answers": ["طه حسين"], "kinds": ["wrong", "negative"],
         "response": "كتبها نجيب محفوظ، لا طه حسين. توجد أخطاء في الوثائق المقدمة."}  # fmt: skip
MIXED = {"question": "Когда Киото был столицей Японии?", "language": "ru", "references": ["794–1868"],
         "response": "Киото стал столицей в 794 году.\nIn 1868 the court moved to Токио.\u200b"}  # fmt: skip
JUDGED = {"judged_by": "judge", "judge_score": 0.0, "judge_verdict": 0.0, "human_label": 1.0, "annotations": {"ana": 1.0, "ben": 0.0},
          "disagreement": 1.0, "judge_reason": "The reply was cut."}  # fmt: skip
LABELS = {
    "documents_sentences": [
        [["0a", "نجيب محفوظ كاتب مصري."], ["0b", "كتب رواية «أولاد حارتنا»."]], [["1a", "نشرت الأهرام الرواية سنة 1959."]]
    ],
    "response_sentences": [["a", "كتبها نجيب محفوظ."], ["b", "نُشرت في بيروت."]],
    "sentence_support_information": [
        {"response_sentence_key": "a", "supporting_sentence_keys": ["0b"], "fully_supported": True, "explanation": "."},
        {"response_sentence_key": "b", "supporting_sentence_keys": [], "fully_supported": False, "explanation": "."},
    ],
    "unsupported_response_sentence_keys": ["b"], "all_relevant_sentence_keys": ["0b", "1a"], "all_utilized_sentence_keys": ["0b"],
}  # fmt: skip
TURN = {
    "example_id": "oslo", "history": [{"role": "user", "content": "Tell me about Norway."}],
    "question": "What is its capital like?",
    "passages": ["Oslo is the capital of Norway. It lies at the northern end of a fjord."],
    "response": "Oslo is the capital of Norway. It lies far from the sea, among old forests.",
    "claims": ["Oslo is the capital of Norway.", "Oslo lies far from the sea.", "Oslo lies among old forests."],
}  # fmt: skip

SETUP = """
import ragnb, pandas as pd
from tools.pictures import *
from ragnb.annotation.adjudication import adjudicate
from ragnb.annotation.session import AnnotationSession
from ragnb.widgets import *
sample = ragnb.load_ragbench("sample-ragbench").query("language == 'en'")
arabic = ragnb.load_study("sample-labelled-multilingual").query("language == 'ar'")
ids = ["example_id", "system"]
def annotator_of_trace(name, frame=sample):
    return Annotator(frame, "trace", name, ".", id=ids, suggestions=frame, suggested_by="a judge")
"""
ADJUDICATION = """
for name in ("ana", "ben"):
    session = AnnotationSession(sample[:2], "trace", name, f"{name}.two.jsonl", id=ids, suggestions=sample[:2])
    session.accept()
    session.label("relevant", ["0a", "1a"] if name == "ana" else ["0a", "0b", "1a"])
    session.label("support", "partial" if name == "ana" else "none", "b")
    session.close()
Annotator(adjudicate(sample[:2], ["ana.two.jsonl", "ben.two.jsonl"], "cy", "gold.trace.jsonl"))
"""
VIEW = "ragnb.view(recorded_responses('rgb_noise').query(\"system in ['answer', 'plain']\"))"
RESULTS = """
responses = ragnb.load_responses("answers.csv", language="en")
scores = ragnb.score(responses, ["answer.exact_match", "answer.f1", "annotator.verdict"])
ragnb.summarize(scores)"""
COMPARED = "ragnb.compare(scores)"
NOTED = "ragnb.summarize(scores).tail(1).assign(note='لا أعرف، لا أعرف')"
JUDGE = (
    "ragnb.judge_report(ragnb.load_study('sample-labelled-en'), annotators=['label_a', 'label_b'])"
)


@dataclass
class Shot:
    """A picture of something in JupyterLab: cells, what of the page is taken, and keys that are pressed before."""

    name: str
    what: str
    cell: str
    more: tuple[str, ...] = ()
    setup: str = SETUP
    focus: str = ""
    keys: Sequence[str] = ()
    theme: str = "light"
    width: int = 1200


ANNOTATOR, VIEWER, CARD = ".ragnb-annotator", ".ragnb-view", ".jp-RenderedHTMLCommon > div"
NOTEBOOK, DOCUMENTS, ROWS_LIST = ".jp-WindowedPanel-viewport", ".part.documents", ".ragnb-rows-list"
SHOTS = [
    # Two suggestions taken over after second thoughts, [a] supported; the rest is open.
    Shot("annotator_trace", ANNOTATOR, "annotator_of_trace('ana')", focus=DOCUMENTS, keys="xxuxxv1srjjj"),
    Shot("annotator_list", ANNOTATOR, "annotator_of_trace('ana')", focus=DOCUMENTS, keys="nanxfn.g"),
    Shot("adjudication", ANNOTATOR, ADJUDICATION, focus=DOCUMENTS, keys="xjux"),
    Shot("rgb", CARD, "view(static_viewers()['rgb'][0])"),
    Shot("trace", CARD, "view(ragnb.load_ragbench('sample-ragbench').iloc[3])"),
    Shot("language", CARD, "view(MIXED)"),
    Shot("judge", CARD, f"view({JUDGE}.worst.iloc[0])"),
    Shot("results", NOTEBOOK, RESULTS, (COMPARED,), "import ragnb"),
    Shot("view", VIEWER, VIEW, focus=ROWS_LIST, keys=[*"/year", "Escape", "j"]),
    # It names what was discovered, not who did it.
    Shot("annotator_verdict_dark", ANNOTATOR, "Annotator(arabic, 'verdict', 'ben', '.', id=ids)", focus=".part.response",
         keys="2p", theme="dark"),
    Shot("results_narrow_dark", NOTEBOOK, RESULTS, (COMPARED, NOTED), "import ragnb", theme="dark", width=600),
    Shot("view_arabic_dark", VIEWER, "ragnb.view(arabic, changed=['multi', 'direct'])", theme="dark"),
    # 600 of 1200: as at 200 % zoom.
    Shot("view_narrow_dark", VIEWER, "ragnb.view(ragnb.load_study('mtrag').query('turn > 1'))", theme="dark", width=600),
]  # fmt: skip


def static_viewers():
    """Each static viewer: its page for readers of English, and its page in Arabic."""
    counterfactual = recorded_responses("rgb_counterfactual")
    wrong = counterfactual[counterfactual.kinds.map(lambda kinds: "wrong" in kinds)].iloc[0]
    asked = {name: ARABIC[name] for name in ("question", "language", "response", "references")}
    return {
        "trace": (ragnb.load_ragbench("sample-ragbench").iloc[0], {**asked, **LABELS}),
        "rgb": (wrong, {**ARABIC, **FALSE, "noise_rate": 0.4}),
        "language": (MIXED, asked | {"response": ARABIC["response"] + "\nThe novel, as a book."}),
        "judge": (ENGLISH | JUDGED, ARABIC | JUDGED),
        "claims": (ENGLISH, ARABIC),
    }


# ---- taking and writing --------------------------------------------------------------------------


def taken(what):
    """The picture of an element as PNG, not higher than a window."""
    what.page.mouse.move(0, 0)
    what.page.wait_for_timeout(400)
    return what.screenshot(animations="disabled")


def shoot(what, name, margin=0):
    """Write the picture of one element with a margin around."""
    picture = Image.open(io.BytesIO(taken(what))).convert("RGB")
    picture = ImageOps.expand(picture, margin, picture.getpixel((0, 0)))
    small = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(FIGURES / f"{name}.png", optimize=True)


SHEET = """<!doctype html><meta charset=utf-8><style>
body { margin: 0; padding: 16px; width: max-content; background: #d9d9d9; font: 12px system-ui }
body > div { display: flex; gap: 16px } figure { margin: 0 0 16px } img { zoom: 0.7 }
figure div { max-height: 770px; overflow: hidden }</style>"""


def sheet(browser, name, pictures, rows=ROWS):
    """Write pictures as one sheet with their names, of at most 200 kB."""
    html = SHEET
    for row in rows:
        sources = [(look, b64encode(pictures[look]).decode()) for look in row]
        figures = [
            f"<figure>{look}<div><img src='data:image/png;base64,{source}'></div></figure>"
            for look, source in sources
        ]
        html += f"<div>{''.join(figures)}</div>"
    page = browser.new_page()
    page.set_content(html)
    whole = Image.open(io.BytesIO(taken(page.locator("body")))).convert("RGB")
    page.close()
    for colours in (256, 128, 64, 32, 24, 16):
        # A sheet is for looking at, and no page shows it.
        path = (SHEETS if name.startswith("sheet_") else FIGURES) / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        whole.quantize(colours, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size <= 200_000:
            break


@contextmanager
def opened(browser, look, content=""):
    """A page with this content in a window of this look."""
    width, ratio = LOOKS[look]
    page = browser.new_page(
        viewport={"width": width, "height": HEIGHT},
        device_scale_factor=ratio,
        color_scheme="dark" if look == "dark" else "light",
    )
    page.set_content(PAGE + content)
    yield page
    page.close()


# ---- static viewers, explorables, the hand-out: pages without Jupyter ----------------------------


def cards(browser, _):
    for name, (english, arabic) in static_viewers().items():
        kind = "trace" if name == "trace" else None
        pictures = {}
        for look in LOOKS:
            shown = ragnb.view(arabic if look == "Arabic" else english, kind)
            with opened(browser, look, shown._repr_html_()) as page:
                if name == "claims":
                    page.locator("span.r-c1").first.focus()
                pictures[look] = taken(page.locator("body"))
        sheet(browser, f"sheet_{name}", pictures)


def explorables(browser, _):
    shown = {name: ragnb.explore(name)._repr_html_() for name in EXPLORABLES}
    arabic = ragnb.explore("trace", {**ARABIC, **LABELS})._repr_html_()
    pictures, tiles = {}, {}
    for look in LOOKS:
        some = arabic if look == "Arabic" else shown["mcnemar"] + shown["fieller"]
        with opened(browser, look, some) as page:
            page.locator(".live").first.wait_for()
            pictures[look] = taken(page.locator("body"))
    sheet(browser, "sheet_explorables", pictures)
    for name, html in shown.items():
        with opened(browser, "light", f"<div style='max-width:676px'>{html}</div>") as page:
            page.locator(".live").first.wait_for()
            tiles[name] = taken(page.locator("body > div"))
    names = list(EXPLORABLES)
    sheet(browser, "widget_explore", tiles, [names[k : k + 2] for k in range(0, len(names), 2)])


def handout(browser, folder):
    pictures = {}
    for look in LOOKS:
        row = ARABIC if look == "Arabic" else ENGLISH
        row = {**row, "example_id": "one", "claims": [part["text"] for part in row["parts"]]}
        frame = pd.DataFrame([row]).drop(columns="parts")
        path = ragnb.export_annotator(frame, "claims", folder / "one.html", annotator="Ana")
        with opened(browser, look) as page:
            page.goto(path.as_uri())
            page.keyboard.press("1")
            pictures[look] = taken(page.locator("body"))
    sheet(browser, "sheet_handout", pictures)
    path = ragnb.export_annotator(
        pd.DataFrame([TURN]), "claims", folder / "b.html", annotator="Ana"
    )
    with opened(browser, "dark") as page:
        page.set_viewport_size({"width": 560, "height": 400})
        page.goto(path.as_uri())
        page.keyboard.type("12")
        shoot(page.locator("main"), "widget_handout_narrow_dark", margin=12)


# ---- what needs a kernel, in JupyterLab ----------------------------------------------------------


def lab(browser, folder):
    with lab_page(browser, folder, viewport=LAB) as page:
        shutil.copy(FIGURES.parent / "docs/answers.csv", folder)
        for shot in SHOTS:
            change_theme(page, shot.theme)
            page.set_viewport_size({**LAB, "width": shot.width})
            show(page, shot.setup + shot.cell, *shot.more)
            press(page, shot.focus, shot.keys)
            margin = 12 if shot.what == CARD else 0
            shoot(page.locator(shot.what).first, f"widget_{shot.name}", margin)
        sheets(page)


def press(page, focus, keys):
    """Press keys where the focus is put, and leave each of them a moment."""
    page.wait_for_timeout(500)
    if focus:
        page.locator(focus).first.focus()
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(150)


def sheets(page):
    """The view of a frame and the annotator in windows of all looks."""
    pictures = {"sheet_view": {}, "sheet_annotator": {}}
    for look, (width, ratio) in LOOKS.items():
        wide = {1000: 1240, 500: 620}.get(width, 520)  # with JupyterLab's margins
        size = {"width": wide, "height": 2200}
        other = page.context.browser.new_page(viewport=size, device_scale_factor=ratio)
        other.goto(page.url.split("?")[0], wait_until="domcontentloaded")
        wait_for_kernel(other)
        hide_files(other)
        change_theme(other, "dark" if look == "dark" else "light")
        show(other, SETUP + ("ragnb.view(arabic)" if look == "Arabic" else VIEW))
        other.locator(".ragnb-rows-menu summary").first.click()
        pictures["sheet_view"][look] = taken(other.locator(VIEWER).first)
        who = "".join(filter(str.isalpha, look))
        arabic = "pd.DataFrame([{**ARABIC, **LABELS, 'example_id': 'one'}])"
        frame = arabic if look == "Arabic" else "sample"
        show(other, SETUP + f"annotator_of_trace({who!r}, {frame})")
        press(other, DOCUMENTS, "xjuxv1sr")
        pictures["sheet_annotator"][look] = taken(other.locator(ANNOTATOR))
        other.context.close()
    for name, those in pictures.items():
        sheet(page.context.browser, name, those)


KINDS = {one.__name__: one for one in (cards, explorables, handout, lab)}

if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as name,
        sync_playwright() as playwright,
        launch(playwright) as browser,
    ):
        for kind in sys.argv[1:] or KINDS:
            KINDS[kind](browser, Path(name))
