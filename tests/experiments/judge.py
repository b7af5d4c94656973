"""A judge on a real server, whose replies are known."""

import json

from fault_server import Answer, FaultServer


def asked_about(messages):
    """The response in a request, by the marks of the templates."""
    user = next(message["content"] for message in messages if message["role"] == "user")
    bare = user.rpartition("Student's answer: ")[2].rpartition("\n\nDoes the student's answer")[0]
    return bare or user.rpartition("Response: ")[2]


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
