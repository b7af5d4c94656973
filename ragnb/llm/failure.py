"""A request without a reply."""

# Tested in tests/llm/test_client.py.


class Failed(Exception):
    """A request got no reply: the reason, and what it means for the run.

    Attributes
    ----------
    reason
        Why there is no reply, as it is reported to the user.
    passing
        Whether the cause may pass, such as a timeout or a limit.
    fatal
        Whether going on is pointless, because all requests would fail, such as with a wrong key.
    formed
        Whether the endpoint answered in the form of a completion, so that its address is right.
    refused
        Names of the parameters that the model refuses.
    only_streams
        Whether the model only answers requests for a stream.
    """

    def __init__(
        self,
        reason: str,
        *,
        passing: bool = False,
        fatal: bool = False,
        formed: bool = False,
        refused: frozenset[str] = frozenset(),
        only_streams: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.passing = passing
        self.fatal = fatal
        self.formed = formed
        self.refused = refused
        self.only_streams = only_streams
