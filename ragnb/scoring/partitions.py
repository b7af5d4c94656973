"""Scoring on Dask's and Spark's own engines: each partition by itself, in the process that holds it.

Neither library is imported unless a frame of its kind is given.
"""

import ast
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError
from ragnb.records import PAYLOAD, PLAIN_TEXT

MADE = ("metric", "value", "reason", "evidence", "signature")
"""Columns that `score` adds."""

Scoring = Callable[[pd.DataFrame], pd.DataFrame]


def by_partition(responses: Any, scoring: Scoring, used: Iterable[str]) -> Any:
    """Scores of a Dask or Spark frame, as a frame of the same kind that is computed when it is asked for.

    Parameters
    ----------
    responses
        A DataFrame of Dask or Spark.
    scoring
        Scores a pandas frame; travels to the workers, where ragnb must be installed too.
    used
        Columns that scoring reads, where they are there; other long ones are not even loaded.

    Raises
    ------
    InputError
        Now: what scoring says of a frame without rows, or another kind of object. Later: what it says of a faulty row.
    """
    engine = (
        _on_spark
        if hasattr(responses, "mapInArrow")
        else _on_dask
        if hasattr(responses, "map_partitions")
        else None
    )
    if engine is None or type(responses).__name__ != "DataFrame":
        kind = f"{type(responses).__module__}.{type(responses).__name__}"
        raise InputError(
            f"score needs a DataFrame of pandas, Dask or Spark; got {kind}; convert it (of pandas-on-Spark with to_spark())"
        )
    known = set(used)
    unused = [name for name in responses.columns if name in PAYLOAD and name not in known]
    return engine(responses, unused, scoring, [name for name in responses.columns if name in known])


# ---- Dask --------------------------------------------------------------------------------------------------------------


def _on_dask(responses: Any, unused: list[str], scoring: Scoring, used: list[str]) -> Any:
    frame = responses.drop(columns=unused)
    lists = [name for name in used if name in PAYLOAD and name not in PLAIN_TEXT]
    scored = frame.map_partitions(
        partial(_scored_lists, scoring=scoring, lists=lists), meta=scoring(frame._meta)
    )
    return scored.clear_divisions()


def _scored_lists(frame: pd.DataFrame, scoring: Scoring, lists: list[str]) -> pd.DataFrame:
    """Scores of a partition whose lists are lists still."""
    advice = "call dask.config.set({'dataframe.convert-string': False}) before the frame is made, or read it from Parquet"
    refuse_spelled_lists(frame, lists, "scoring with Dask", advice)
    return scoring(frame)


def refuse_spelled_lists(
    frame: pd.DataFrame, columns: Iterable[str], what: str, advice: str
) -> None:
    """Raise InputError where all that stands in a column of lists is texts that spell them; they would count as one text."""
    for name in columns:
        texts = frame[name].dropna()
        if len(texts) and all(map(_spells_a_list, texts)):
            raise InputError(
                f"{what} needs lists in the column {name}; got texts that spell them ({texts.iloc[0]!r:.60}); {advice}"
            )


def _spells_a_list(value: Any) -> bool:
    """Whether a text is what Dask, or CSV, makes of a list."""
    if not isinstance(value, str) or (value[:1], value[-1:]) != ("[", "]"):
        return False
    try:
        return isinstance(ast.literal_eval(value), list)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return "array(" in value


# ---- Spark -------------------------------------------------------------------------------------------------------------


def _on_spark(responses: Any, unused: list[str], scoring: Scoring, used: list[str]) -> Any:
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    frame = responses.drop(*unused)
    scores = scoring(pd.DataFrame(columns=used, dtype=object))
    made = {
        name: StructField(name, DoubleType() if name == "value" else StringType())
        for name in MADE
        if name in scores
    }
    kept = {field.name: field for field in frame.schema if field.name not in PAYLOAD}
    schema = StructType(list({**kept, **made}.values()))
    scored = partial(_scored_batch, scoring=scoring, used=used, names=schema.names, made=set(made))
    return frame.mapInArrow(lambda batches: map(scored, batches), schema)


def _scored_batch(
    batch: Any, scoring: Scoring, used: list[str], names: list[str], made: set[str]
) -> Any:
    """Scores of a batch of Arrow; what the responses carry is repeated as it is, never through pandas."""
    import pyarrow as pa

    scores = scoring(batch.select(used).to_pandas(maps_as_pydicts="strict"))
    rows = np.resize(
        np.arange(batch.num_rows), len(scores)
    )  # one metric after the other, each of all rows
    kept = {
        name: batch.column(name).take(pa.array(rows, pa.int64()))
        for name in names
        if name not in made
    }
    return pa.RecordBatch.from_arrays(
        [kept[name] if name in kept else _arrow(scores[name], name) for name in names], names
    )


def _arrow(column: pd.Series, name: str) -> Any:
    """Values as doubles, whose nan stays nan; texts with null where there is none."""
    import pyarrow as pa

    if name == "value":
        return pa.array(column.to_numpy(float), pa.float64(), from_pandas=False)
    return pa.array(column.astype(object).where(column.notna(), None), pa.string())
