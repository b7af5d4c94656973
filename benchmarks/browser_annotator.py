"""How fast the annotator is in a real JupyterLab in headless Chromium: medians of what a person waits for.

    PYTHONPATH=tests python -m benchmarks.browser_annotator

An item has 304 sentences, none of them folded; the list has 5,000 items. Painted means: one frame after the page has
changed. Without Chromium nothing is measured, and it says so.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from browser.lab import CHROMIUM, lab_page, wait_for_kernel
from browser.screen import annotate

from benchmarks.timing import keep, versions

ROUNDS = 15
ITEMS = 5000
SAID = []

PAINTED = """async ([key, changed]) => {
  const root = document.querySelector('.ragnb-annotator'), look = () => new Function('root', `return ${changed}`)(root);
  const before = look();
  const frame = () => new Promise(requestAnimationFrame), start = performance.now();
  root.querySelector('.part').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  while (look() === before && performance.now() - start < 5000) await frame();
  await frame();
  return performance.now() - start; }"""
"""Milliseconds from a key to the first frame after something has changed."""

SCROLLED = """async () => {
  const list = document.querySelector('.ragnb-annotator .list'), times = [];
  const frame = () => new Promise(requestAnimationFrame);
  let last = await frame();
  for (let n = 0; n < 120; n++) {
    list.scrollTop += 900;
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times.sort((a, b) => a - b) }"""
"""Times between frames while the list is scrolled through, in milliseconds."""


def main():
    if CHROMIUM is None:
        print(
            "NO BROWSER: Chromium is not installed, so the annotator is not timed", file=sys.stderr
        )
        return keep("browser", {"needs": "Chromium", "rows": []})
    measure()
    keep("browser", {"rows": SAID, "versions": versions(["jupyterlab", "anywidget", "playwright"])})


def measure():
    with (
        tempfile.TemporaryDirectory() as folder,
        lab_page(Path(folder), ["import ragnb.widgets"], viewport=(1300, 1000)) as page,
    ):
        page.folder = Path(folder)
        wait_for_kernel(page)
        page.received.clear()
        call = "Annotator(long_list(), 'trace', 'ana', '.')"
        items = f"def long_list():\n    return pd.concat([trace_items(20, 38, 8), trace_items({ITEMS}, 1)[20:]])\n"
        started = time.perf_counter()
        screen = annotate(page, items + call, "ana.trace.jsonl")
        say("cell run to item shown, 5,000 items", [(time.perf_counter() - started) * 1000])
        say("first state message of 5,000 items", [max(map(len, page.received)) / 1000], "kB")
        for key, changed, what in (
            (
                "n",
                "root.querySelector('.question').textContent",
                "n to 300 sentences painted, kernel included",
            ),
            ("j", "root.querySelector('.cursor')?.id", "arrow to painted"),
            (
                "x",
                "root.querySelectorAll('.sentence.on').length",
                "x to painted as chosen, kernel included",
            ),
        ):
            say(what, [page.evaluate(PAINTED, [key, changed]) for _ in range(ROUNDS)])
            screen.settle()
        say("click to line on the disk", [click_to_disk(screen, n) for n in range(ROUNDS)])
        page.received.clear()
        screen.press("x")
        say("state message of an action", [max(map(len, page.received)) / 1000], "kB")
        page.received.clear()
        screen.press("n")
        say("message of another item of 300 sentences", [max(map(len, page.received)) / 1000], "kB")
        opened = ["g", "root.querySelector('.panel.jump').hidden"]
        say("opening or closing the list", [page.evaluate(PAINTED, opened) for _ in range(ROUNDS)])
        times = page.evaluate(SCROLLED)
        say("frame while the list is scrolled", times)
        say("its slowest frame", times[-1:])
        assert not page.errors


def click_to_disk(screen, number):
    """Milliseconds from the button going up to a longer log."""
    box = screen.root.locator(".sentence:visible").nth(number % 8).bounding_box()
    size = screen.log.stat().st_size
    screen.page.mouse.move(box["x"] + 60, box["y"] + 5)
    screen.page.mouse.down()
    started = time.perf_counter()
    screen.page.mouse.up()
    while screen.log.stat().st_size == size:
        time.sleep(0.0005)
    taken = (time.perf_counter() - started) * 1000
    screen.settle()
    return taken


def say(what, values, unit="ms"):
    print(f"{what:45} {median(values):8.1f} {unit}", flush=True)
    SAID.append({"what": what, "median": median(values), "unit": unit, "rounds": len(values)})


if __name__ == "__main__":
    main()
