"""A request without a reply."""


class Failed(Exception):
    """A request got no reply: the reason, and what it means for the run.

    ``passing`` failures may not happen again, and ``fatal`` ones end the run. ``formed`` is whether the
    endpoint answered in the form of a completion, so that its address is right. ``refused`` has the
    names of parameters that the model refuses. ``only_streams`` is whether the model only answers
    requests for a stream.
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
