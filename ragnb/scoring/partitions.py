"""Scoring in the engines of Dask and Spark, partition by partition.

Neither library is imported unless a frame of its kind is given.
"""

from collections.abc import Callable, Collection
from typing import Any

import pandas as pd

from ragnb.columns import PAYLOAD


def by_partition(
    responses: Any, scoring: Callable[[pd.DataFrame], pd.DataFrame], read: Collection[str]
) -> Any:
    """Score a Dask or Spark frame lazily, and return a frame of the same kind.

    `scoring` scores a pandas frame. It is sent to the workers, where ragnb must be installed too. `read` names
    the columns that it reads; other long columns are not even loaded.
    """
    frame = responses[[name for name in responses.columns if name in read or name not in PAYLOAD]]
    if hasattr(frame, "map_partitions"):
        meta = pd.DataFrame(scoring(frame._meta))
        return frame.map_partitions(scoring, meta=meta).clear_divisions()
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    def scored(batch: pd.DataFrame) -> pd.DataFrame:
        """Score one batch of Spark, with None for missing values."""
        scores = scoring(batch).astype(object)
        return scores.where(scores.notna(), None)  # Spark takes no other texts of pandas

    kinds = {field.name: field for field in frame.schema if field.name not in PAYLOAD}
    kinds["value"] = StructField("value", DoubleType())
    # An empty frame tells which columns the scores will have.
    names = scoring(pd.DataFrame(columns=frame.columns, dtype=object)).columns
    schema = StructType([kinds.get(name, StructField(name, StringType())) for name in names])
    return frame.mapInPandas(lambda batches: map(scored, batches), schema)
