"""The annotator that is handed out, in a browser without a kernel, a server or a network, up to adjudicated labels."""

import json

import pandas as pd
import pytest
from browser.test_hostile_widgets import ANNOTATORS, check_inert
from playwright.sync_api import TimeoutError as PageTimeout
from support.hostile import PAYLOADS, visible
from support.items import verdict_items
from support.lab import launch
from support.looks import CONTRASTS

import ragnb
from ragnb.annotation import AnnotationSession, adjudicate, join_labels, read_codebook, read_labels

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
        try:
            self.page.locator("main", has_text=words).wait_for(timeout=20_000)
        except PageTimeout:
            stored = self.page.evaluate("() => Object.entries(localStorage)")
            shown = self.page.locator("main").inner_text()
            pytest.fail(f"{words!r} is not on the page:\n{shown}\n{stored}")

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


FULL = "Storage.prototype.setItem = () => { throw new Error('quota') }"


def test_a_full_storage_stops_neither_the_page_nor_the_download(person, tmp_path):
    path = hand_out(verdict_items(3), "verdict", tmp_path)
    computer = person(tmp_path / "one")
    Sheet(computer, path).press("1 2")
    computer.close()
    computer = person(tmp_path / "one")
    computer.add_init_script(FULL)
    ana = Sheet(computer, path)
    ana.sees("2 of 3 labelled")
    ana.press("3")
    ana.sees("not saved, because this browser's storage is full or gone (quota)")
    assert read_labels(ana.download(tmp_path))["verdict"].tolist() == ["correct", "incorrect"]


def test_a_person_whose_storage_is_full_continues_and_downloads(person, tmp_path):
    path = ragnb.export_annotator(verdict_items(3), "verdict", tmp_path / "all.html")
    computer = person(tmp_path / "one")
    Sheet(computer, path, "Ana").press("1 2")
    computer.close()
    computer = person(tmp_path / "one")
    computer.add_init_script(FULL)
    ana = Sheet(computer, path)
    assert ana.page.evaluate("() => document.activeElement.textContent") == "continue as Ana"
    ana.page.keyboard.press("Enter")
    ana.sees("2 of 3 labelled")
    assert len(read_labels(ana.download(tmp_path))) == 2


def damaged(lines, number, **changes):
    """The lines of a file of labels, one of which is changed and has no checksum any more."""
    lines = [json.loads(line) for line in lines]
    for line in lines:
        del line["checksum"]
    lines[number] |= changes
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_a_bad_file_is_refused_and_leaves_the_page_as_it_was(person, tmp_path):
    path = hand_out(verdict_items(3), "verdict", tmp_path)
    ana = Sheet(person(), path)
    ana.press("1")
    taken = ana.download(tmp_path)
    lines = taken.read_text("utf-8").splitlines()
    label = next(n for n, line in enumerate(lines) if '"action":"label"' in line)
    value = [{"field": "verdict", "value": "correct"}]
    changes = [
        {"set": 5}, {"set": [5]}, {"set": [{"field": "__proto__", "sentence": "hit", "value": "x"}]},
        {"set": [{"field": "verdict", "value": "perhaps"}]}, {"set": [{**value[0], "sentence": "a"}]},
        {"action": "dance"}, {"time": "noon"}, {"item": "v/9"}, {"item": "__proto__"}, {"n": None}, {"key": 5},
    ]  # fmt: skip
    texts = [damaged(lines, label, **change) for change in changes]
    texts += [
        taken.read_text("utf-8").replace("correct", "incorrect", 1),
        "",
        "{",
        "[]\n5\n",
        "null\n",
    ]
    texts.append(damaged(lines, 0, annotator=None))
    for text in texts:
        (tmp_path / "bad.jsonl").write_text(text, "utf-8")
        there = Sheet(person(), path)
        there.press("2")
        there.sees("1 of 3 labelled")
        there.page.get_by_label("add a labels file").set_input_files(tmp_path / "bad.jsonl")
        there.sees("This file cannot be used: ")
        assert there.page.evaluate("() => ({}).hit") is None
        again = Sheet(there.page.context, path)
        again.sees("1 of 3 labelled")
        assert read_labels(again.download(tmp_path))["verdict"].tolist() == ["incorrect"]


def test_what_is_no_action_in_the_storage_is_left_out_and_the_page_opens(person, tmp_path):
    path = hand_out(verdict_items(3), "verdict", tmp_path)
    ana = Sheet(person(), path)
    ana.press("1 2")
    ana.page.evaluate("""() => {
      const [prefix] = Object.keys(localStorage).filter((key) => key.startsWith("ragnb ")).map((key) => key.split(" ").slice(0, 3).join(" "));
      const bad = ['{"set": 5}', "{", "null", '{"time": "2031-05-04T12:00:00Z", "action": "label", "item": 0, "set": 5}',
        '{"time": "2031-05-04T12:00:00Z", "action": "label", "item": 0, "set": [{"field": "__proto__", "sentence": "hit", "value": 1}]}'];
      bad.forEach((text, n) => localStorage.setItem(`${prefix} 2031-05-04T12:00:00.000+00:00 00000${n} other`, text));
      localStorage.setItem("ragnb %E0%A4%A %E0%A4%A", "x");
      localStorage.setItem("ragnb-annotator", '{"keys": null, "goesOn": true}'); }""")
    ana.page.reload()
    ana.sees("5 of the stored actions cannot be read and are left out")
    ana.sees("2 of 3 labelled")
    assert ana.page.evaluate("() => ({}).hit") is None
    assert read_labels(ana.download(tmp_path))["verdict"].tolist() == ["correct", "incorrect"]


def asks(page, leave):
    """Whether the browser asks before it does what leaves the page, and answer that one stays."""
    asked = []
    page.once("dialog", lambda one: (asked.append(one.type), one.dismiss()))
    leave()
    page.wait_for_timeout(500)
    return asked == ["beforeunload"]


def test_the_page_asks_before_it_is_left_with_labels_that_were_not_downloaded(person, tmp_path):
    path = hand_out(verdict_items(3), "verdict", tmp_path)
    computer = person()
    ana = Sheet(computer, path)
    leave = lambda: ana.page.close(run_before_unload=True)  # noqa: E731
    ana.press("1 2")
    assert asks(ana.page, leave)
    ana.download(tmp_path)
    ana.page.reload()
    ana.press("n")
    ana.press("2")
    assert asks(ana.page, leave)
    ana.download(tmp_path)
    with ana.page.expect_event("close"):
        leave()


def test_a_private_window_labels_says_so_and_asks(person, tmp_path):
    computer = person()
    computer.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('private') } })"
    )
    ana = Sheet(computer, hand_out(verdict_items(3), "verdict", tmp_path))
    ana.sees("This browser saves nothing: download the labels before you close the page.")
    ana.press("1 2")
    ana.sees("2 of 3 labelled")
    assert asks(ana.page, lambda: ana.page.close(run_before_unload=True))
    assert read_labels(ana.download(tmp_path))["verdict"].tolist() == ["correct", "incorrect"]


def test_after_the_last_item_the_download_has_the_focus(person, tmp_path):
    ana = Sheet(person(), hand_out(verdict_items(3), "verdict", tmp_path))
    ana.press("1 2")
    assert not ana.page.locator(".end").is_visible()
    ana.press("3")
    ana.page.locator(".end .download:focus").wait_for(timeout=10_000)
    ana.sees("Done: all items are labelled or skipped. Download the labels and send the file back.")
    ana.press("z")
    ana.sees("2 of 3 labelled")
    assert not ana.page.locator(".end").is_visible()
    ana.press("2")
    ana.page.locator(".end .download:focus").wait_for(timeout=10_000)
    with ana.page.expect_download() as waiting:
        ana.press("Enter")
    waiting.value.save_as(tmp_path / "labels.jsonl")
    labels = read_labels(tmp_path / "labels.jsonl")
    assert labels["verdict"].tolist() == ["correct", "incorrect", "incorrect"]


def test_every_text_stands_out_and_fits_a_narrow_window(person, tmp_path):
    turns = ragnb.load_study("mtrag").query("turn == 3").head(2)
    turns = turns.assign(passages=[["A passage."] * 3] * 2, claims=[["One.", "Two."]] * 2)
    tags = {"a tag": "with a definition", "x" * 100: ""}
    for task in ("spans", "claims", "grades", "error_analysis"):
        more = {"codebook": tags} if task == "error_analysis" else {}
        ana = Sheet(person(), hand_out(turns, task, tmp_path, id=["example_id", "system"], **more))
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


def test_a_codebook_grows_while_a_person_reads(person, tmp_path):
    frame = verdict_items(6)
    path = hand_out(frame, "error_analysis", tmp_path, codebook={"refusal": "Gives no answer."})
    computer = person()
    ana = Sheet(computer, path)
    box = ana.page.get_by_role("combobox", name="write a tag")
    ana.press("w")
    ana.page.keyboard.type("does not answer <b>")
    ana.press("Escape t 1")
    ana.sees_chosen("refusal")
    ana.press("+")
    for name in ("echo", "لغة خاطئة", " REFUSAL "):
        ana.page.keyboard.type(name)
        ana.page.keyboard.press("Enter")
    ana.sees_chosen("لغة خاطئة")
    assert box.input_value() == ""
    ana.press("Escape Enter")
    assert ana.number == 2
    ana.press("2 + r Escape n e")
    ana.sees("3 of 6 labelled")
    assert box.input_value() == "r", "what was not entered stays in the box"
    ana.page.get_by_text("codebook: 3 tags").click()
    echo = ana.page.locator(".tag").nth(1)
    echo.get_by_label("name of the tag").fill("Refusal")
    ana.page.keyboard.press("Tab")
    ana.sees('the codebook already has the tag "refusal"; merge the two tags, or choose another')
    assert echo.get_by_label("name of the tag").input_value() == "echo"
    ana.page.get_by_role("button", name="seen").click()
    echo.get_by_label("name of the tag").fill("echoed prompt")
    ana.page.keyboard.press("Tab")
    echo.get_by_label("definition of the tag").fill("Repeats the prompt.")
    ana.page.keyboard.press("Tab")
    ana.sees("2 items")
    ana.page.locator(".tag").nth(2).get_by_label("merge").select_option("echoed prompt")
    ana.sees("codebook: 2 tags")
    other = Sheet(computer, path)
    other.sees("codebook: 2 tags")
    other.press("z")
    ana.sees("codebook: 3 tags")
    other.press("Z")
    ana.sees("codebook: 2 tags")
    file = ana.download(tmp_path)
    labels = read_labels(file)
    assert labels["tags"].tolist() == [["refusal", "echoed prompt"], ["echoed prompt"], []]
    assert labels["open_note"].tolist() == ["does not answer <b>", None, None]
    codebook = read_codebook(file)
    assert codebook["definition"].tolist() == ["Gives no answer.", "Repeats the prompt."]
    assert codebook["earlier"].tolist() == [[], ["echo", "لغة خاطئة"]]
    session = AnnotationSession(frame, "error_analysis", "Ana", file)
    session.go("v/4")
    session.tag("echo")
    session.log.write_jsonl(tmp_path / "continued.jsonl")
    there = Sheet(person(), path)
    there.page.get_by_label("add a labels file").set_input_files(tmp_path / "continued.jsonl")
    there.sees("4 of 6 labelled")
    (tmp_path / "there").mkdir()
    assert read_labels(there.download(tmp_path / "there"))["tags"][3] == ["echoed prompt"]


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
