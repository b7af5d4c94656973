"""An annotator on a page, as a person uses it: mouse, keys, and a look into the log on the disk."""

from ragnb.annotation.log import read_log
from support.lab import show

IMPORTS = "from support.items import *\nfrom ragnb.widgets import Annotator\n"
SETTLED = """root => new Promise(done => {
  const look = () => root.getAttribute('aria-busy') !== 'true' && done(true);
  new MutationObserver(look).observe(root, { attributeFilter: ['aria-busy'] });
  setTimeout(done, 30_000);
  look(); })"""
"""Whether nothing that was done is on its way any more, after half a minute at most."""


class Annotating:
    """The annotator that stands at some place of a page, and its log."""

    def __init__(self, page, log, nth=0):
        self.page, self.log = page, page.folder / log
        self.root = page.locator(".ragnb-annotator").nth(nth)
        self.root.locator(".sentence").first.wait_for(timeout=60_000)

    # ---- what is done ----

    def press(self, *keys):
        """Press keys, each one when the one before is saved."""
        for key in keys:
            self.page.keyboard.press(key)
            self.settle()

    def press_ahead(self, *keys):
        """Press keys, whatever is saved by then."""
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text):
        """Type into the field that has the focus."""
        self.page.keyboard.type(text)

    def focus(self, part="documents"):
        self.root.locator(f".part.{part}").focus()

    def sentence(self, text):
        return self.root.locator(".sentence", has_text=text).first

    def click(self, text, **more):
        self.sentence(text).locator(".words").click(**more)
        self.settle()

    def drag(self, first, last, aside=0):
        """Press the mouse on a sentence and release it on another one, or beside that."""
        for text, what in ((first, self.page.mouse.down), (last, self.page.mouse.up)):
            box = self.sentence(text).bounding_box()
            self.page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2, steps=4)
            if text == last and aside:
                self.page.mouse.move(aside, box["y"] + box["height"] / 2, steps=4)
            what()
        self.settle()

    def button(self, name):
        return self.root.get_by_role("toolbar").get_by_role("button", name=name, exact=True)

    def settle(self):
        """Wait until all that was done is acknowledged."""
        assert self.root.evaluate(SETTLED), "what was done is not acknowledged within 30 seconds"

    # ---- what is seen ----

    @property
    def question(self):
        return self.root.locator(".question").inner_text()

    @property
    def message(self):
        return self.root.locator(".message").inner_text()

    def wait_for_message(self, words, seconds=8):
        self.root.locator(".message", has_text=words).wait_for(timeout=1000 * seconds)

    def badges(self, text):
        return self.sentence(text).locator(".badges").inner_text()

    def value(self, field):
        """What is said of a field, in short."""
        return self.root.locator(f"[data-field={field}] .value").inner_text()

    def marked(self):
        lines = self.root.locator(".sentence.on").all_inner_texts()
        return [line.split("]")[0].strip("[") for line in lines]

    # ---- what is on the disk ----

    def events(self):
        return read_log(self.log)[1]

    def said(self, item=None):
        """What labels set, in the order in which it was said; of one item or of all."""
        labels = [event for event in self.events() if event["action"] == "label"]
        return [one for event in labels if item in (None, event["item"]) for one in event["set"]]

    def labels(self, item):
        """The last value of each place of an item, by name and sentence; None where it was made untouched again."""
        return {one["field"] + one.get("sentence", ""): one["value"] for one in self.said(item)}

    def values(self, action):
        """Items and values of the notes, flags or skips."""
        return [(one["item"], one["value"]) for one in self.events() if one["action"] == action]

    def actions(self):
        """What was done, without looking at items."""
        return [event["action"] for event in self.events() if event["action"] != "open"]


def annotate(page, who, task="trace", items="trace_items()", more=""):
    """Run a cell that shows an annotator, and give it to a person."""
    name = task if isinstance(task, str) else task["name"]
    return shown(page, f"Annotator({items}, {task!r}, {who!r}, '.'{more})", f"{who}.{name}.jsonl")


def shown(page, code, log):
    """The annotator that this code shows, with the focus on its texts."""
    show(page, IMPORTS + code)
    screen = Annotating(page, log)
    has_documents = screen.root.locator(".part.documents").count()
    screen.focus("documents" if has_documents else "response")
    return screen
