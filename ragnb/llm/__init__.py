"""Calls to a model: the only place in ragnb with a network."""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.llm import batch as batch
    from ragnb.llm.batch import add_batch_output, write_batch
    from ragnb.llm.budget import Budget, Estimate, estimate, price_table
    from ragnb.llm.client import complete
    from ragnb.llm.embeddings import embed
    from ragnb.llm.local import Endpoint, serve
    from ragnb.llm.store import Reply, Store, request_key
    from ragnb.llm.stored import stored_replies
    from ragnb.llm.structured import complete_structured
else:
    __getattr__, __dir__ = face(__name__)

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
