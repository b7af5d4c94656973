"""The annotator that is handed out, in a browser without a kernel, a server or a network, up to adjudicated labels."""

import pandas as pd
import pytest
from browser.items import verdict_items
from browser.lab import launch
from browser.looks import CONTRASTS
from browser.test_hostile_widgets import ANNOTATORS, check_inert
from hostile import PAYLOADS, visible

import ragnb
from ragnb.annotation import AnnotationSession, adjudicate, join_labels, read_labels

pytestmark = pytest.mark.browser


@pytest.fixture
def person(playwright, chromium):
    """Gives a person a browser, whose pages may ask for nothing and report no error; in a folder, its storage stays."""
    people, asked, errors = [], [], []

    def person(folder=None):
        context = launch(playwright, folder) if folder else chromium.new_context()
        context.on("request", lambda one: asked.append(one.url))
        context.on("weberror", lambda one: errors.append(str(one.error)))
        context.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
        people.append(context)
        return context

    yield person
    for context in people:
        context.close()
    assert {url.partition(":")[0] for url in asked} <= {"file", "blob"}
    assert errors == []


class Sheet:
    """A hand-out in a tab, and the person in front of it."""

    def __init__(self, context, path, name=None):
        self.page = context.new_page()
        self.page.goto(path.as_uri())
        if name:
            self.page.get_by_label("your name").fill(name)
            self.page.keyboard.press("Enter")

    def press(self, keys):
        for key in keys.split():
            self.page.keyboard.press(key)

    def sees(self, words):
        self.page.locator("main", has_text=words).wait_for(timeout=10_000)

    def sees_chosen(self, option):
        self.page.locator(".option.on", has_text=option).wait_for(timeout=10_000)

    @property
    def number(self):
        return int(self.page.locator(".question span").first.inner_text().strip("."))

    def download(self, folder):
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name="download the labels").click()
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path


def hand_out(frame, task, folder, **more):
    """The page for Ana."""
    return ragnb.export_annotator(frame, task, folder / f"{task}.html", annotator="Ana", **more)


def test_two_people_label_twenty_answers_by_keyboard_and_a_third_decides(person, tmp_path):
    frame = verdict_items(20)
    path = ragnb.export_annotator(frame, "verdict", tmp_path / "for all.html")
    computer = person(tmp_path / "one")
    ana = Sheet(computer, path, "Ana")
    ana.press("1 2 3 1 1 2 1")
    ana.sees("7 of 20 labelled")
    assert ana.number == 8, "each label leads to the next item"
    early = read_labels(ana.download(tmp_path))
    assert early["verdict"].str[0].tolist() == list("circcic")
    computer.close()
    ana = Sheet(person(tmp_path / "one"), path)
    ana.page.get_by_role("button", name="continue as Ana").click()
    assert ana.number == 8
    ana.press("f m h i Escape" + " 1" * 13)
    ana.sees("20 of 20 labelled")
    ana.press("z z 3")
    ana.sees("19 of 20 labelled")
    first = ana.download(tmp_path)
    ben = Sheet(person(), path, "Ben")
    ben.press("1 2 1 1 1 2 1 ." + " 1" * 12)
    ben.sees("19 of 20 labelled")
    second = ben.download(tmp_path)
    assert [one.name for one in (first, second)] == ["Ana.verdict.jsonl", "Ben.verdict.jsonl"]
    labels = read_labels(first).set_index("item")
    assert labels.loc["v/8", ["flag", "note", "verdict"]].tolist() == [True, "hi", "correct"]
    assert labels.loc["v/19", ["verdict", "source"]].tolist() == ["refuse", "human"]
    found = ragnb.agreement([first, second]).set_index("metric")
    assert found.loc["percent agreement", ["mean", "n"]].tolist() == [16 / 18, 18]
    gold = adjudicate(frame, [first, second], "Cy", tmp_path)
    disputed = {"v/3": "refuse", "v/8": "correct", "v/19": "correct", "v/20": "correct"}
    assert [item.id for item in gold.items] == [*disputed], "what one of them left open, too"
    for item, verdict in disputed.items():
        gold.go(item)
        gold.label("verdict", verdict)
    joined = join_labels(frame, gold)
    assert joined["verdict"].str[0].tolist() == list("circcic" + "c" * 13)
    with pytest.raises(ragnb.InputError, match="differ from those that were labelled"):
        join_labels(frame.assign(response="changed"), first)
    assert AnnotationSession(frame, "verdict", "Ana", first).progress()["labelled"] == 19


def test_two_tabs_and_another_computer_lose_nothing(person, tmp_path):
    path = hand_out(verdict_items(6), "verdict", tmp_path)
    ana = person()
    one, two = Sheet(ana, path), Sheet(ana, path)
    one.press("1 2")
    two.sees("2 of 6 labelled")
    two.press("n n 3")
    one.sees("3 of 6 labelled")
    one.press("1")
    two.press("p")
    two.sees_chosen("correct")
    two.press("z")
    one.sees_chosen("refuse")
    taken = one.download(tmp_path)
    assert read_labels(taken)["verdict"].tolist() == ["correct", "incorrect", "refuse"]
    there = Sheet(person(), path)
    there.press("n n n n n 2")
    there.page.get_by_label("add a labels file").set_input_files(taken)
    there.sees("4 of 6 labelled")
    both = read_labels(there.download(tmp_path))
    assert both["item"].tolist() == ["v/1", "v/2", "v/3", "v/6"]
    assert both["verdict"].tolist() == ["correct", "incorrect", "refuse", "incorrect"]
    stranger = tmp_path / "other.jsonl"
    stranger.write_text('{"ragnb_annotation": 1}\n')
    there.page.get_by_label("add a labels file").set_input_files(stranger)
    there.sees("cannot be used: it does not belong to this page")


def test_a_label_that_the_browser_cannot_save_is_refused_aloud(person, tmp_path):
    path = hand_out(verdict_items(3), "verdict", tmp_path)
    ana = Sheet(person(), path)
    ana.press("1")
    full = "() => { Storage.prototype.setItem = () => { throw new Error('quota') } }"
    ana.page.evaluate(full)
    ana.press("2")
    ana.sees("not saved, because this browser's storage is full or gone (quota)")
    assert read_labels(ana.download(tmp_path))["verdict"].tolist() == ["correct"]


def test_every_text_stands_out_and_fits_a_narrow_window(person, tmp_path):
    turns = ragnb.load_study("mtrag").query("turn == 3").head(2)
    turns = turns.assign(passages=[["A passage."] * 3] * 2, claims=[["One.", "Two."]] * 2)
    for task in ("spans", "claims", "grades"):
        ana = Sheet(person(), hand_out(turns, task, tmp_path, id=["example_id", "system"]))
        ana.page.set_viewport_size({"width": 420, "height": 900})
        ana.press("1 x ArrowRight Shift+ArrowRight x f m a Escape ? g g")
        for scheme in ("light", "dark"):
            ana.page.emulate_media(color_scheme=scheme)
            measured = ana.page.locator("main").evaluate(CONTRASTS)
            assert len(measured) > 60, task
            assert not [one for one in measured if one[0] < 4.5], (task, scheme)
        assert ana.page.evaluate("() => document.documentElement.scrollWidth") == 420


SPANS = pd.DataFrame(
    {"example_id": ["en", "ar"], "question": "?", "passages": [["Oslo."], ["Oslo."]],
     "response": ["Oslo, in Norway, has 9 fjords.", "أوسلو هي عاصمة النرويج"]}
)  # fmt: skip


def test_spans_are_marked_by_mouse_and_by_keys_in_the_direction_of_the_text(person, tmp_path):
    path = hand_out(SPANS, "spans", tmp_path)
    ana = Sheet(person(), path)
    words = ana.page.locator(".part.words .sentence")
    words.filter(has_text="has").drag_to(words.filter(has_text="fjords"))
    ana.press("c Home ArrowRight ArrowRight Shift+ArrowRight x Enter")
    assert ana.number == 2
    ana.press("Home ArrowLeft Shift+ArrowLeft x c e")
    ana.sees("2 of 2 labelled")
    spans = join_labels(SPANS, ana.download(tmp_path))["reference_spans"]
    english, arabic = SPANS["response"]
    assert [english[a:b] for a, b in spans[0]] == ["in Norway", "has 9 fjords"]
    assert [arabic[a:b] for a, b in spans[1]] == ["هي عاصمة"]


def test_a_key_that_was_changed_is_shown_and_stays(person, tmp_path):
    path = hand_out(verdict_items(4), "verdict", tmp_path)
    ana = Sheet(person(), path)
    ana.press("?")
    key = ana.page.get_by_role("button", name="key of: skip the item")
    key.press("n")
    ana.sees("n already has a meaning")
    key.press("s")
    assert key.inner_text() == "s"
    skip = ana.page.get_by_role("toolbar").get_by_role("button", name="skip")
    assert skip.inner_text() == "skip s"
    ana.press("Escape A")
    again = Sheet(ana.page.context, path)
    again.press("1 n s 2")
    again.sees("2 of 4 labelled · 1 skipped")
    assert again.number == 3, "no label leads on when that is switched off"


def test_attacks_in_every_text_are_inert(person, tmp_path):
    frame = pd.DataFrame(
        [
            {"example_id": text, "question": text, "references": [text], "passages": [text, text], "response": text,
             "claims": [text, {"text": text}], "history": [{"role": text, "content": text}]}
            for text in PAYLOADS
        ]
    )  # fmt: skip
    choice = {"name": PAYLOADS[0], "label": PAYLOADS[1], "key": "b", "options": PAYLOADS[2:8]}
    task = {"name": PAYLOADS[3], "guideline": PAYLOADS[4], "fields": [choice],
            "shows": ["question", "references", "documents", "words", "claims"]}  # fmt: skip
    guessed = {text: {PAYLOADS[0]: PAYLOADS[2]} for text in PAYLOADS}
    path = ragnb.export_annotator(
        frame, task, tmp_path / "attacked.html", suggestions=guessed, suggested_by=PAYLOADS[5]
    )
    sheet = Sheet(person(), path, PAYLOADS[6])
    for text in PAYLOADS:
        assert visible(text).split("\n")[0] in sheet.page.locator(".question b").text_content()
        sheet.press("1")
    sheet.press("? g")
    sheet.sees(f"{len(PAYLOADS)} of {len(PAYLOADS)} labelled")
    check_inert(sheet.page, "main", ANNOTATORS | {"main", "label"})
    labels = read_labels(sheet.download(tmp_path))
    assert labels["item"].tolist() == PAYLOADS
    assert set(labels["annotator"]) == {PAYLOADS[6]}
    assert sheet.page.evaluate("() => window.__hit") is None
