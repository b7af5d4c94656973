import pytest


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch):
    """No key, no address, and a proxy that nobody may ask for an endpoint on this machine."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")


@pytest.fixture
def quick_retries(monkeypatch):
    """Waits between retries shortened, so that tests of retries take no time."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
