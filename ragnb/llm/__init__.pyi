"""What `ragnb.llm` contains. Written by ``python -m tools.stubs``."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel

from ragnb.llm import batch as batch
from ragnb.llm.batch import add_batch_output, write_batch
from ragnb.llm.budget import Budget, Estimate, Price, estimate, price_table
from ragnb.llm.client import complete
from ragnb.llm.local import Endpoint
from ragnb.llm.store import Reply, Store, request_key
from ragnb.llm.stored import stored_replies

def embed(
    texts: Iterable[str], *, kind: Literal["query", "passage"] = "query"
) -> NDArray[np.float32]: ...
def serve(
    model: Literal["smollm2", "gemma3"] = "smollm2", *, context_tokens: int = 8192, threads: int = 2
) -> Iterator[Endpoint]: ...
def complete_structured(
    requests: pd.DataFrame,
    schema: type[BaseModel],
    *,
    model: str,
    structured: bool = True,
    repair: bool = True,
    store: Store | str | Path = "ragnb-replies.sqlite",
    budget_usd: float | Budget | None = None,
    repeats: int = 1,
    base_url: str | None = None,
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    prices: Mapping[str, Price] | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...

__all__ = [
    "Budget",
    "Endpoint",
    "Estimate",
    "Reply",
    "Store",
    "add_batch_output",
    "complete",
    "complete_structured",
    "embed",
    "estimate",
    "price_table",
    "request_key",
    "serve",
    "stored_replies",
    "write_batch",
]
