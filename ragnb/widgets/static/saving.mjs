// The line at the foot: sends what is done, and says what became of it.

const SOON = 400; // milliseconds after which it is said that something is being saved
const LATE = 3000; // and that it is not saved yet

class Saving {
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.sent = Math.floor(Math.random() * 2 ** 48); // views of one annotator, in one page or two, count apart
    this.open = false; // whether something was sent that is not acknowledged
    this.message = node("span", { class: "message", role: "status", "aria-live": "polite" });
    this.saved = node("span", { class: "saved" });
    this.box = node("div", { class: "foot" }, this.message, this.saved);
  }

  send(act, more = {}) {
    this.open = true;
    this.sent += 1;
    try {
      this.model.send({ number: this.model.get("page").number, ...more, act, id: this.sent });
    } catch (error) {
      this.say(`not saved: the kernel is gone (${error.message}); run the cell again`, true);
      return;
    }
    this.stop();
    this.root.setAttribute("aria-busy", "true");
    this.soon = setTimeout(() => this.say("saving…"), SOON);
    this.late = setTimeout(() => this.say("not saved yet: the kernel does not answer; it is busy, or gone", true), LATE);
  }

  // Says what came of the last thing that was sent from here; false if that is not known yet.
  paint({ ack, message, failed, saved }) {
    this.saved.textContent = saved;
    if (this.open && ack !== this.sent) return false;
    this.open = false;
    this.stop();
    this.root.setAttribute("aria-busy", "false");
    this.say(message, failed);
    return true;
  }

  say(text, failed = false) {
    this.message.textContent = text;
    this.message.classList.toggle("failed", failed);
  }

  stop() {
    clearTimeout(this.soon);
    clearTimeout(this.late);
  }
}
