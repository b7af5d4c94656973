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

    `scoring` is the function that scores a pandas frame. It is sent to the workers, so ragnb must be
    installed there as well. `read` are the columns that it reads. Columns with long texts that it does
    not read are not loaded.
    """
    needed = [name for name in responses.columns if name in read or name not in PAYLOAD]
    frame = responses[needed]
    # Only Dask has this method. Its frames contain an empty pandas frame with the same columns.
    if hasattr(frame, "map_partitions"):
        meta = pd.DataFrame(scoring(frame._meta))
        # The rows of the scores are numbered anew in each partition, so the divisions are not known.
        return frame.map_partitions(scoring, meta=meta).clear_divisions()
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    def scored(batch: pd.DataFrame) -> pd.DataFrame:
        """Score one batch of Spark, with None for missing values."""
        # Spark reads texts from columns of Python objects, in which None is the missing value.
        scores = scoring(batch).astype(object)
        return scores.where(scores.notna(), None)

    # Columns of the responses keep their types, values are numbers, and all other columns are texts.
    fields = {field.name: field for field in frame.schema if field.name not in PAYLOAD}
    fields["value"] = StructField("value", DoubleType())
    # The scores of an empty frame show which columns there will be.
    names = scoring(pd.DataFrame(columns=frame.columns, dtype=object)).columns
    schema = StructType([fields.get(name, StructField(name, StringType())) for name in names])
    return frame.mapInPandas(lambda batches: map(scored, batches), schema)
