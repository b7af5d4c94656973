"""The sliders and the annotator of the notebooks in a real JupyterLab, after all cells have run."""

import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser.lab import notebook_page
from browser.screen import Annotating

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
PICTURE = "([picture, before]) => picture.src !== before && picture.naturalWidth > 0 && picture.width <= picture.naturalWidth"
"""Whether the picture is another one than before, shown no larger than it was drawn."""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@contextmanager
def run(lab, number):
    """The page of a notebook whose cells have all run; no error may be raised there, then or later."""
    for name in ("notebooks", "figures"):
        (lab.folder / name).mkdir(exist_ok=True)
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    shutil.copy(path, lab.folder / "notebooks")
    with notebook_page(lab, f"notebooks/{path.name}") as page:
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        yield page
        # What fails after a cell has run, such as a callback, is in the log console alone: look for it in the messages.
        failed = [frame for frame in page.received if re.search(r'"msg_type": ?"error"', frame)]
        assert [*page.errors, *page.outside, *failed] == []


@pytest.mark.parametrize(
    ("number", "first", "second"),
    [
        ("10", "alpha 0.05: 140 sets", "alpha 0.06: 140 sets"),
        ("11", "judged_correct: 60 labels", "judged_correct: 61 labels"),
        ("14", "drawn 6.4 in: 10 points", "drawn 6.5 in: 10 points"),
    ],
)
def test_the_text_beside_a_slider_is_there_from_the_start_and_follows_it(
    lab, number, first, second
):
    with run(lab, number) as page:
        page.locator(".widget-html-content", has_text=first).wait_for()
        page.locator(".noUi-handle").focus()
        page.keyboard.press("ArrowRight")
        page.locator(".widget-html-content", has_text=second).wait_for()


def test_the_picture_of_notebook_09_follows_its_slider_and_its_buttons(lab):
    with run(lab, "09") as page:
        picture = page.locator("img.widget-image").element_handle()
        page.wait_for_function(PICTURE, arg=[picture, ""])
        before = picture.get_property("src").json_value()
        page.locator(".noUi-handle").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(PICTURE, arg=[picture, before])
        before = picture.get_property("src").json_value()
        page.locator(".widget-toggle-buttons").get_by_text("multi").click()
        page.wait_for_function(PICTURE, arg=[picture, before])


def test_the_annotator_of_notebook_12_shows_the_three_actions_of_its_cell(lab):
    with run(lab, "12") as page:
        screen = Annotating(page, "")
        assert screen.badges("It moves warmth into the house") == "R"
        assert screen.badges("A gas boiler makes its warmth") == "R"
        assert screen.root.locator("[data-field=utilized] .value").inner_text() == "∅ none"
        screen.button("list").click()
        assert screen.root.locator(".row").first.get_attribute("aria-label").startswith("1 started")
