import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest

CANARY = "sk-canary-0123456789abcdef"


def _load(name: str):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def faults():
    """The module fault_server: FaultServer, Answer, echo, expected_text."""
    return _load("fault_server")


@pytest.fixture(scope="session")
def servers():
    """The module batch_server: BatchServer, Fault, answered, refused, expired."""
    return _load("batch_server")


@pytest.fixture
def chat():
    """A frame of n different chat requests."""

    def make(n: int) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "example_id": [f"e/{i}" for i in range(n)],
                "messages": [
                    [{"role": "user", "content": f"question {i} 你好 🧪"}] for i in range(n)
                ],
                "parameters": [{"temperature": 0.0, "max_tokens": 8}] * n,
            }
        )

    return make


@pytest.fixture(autouse=True)
def _no_key_no_address(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def quick_retries(monkeypatch):
    """Waits between retries shortened, so that tests of retries take no time."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
