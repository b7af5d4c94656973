"""The lines that a provider writes about the requests of a batch."""

import json

from support.fault_server import Answer, Call, _body, expected_text


def requests_in(paths):
    """The lines of files of requests, in order."""
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def _line(line, status=200, body=None, error=None):
    response = body and {"status_code": status, "body": body}
    return {"custom_id": line["custom_id"], "response": response, "error": error}


def answered(line):
    """The line of a request that was answered, with the same right reply as the fault server's."""
    call = Call(0, 0, line["url"], {}, line["body"])
    return _line(line, body=_body(Answer(text=expected_text(line["body"])), call))


def refused(line, message="context length exceeded", status=400):
    """The line of a request that the model refused."""
    return _line(line, status, {"error": {"message": message, "code": None}})


def expired(line):
    """The line of a request that was not reached in time."""
    message = "This request could not be executed before the completion window expired."
    return _line(line, error={"code": "batch_expired", "message": message})


def write(path, lines):
    """A file of lines, each of them bytes or a record."""
    content = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(content))
    return path
