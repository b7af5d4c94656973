"""A judge on a real server, whose replies are known."""

import json
import re

from support.fault_server import Answer, FaultServer


def shown(messages):
    """The texts of a request by the names of their tags; the first tag tells the mark of all."""
    user = next(message["content"] for message in messages if message["role"] == "user")
    instruction = r"(?:Rubric: [^<]*|Codebook:\n(?:- .*\n)+\n)?"
    first = re.match(instruction + r"<[a-z-]+-([0-9a-f]{8})>\n", user)
    if not first:
        return {}
    mark = first[1]
    tags = re.findall(rf"<([a-z-]+)-{mark}>\n(.*?)\n</\1-{mark}>", user, flags=re.DOTALL)
    return dict(tags)


def asked_about(messages):
    """The response in a request."""
    texts = shown(messages)
    return texts.get("response", texts.get("student-answer"))


class Judge(FaultServer):
    """Replies to each response, found by its text, as it is told; to others with ``otherwise``.

    A reply is a text, a record, or the number of an HTTP status; ``otherwise`` may also be a
    function of the call that gives one.
    """

    def __init__(self, otherwise="", **told):
        super().__init__(self.reply)
        self.otherwise, self.told = otherwise, told

    def reply(self, call):
        reply = self.told.get(asked_about(call.body["messages"]), self.otherwise)
        reply = reply(call) if callable(reply) else reply
        if isinstance(reply, int):
            return Answer(status=reply)
        return Answer(text=reply if isinstance(reply, str) else json.dumps(reply))

    @property
    def asked(self):
        """The responses that it was asked about, repair turns included."""
        return [asked_about(call.body["messages"]) for call in self.calls]
