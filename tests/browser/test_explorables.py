"""Explorables on a page: in JupyterLab with keys and themes, in a notebook that is not trusted, and without Jupyter."""

import nbformat
import pandas as pd
import pytest
from support.hostile import PAYLOADS, visible
from support.lab import show_html

import ragnb
from ragnb.experiments import recorded_responses

RAN = "all => all.some(one => one.shadowRoot)"
OPEN = """path => window.jupyterapp.commands.execute('docmanager:open',
  { path, factory: 'Notebook', kernelPreference: { shouldStart: false } }).then(() => null)"""
"""A notebook in a tab of its own, without a kernel."""

pytestmark = pytest.mark.browser


def test_a_student_moves_a_slider_and_the_notebook_keeps_its_keys(book, explorable):
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)
    show_html(book, explorable("mcnemar"))
    sentence = book.locator(".jp-OutputArea .sentence")
    expect(sentence).to_contain_text("The exact test gives p = 0.0312, the mid-p test p = 0.0156.")
    cells = book.locator(".jp-Notebook .jp-Cell").count()
    slider = book.get_by_label("only the second correct")
    slider.focus()
    book.keyboard.press("End")
    expect(sentence).to_contain_text("only the second on 30. The exact test gives p < 0.001")
    assert slider.evaluate("one => one.ariaValueText") == "30"
    book.keyboard.press("Home")
    book.keyboard.press("ArrowRight")
    expect(sentence).to_contain_text("only the second on 5. The exact test gives p = 1.0000")
    for key in "abd":
        book.keyboard.press(key)
    assert book.locator(".jp-Notebook .jp-Cell").count() == cells
    assert book.locator(".jp-Dialog").count() == 0


def test_a_notebook_that_is_not_trusted_shows_the_picture_and_the_sentence(lab, explorable):
    output = nbformat.v4.new_output("display_data", {"text/html": explorable("mcnemar")})
    cell = nbformat.v4.new_code_cell("pass", outputs=[output], execution_count=1)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    foreign = nbformat.v4.new_notebook(cells=[cell], metadata=kernel)
    nbformat.write(foreign, lab.folder / "foreign.ipynb")
    lab.evaluate(OPEN, "foreign.ipynb")
    try:
        area = lab.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output")
        area.get_by_text("the mid-p test p = 0.0156").wait_for(timeout=30_000)
        assert not area.locator("*").evaluate_all(RAN)
        image = area.get_by_role("img", name="Distribution of the questions")
        assert image.evaluate("image => image.complete && image.naturalWidth") > 500
    finally:
        lab.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")


@pytest.fixture
def page(chromium):
    """A page without Jupyter, which asks for nothing."""
    page = chromium.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    page.context.close()
    assert {url.partition(":")[0] for url in asked} <= {"data", "about"}


def test_sentences_are_labelled_with_keys_and_the_focus_stays(page, explorable):
    page.set_content(explorable("trace"))
    sentence = page.locator(".sentence")
    assert "(completeness 0.75)" in sentence.text_content()
    used = page.get_by_role("button", name="used: It can also cool the rooms in summer.")
    used.focus()
    page.keyboard.press("Space")
    assert "4 are used (utilization 0.67)" in sentence.text_content()
    assert "(completeness 1.00)" in sentence.text_content()
    assert used.get_attribute("aria-pressed") == "true"
    assert used.evaluate("one => one.getRootNode().activeElement === one")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert "3 are relevant (relevance 0.50)" in sentence.text_content()
    page.get_by_role("button", name="unsupported: Before long").click()
    assert "none are unsupported, so adherence is 1." in sentence.text_content()


def test_a_reply_leaves_a_fraction_and_its_denominator_by_the_keyboard(page, explorable):
    page.set_content(explorable("correction"))
    sentence = page.locator(".sentence")
    everything = "Corrected: 1 of 3 under paper, 2 of 3 under released, 2 of 5 under flexible."
    assert sentence.text_content() == everything
    alone = page.get_by_role("button", name="counted: It is Paris.", exact=True)
    alone.focus()
    page.keyboard.press("Space")
    assert alone.get_attribute("aria-pressed") == "false"
    assert "1 of 3 under paper, 2 of 3 under released, 1 of 4 under" in sentence.text_content()
    for name in page.get_by_role("button", name="There are factual errors").all():
        name.focus()
        page.keyboard.press("Enter")
    assert "0 of 0 under paper (undefined)" in sentence.text_content()
    assert page.locator("progress").count() == 1


@pytest.mark.filterwarnings("ignore:Glyph")
def test_attacks_in_names_and_texts_of_explorables_are_inert(page):
    first, second = pd.Series([1, 0], name=PAYLOADS[1]), pd.Series([0, 1], name=PAYLOADS[-5])
    responses = recorded_responses("rgb_noise").query("system == 'plain'")
    responses = responses[responses["example_id"] == responses["example_id"].iloc[0]]
    n = len(responses)
    responses = responses.assign(
        question=PAYLOADS[4], passages=[PAYLOADS] * n, kinds=[["positive"] * len(PAYLOADS)] * n,
        response=PAYLOADS[:n],
    )  # fmt: skip
    record = ragnb.load_ragbench("sample-ragbench").iloc[0].to_dict()
    record["question"] = PAYLOADS[6]
    record["response_sentences"] = [[f"{n}", text] for n, text in enumerate(PAYLOADS)]
    shown = [ragnb.explore("mcnemar", first, second), ragnb.explore("noise", responses), ragnb.explore("trace", record)]  # fmt: skip
    page.set_content("".join(one._repr_html_() for one in shown))
    page.locator(".live").nth(2).wait_for()
    for at in (1, 2):
        live = visible(page.locator(".live").nth(at).text_content())
        assert [text for text in PAYLOADS if visible(text) not in live] == []
    assert page.evaluate("() => window.__hit") is None


def test_a_narrow_page_without_jupyter_shows_it_and_paper_the_picture(page, explorable):
    page.set_viewport_size({"width": 320, "height": 700})
    page.set_content(f"<!doctype html><title>x</title>{explorable('mcnemar')}")
    page.locator("svg path").first.wait_for(timeout=30_000)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
    picture = page.get_by_role("img", name="Distribution of the questions")
    assert not picture.is_visible()
    page.emulate_media(media="print")
    assert picture.is_visible()
    assert not page.locator(".live").is_visible()
