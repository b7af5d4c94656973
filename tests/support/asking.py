"""Requests to the servers of these tests, and the replies that are right."""

import pandas as pd

from ragnb.llm import complete
from support.fault_server import expected_text


def chat(n):
    """A frame of n different chat requests."""
    messages = [[{"role": "user", "content": f"question {i} 你好 🧪"}] for i in range(n)]
    parameters = [{"temperature": 0.0, "max_tokens": 8}] * n
    ids = [f"e/{i}" for i in range(n)]
    return pd.DataFrame({"example_id": ids, "messages": messages, "parameters": parameters})


def number(call):
    """The number of the chat request that a call asks."""
    return int(call.body["messages"][0]["content"].split()[1])


def run(requests, server, store=":memory:", **options):
    """Ask a server."""
    options = {"base_url": server.base_url, "store": store, "progress": False, **options}
    return complete(requests, model="m", **options)


def replay(requests, path):
    """The replies in a store, without a server."""
    return complete(requests, model="m", store=path, offline=True, progress=False)


def expected(requests):
    """The reply that the servers give to each request."""
    return [expected_text({"messages": messages}) for messages in requests["messages"]]
