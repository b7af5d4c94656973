"""The desk: the page computes what Python computes, and each wrong input gets a plain sentence."""

import contextlib
import io
import random
from pathlib import Path

import pytest

DESK = (Path(__file__).parents[2] / "docs" / "desk.html").as_uri()
TYPE = """([id, inputs]) => {
  for (const [name, text] of Object.entries(inputs)) {
    document.getElementById(`${id}-${name}`).value = text;
  }
  document.querySelector(`#${id} input`).dispatchEvent(new Event("input"));
  const texts = (selector) => [...document.querySelectorAll(`#${id} ${selector}`)].map((one) => one.textContent);
  return { lines: texts("samp"), sentences: texts(".answer > p"), python: texts("code")[0] };
}"""
"""Type into the fields of a question, and read its answer."""

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def desk(chromium):
    """The page as a file, which asks for nothing else."""
    page = chromium.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(DESK)
    yield page
    page.context.close()
    assert {url.partition("#")[0] for url in asked} == {DESK}
    assert not errors


def type_into(page, question, **inputs):
    return page.evaluate(TYPE, [question, inputs])


def printed(lines):
    """What lines of Python print."""
    assert len(lines.splitlines()) == 2
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(lines, {})
    return out.getvalue().splitlines()


# ---- random inputs -------------------------------------------------------------------------------


def level(rng):
    return rng.choice(["95", "95", "90", "99", "99.9", f"{rng.uniform(50, 99.5):.1f}"])


def decimal(rng, low, high, digits=3):
    return f"{rng.uniform(low, high):.{rng.randint(0, digits)}f}"


def size(rng, low=1, high=3000):
    """Small numbers are as frequent as large ones."""
    return round(low * (high / low) ** rng.random())


def part_of(rng, n):
    return rng.choice([0, n, rng.randint(0, n), rng.randint(0, n), rng.randint(0, n)])


def share(rng):
    n = size(rng)
    return {"k": part_of(rng, n), "n": n, "level": level(rng)}


def percentage(rng):
    return {"mean": decimal(rng, 0, 100, 2), "n": size(rng)}


def mean(rng):
    step = rng.choice(["1", "0.5", "0.25", "0.1"])
    lowest = rng.choice([0, 1, -2])
    highest = lowest + rng.randint(1, 6)
    value = decimal(rng, lowest, highest, 3)
    return {
        "mean": value, "sd": decimal(rng, 0, (highest - lowest) / 2), "n": size(rng, 2),
        "lowest": lowest, "highest": highest, "step": step, "level": level(rng),
    }  # fmt: skip


def pairs(rng):
    sd = f"{rng.uniform(0.05, 3):.3f}"
    effect = f"{float(sd) * rng.uniform(0.05, 1.5):.4f}"
    return {"effect": effect, "sd": sd, "power": rng.choice([80, 90, 50, 99]), "level": level(rng)}


def clusters(rng):
    return pairs(rng) | {"size": rng.randint(1, 30), "icc": f"{rng.uniform(0, 1):.2f}"}


def mcnemar(rng):
    return {
        "effect": f"{rng.uniform(3, 60):.1f}", "discordance": f"{rng.uniform(0, 100):.0f}",
        "power": rng.choice([80, 90, 50]), "level": level(rng),
    }  # fmt: skip


def judge(rng):
    positives, negatives, n = size(rng), size(rng), size(rng)
    return {
        "hits": rng.randint(positives // 2, positives), "positives": positives,
        "rejections": rng.randint(negatives // 2, negatives), "negatives": negatives,
        "accepted": part_of(rng, n), "n": n, "level": level(rng),
    }  # fmt: skip


def difference(rng):
    counts = {name: rng.choice([0, size(rng), size(rng)]) for name in ("both", "a", "b", "neither")}
    if not any(counts.values()):
        counts["both"] = 1
    return counts | {"level": level(rng)}


def counts(rng):
    n = size(rng)
    return {"a": part_of(rng, n), "b": part_of(rng, n), "n": n}


def efficiency(rng):
    return {
        "gain": decimal(rng, -1, 1), "gain_sd": decimal(rng, 0, 1), "cost": decimal(rng, -20, 100, 1),
        "cost_sd": decimal(rng, 0, 80, 1), "r": decimal(rng, -1, 1, 2), "n": size(rng), "level": level(rng),
    }  # fmt: skip


QUESTIONS = {
    made.__name__: made
    for made in (
        share, percentage, mean, pairs, clusters, mcnemar, judge, difference, counts, efficiency
    )
}  # fmt: skip


# The p-values j / 32 of fair coins are exactly halfway between two printed ones. scipy's can be smaller by a
# rounding error, so both neighbours count as equal. tools/js/test/desk.test.mjs has the exact values.
HALFWAY = {f"p = {j / 32 - 1e-9:.4f}": f"p = {j / 32 + 1e-9:.4f}" for j in range(1, 32, 2)}
HALFWAY |= {
    old.replace("p =", word): new.replace("p =", word)
    for old, new in HALFWAY.items()
    for word in ("from", "to")
}


def rounded_up(lines):
    for below, above in HALFWAY.items():
        lines = [line.replace(below, above) if "McNemar" in line else line for line in lines]
    return lines


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_page_prints_what_its_lines_of_python_print(desk, question):
    rng, compared = random.Random(question), 0
    while compared < 100:
        inputs = {name: str(value) for name, value in QUESTIONS[question](rng).items()}
        answer = type_into(desk, question, **inputs)
        if answer["lines"]:
            assert rounded_up(answer["lines"]) == rounded_up(printed(answer["python"])), inputs
            compared += 1
        else:
            # Rounding can make a difference 0, and a mean can be beyond the scores.
            assert "must be" in answer["sentences"][0], (inputs, answer)


def test_each_question_is_tried(desk):
    cards = desk.locator(".card").evaluate_all("cards => cards.map((card) => card.id)")
    assert sorted(cards) == sorted(QUESTIONS)


# ---- as a reader uses it ---------------------------------------------------------------------------


def test_the_examples_are_answered_when_the_page_opens(chromium):
    page = chromium.new_page()
    page.goto(DESK)
    answers = page.locator(".card").evaluate_all(
        "cards => cards.map((card) => [card.querySelector('samp')?.textContent, card.querySelector('code').textContent])"
    )
    assert len(answers) == len(QUESTIONS)
    for first_line, python in answers:
        assert printed(python)[0] == first_line
    page.context.close()


@pytest.mark.parametrize(
    ("question", "inputs", "sentence"),
    [
        ("share", {"k": "101", "n": "100"}, "The number of successes must be at most the number of items, got 101 of 100."),
        ("share", {"k": "0", "n": "0"}, "The number of items must be a whole number of at least 1, got 0."),
        ("share", {"k": "", "n": "100"}, "Enter the number of successes."),
        ("share", {"k": "8.5", "n": "100"}, "The number of successes must be a whole number of at least 0, got 8.5."),
        ("share", {"k": "-3", "n": "100"}, "The number of successes must be a whole number of at least 0, got -3."),
        ("share", {"k": "1,000", "n": "2000"}, "Write numbers with a decimal point and without commas or spaces: “1,000” has one."),
        ("mean", {"mean": "3,47"}, "Write numbers with a decimal point and without commas or spaces: “3,47” has one."),
        ("mean", {"mean": "7.5"}, "The mean must be between the lowest and the highest possible score, got 7.5."),
        ("pairs", {"effect": "0"}, "The difference to detect must be above 0, got 0."),
        ("pairs", {"effect": "0.00001", "sd": "1"}, "More than 1,000,000 would be needed. A larger difference or less power needs fewer."),
        ("pairs", {"effect": "<b>x</b>"}, "“<b>x</b>” is not a number. Enter the difference to detect."),
        ("difference", dict.fromkeys(["both", "a", "b", "neither"], "0"), "All four counts are 0, so there is nothing to compare. Enter at least one question."),
        ("efficiency", {"r": "1.5"}, "The correlation of gain and cost must be between -1 and 1, got 1.5."),
    ],
)  # fmt: skip
def test_an_input_that_cannot_be_used_gets_one_sentence(chromium, question, inputs, sentence):
    page = chromium.new_page()
    page.goto(DESK)
    answer = type_into(page, question, **inputs)
    assert answer == {"lines": [], "sentences": [sentence], "python": ""}
    assert page.locator(f"#{question} .code").is_hidden()
    page.context.close()


def test_numbers_are_taken_as_papers_print_them(desk):
    answer = type_into(desk, "efficiency", gain="\u22120.05", cost=" 120 ", n="200")
    assert "fieller_interval_from_stats(-0.05," in answer["python"]
    assert type_into(desk, "share", k="5", n="10", level="95 %")["lines"][0] == (
        "0.500 [0.237, 0.763] (95% Wilson, n = 10)"
    )


def test_a_link_carries_the_inputs(chromium):
    page = chromium.new_page()
    page.goto(DESK)
    page.get_by_label("Only A right").fill("21")
    link = page.evaluate("() => location.href")
    assert link == page.locator("#difference .link").evaluate("link => link.href")
    other = chromium.new_page()
    other.goto(link)
    assert other.get_by_label("Only A right").input_value() == "21"
    shown = other.locator("#difference samp").first.text_content()
    assert shown == page.locator("#difference samp").first.text_content()
    page.context.close()
    other.context.close()


@pytest.mark.parametrize(
    ("fragment", "sentences"),
    [
        ("#nothing?k=1", ["The link asks for “nothing”, which is not on this page. Choose a question below."]),
        ("#share?k=3&n=9&level=95&x=%3Cimg%3E", ["The link has an input that this page does not know, “x”. It is ignored."]),
        ("#share?k=3&n=9", ["The link lacks the confidence level. It is set to 95."]),
        ("#share?k=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&n=9&level=95", []),
        ("#%F0%zz?%%%", ["The link asks for “%F0%zz”, which is not on this page. Choose a question below."]),
        ("#constructor", ["The link asks for “constructor”, which is not on this page. Choose a question below."]),
    ],
)  # fmt: skip
def test_a_link_that_was_changed_is_explained(chromium, fragment, sentences):
    page = chromium.new_page()
    dialogs = []
    page.on("dialog", lambda dialog: dialogs.append(dialog))
    page.goto(DESK + fragment)
    assert page.locator(".notice p").all_text_contents() == sentences
    assert page.locator("img").count() == 0
    if "onerror" in fragment:
        problem = page.locator("#share .problem").text_content()
        assert (
            problem
            == "“<img src=x onerror=alert(1)>” is not a number. Enter the number of successes."
        )
    assert page.locator("#pairs samp").count() == 1
    assert not dialogs
    page.context.close()


def test_it_works_with_the_keyboard_on_a_phone_and_in_the_dark(chromium):
    context = chromium.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = context.new_page()
    page.goto(DESK)
    assert page.evaluate("() => document.documentElement.scrollWidth") == 360
    page.locator("nav a").last.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.id") == "share-k"
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("90")
    assert page.locator("#share .answer > p").text_content().startswith("90 of 100 is 90.0%.")
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="light")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != light
    context.close()
