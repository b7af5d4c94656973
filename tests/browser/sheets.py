"""One contact sheet per viewer: light, dark, Arabic, in a narrow window and at 200 % zoom: ``python -m browser.sheets``, in ``tests``."""

import io
import sys
import tempfile
from pathlib import Path

import pandas as pd
from browser.lab import change_theme, lab_page, launch, show, wait_for_kernel
from browser.screen import Annotating
from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

import ragnb
from ragnb.experiments.recorded import recorded_responses
from ragnb.explorables import EXPLORABLES

FIGURES = Path(__file__).parents[2] / "figures"
WIDE, NARROW, ZOOMED = (1000, 1), (400, 1), (500, 2)
"""Width of a window in CSS pixels, and device pixels per CSS pixel: 200 % zoom halves the former and doubles the latter."""
HEIGHT, SCALE, GAP = 1000, 0.7, 16
KINDS = {"light": WIDE, "dark": WIDE, "Arabic": WIDE, "narrow": NARROW, "200 % zoom": ZOOMED}
PAGE = "<!doctype html><meta charset=utf-8><title>x</title><style>:root { color-scheme: light dark } body { margin: 12px; font: 14px system-ui }</style>"


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


def opened(browser, kind, content=""):
    """A page with this content in a window of this kind."""
    width, ratio = KINDS[kind]
    page = browser.new_page(
        viewport={"width": width, "height": HEIGHT},
        device_scale_factor=ratio,
        color_scheme="dark" if kind == "dark" else "light",
    )
    page.set_content(PAGE + content)
    return page


def taken(page, what=None, clip=None):
    """The picture of a page or of an element, not higher than the window."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)
    shot = (what or page).screenshot(animations="disabled", **({} if what else {"clip": clip}))
    picture = Image.open(io.BytesIO(shot)).convert("RGB")
    return picture.crop((0, 0, picture.width, min(picture.height, int(1.1 * HEIGHT))))


def sheet(name, pictures, rows=(("light", "dark"), ("Arabic", "narrow", "200 % zoom"))):
    """Write pictures as one sheet with their names."""
    small = {
        kind: one.resize(
            (int(one.width * SCALE), int(one.height * SCALE)), Image.Resampling.LANCZOS
        )
        for kind, one in pictures.items()
    }
    lines = [[(kind, small[kind]) for kind in row if kind in small] for row in rows]
    width = max(sum(one.width + GAP for _, one in line) for line in lines) + GAP
    height = sum(max(one.height for _, one in line) + 2 * GAP for line in lines) + GAP
    whole = Image.new("RGB", (width, height), "#d9d9d9")
    draw, top = ImageDraw.Draw(whole), GAP
    for line in lines:
        left = GAP
        for kind, one in line:
            draw.text((left, top - 4), kind, fill="black")
            whole.paste(one, (left, top + GAP - 4))
            left += one.width + GAP
        top += max(one.height for _, one in line) + 2 * GAP
    for colours in (256, 128, 64, 32, 24, 16):
        path = FIGURES / f"{name}.png"
        whole.quantize(colours, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size <= 200_000:
            break
    print(f"{path.name}: {whole.width} x {whole.height}, {path.stat().st_size / 1000:.0f} kB")


def cards(browser):
    for name, (english, arabic) in static_viewers().items():
        kind = "trace" if name == "trace" else None
        pages = [ragnb.view(one, kind)._repr_html_() for one in (english, arabic)]
        pictures = {}
        for look in KINDS:
            page = opened(browser, look, pages[look == "Arabic"])
            if name == "claims":
                page.locator("span.r-c1").first.focus()
            pictures[look] = taken(page, page.locator("body"))
            page.close()
        sheet(f"sheet_{name}", pictures)


def explorables(browser):
    shown = {name: ragnb.explore(name)._repr_html_() for name in EXPLORABLES}
    arabic = ragnb.explore("trace", {**ARABIC, **LABELS})._repr_html_()
    pictures = {}
    for look in KINDS:
        some = arabic if look == "Arabic" else shown["mcnemar"] + shown["fieller"]
        page = opened(browser, look, f"<div style='max-width:60em'>{some}</div>")
        page.locator(".live").first.wait_for()
        pictures[look] = taken(page, page.locator("body"))
        page.close()
    sheet("sheet_explorables", pictures)
    tiles = {}
    for name in EXPLORABLES:
        page = browser.new_page(viewport={"width": 700, "height": HEIGHT})
        page.set_content(PAGE + shown[name])
        page.locator(".live").first.wait_for()
        tiles[name] = taken(page, page.locator("body"))
        page.close()
    names = list(EXPLORABLES)
    sheet("widget_explore", tiles, [names[k : k + 2] for k in range(0, len(names), 2)])


def handout(browser, folder):
    frames = {}
    for look, row in (("light", ENGLISH), ("Arabic", ARABIC)):
        claims = [part["text"] for part in row["parts"]]
        frame = pd.DataFrame([{**row, "example_id": "one", "claims": claims}])
        frames[look] = ragnb.export_annotator(
            frame.drop(columns="parts"), "claims", folder / f"{look}.html", annotator="Ana"
        )
    pictures = {}
    for look in KINDS:
        page = opened(browser, look)
        page.goto(frames.get(look, frames["light"]).as_uri())
        page.keyboard.press("1")
        pictures[look] = taken(page, page.locator("body"))
        page.close()
    sheet("sheet_handout", pictures)


VIEW = """
import ragnb
from ragnb.experiments.recorded import recorded_responses
ragnb.view(recorded_responses("rgb_noise").query("system in ['answer', 'plain']"))
"""
ARABIC_VIEW = """
import ragnb
ragnb.view(ragnb.load_study("sample-labelled-multilingual").query("language == 'ar'"))
"""
TRACE = """
import ragnb
from ragnb.widgets import *
sample = ragnb.load_ragbench("sample-ragbench").query("language == 'en'")
Annotator(sample, "trace", {name!r}, ".", id=["example_id", "system"], suggestions=sample, suggested_by="a judge")
"""
ARABIC_TRACE = """
import pandas as pd
from browser.sheets import ARABIC, LABELS
from ragnb.widgets import *
Annotator(pd.DataFrame([{{**ARABIC, **LABELS, "example_id": "one"}}]), "trace", {name!r}, ".")
"""


def live(page):
    """The viewers that need a kernel, in JupyterLab: the picture of each in this window."""
    for look, (width, ratio) in KINDS.items():
        size = {
            "width": {1000: 1240, 500: 620}.get(width, 520),
            "height": 2200,
        }  # with JupyterLab's margins
        other = page.context.browser.new_page(viewport=size, device_scale_factor=ratio)
        other.goto(page.url.split("?")[0], wait_until="domcontentloaded")
        other.folder = page.folder
        wait_for_kernel(other)
        other.evaluate(
            "() => window.jupyterapp.restored.then(() => window.jupyterapp.shell.collapseLeft())"
        )
        change_theme(other, "dark" if look == "dark" else "light")
        show(other, ARABIC_VIEW if look == "Arabic" else VIEW)
        other.locator(".ragnb-rows-row").first.wait_for()
        other.locator(".ragnb-rows-menu summary").first.click()
        other.wait_for_timeout(500)
        view = taken(other, other.locator(".ragnb-view").first)
        who = "".join(filter(str.isalpha, look))
        show(other, (ARABIC_TRACE if look == "Arabic" else TRACE).format(name=who))
        annotator = Annotating(other, f"{who}.trace.jsonl")
        annotator.focus()
        annotator.press("x", "j", "u", "x", "v", "1", "s", "r")
        yield look, view, taken(other, annotator.root)
        other.context.close()


def main(which):
    with (
        tempfile.TemporaryDirectory() as name,
        sync_playwright() as playwright,
        launch(playwright) as browser,
    ):
        folder = Path(name)
        if "cards" in which:
            cards(browser)
        if "explorables" in which:
            explorables(browser)
        if "handout" in which:
            handout(browser, folder)
        if "live" in which:
            with lab_page(
                browser, folder, ["import ragnb"], viewport={"width": 1240, "height": 2200}
            ) as page:
                page.folder = folder
                wait_for_kernel(page)
                looks, views, annotators = zip(*live(page), strict=True)
                sheet("sheet_view", dict(zip(looks, views, strict=True)))
                sheet("sheet_annotator", dict(zip(looks, annotators, strict=True)))


if __name__ == "__main__":
    main(sys.argv[1:] or ["cards", "explorables", "handout", "live"])
