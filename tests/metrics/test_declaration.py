"""A metric is declared once: what its annotations say is checked, documented and recorded."""

import inspect
import math
import typing
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import pytest

from ragnb.errors import InputError
from ragnb.metrics import METRICS
from ragnb.metrics.declaration import Column, Option, declared, with_section
from ragnb.metrics.recognition import outcome_and_why
from ragnb.metrics.record import metric
from ragnb.metrics.rgb import answer_labels, is_refusal
from ragnb.metrics.rgb_protocols import Paper, protocol_of
from ragnb.metrics.trace import trace_scores


class Response(Column):
    """Response of the system.

    A second paragraph.
    """

    column = "response"


class Unit(Option):
    """Unit in which the length is measured."""

    values: ClassVar = {
        "word": "Words, separated by spaces.",
        "character": "Characters, with spaces.",
    }


class Limit(Option):
    """Largest length that counts."""

    values: ClassVar = {None: "No limit.", ...: "Only so many units count."}
    must_be = "a whole number of at least 1, or None"

    @classmethod
    def allows(cls, value: Any) -> bool:
        return value is None or value >= 1


def length(
    response: Annotated[str | None, Response],
    *,
    unit: Annotated[str, Unit] = "word",
    limit: Annotated[int | None, Limit] = None,
) -> float:
    """Length of the response.

    Examples
    --------
    >>> length("a b")
    2.0
    """
    if response is None:
        return math.nan
    count = len(response.split() if unit == "word" else response)
    return float(count if limit is None else min(count, limit))


@pytest.fixture
def own():
    """A metric with two options, which is registered during a test."""
    declare = metric("own.length", source="here", undefined="If it is None.", bounds=(0, math.inf))
    yield declare(length)
    METRICS.pop("own.length")


def test_the_record_is_made_of_the_annotations(own):
    record = METRICS["own.length"]
    assert record.function is own
    assert record.columns == {"response": "response"}
    assert record.options == {"unit": "word", "limit": None}
    assert record.variants == {"unit": Unit.values, "limit": Limit.values}
    assert record.signature({"limit": 3}).endswith("|metric:own.length|unit:word|limit:3")


def test_the_docstring_has_all_sections_in_order(own):
    doc = inspect.getdoc(own)
    headings = [doc.index(heading) for heading in ("Parameters\n", "Returns\n", "Examples\n")]
    assert headings == sorted(headings)
    for text in (
        "response : str or None\n    Response of the system.\n\n    A second paragraph.",
        "unit : {'word', 'character'}, default='word'\n    Unit in which",
        "    - ``'character'``: Characters, with spaces.",
        "limit : int or None, default=None",
        "    - other values: Only so many units count.",
        "A number of at least 0; higher is better. NaN if `response` is None, and if it is None.",
    ):
        assert text in doc


@pytest.mark.parametrize("heading", ["Returns", "See Also", "Parameters of the model"])
def test_a_section_is_added_before_the_first_other_heading(heading):
    def size():
        pass

    size.__doc__ = (
        f"Size.\n\nParameters\n----------\nx : int\n    A number.\n\n{heading}\n--------\nText.\n"
    )
    before, after = with_section(size, "Notes\n-----\nA note.").split("Notes\n-----\nA note.")
    assert before.endswith("A number.\n\n")
    assert after.startswith(f"\n\n{heading}\n")


FUNCTIONS = [record.function for record in METRICS.values()]
OTHERS = [trace_scores, outcome_and_why, answer_labels, is_refusal]


@pytest.mark.parametrize("function", FUNCTIONS + OTHERS, ids=lambda function: function.__name__)
def test_signatures_are_plain_and_each_parameter_is_described(function):
    signature = inspect.signature(function)
    assert "Annotated" not in str(signature)
    assert not any("Annotated" in str(kind) for kind in typing.get_type_hints(function).values())
    doc = inspect.getdoc(function)
    for name, parameter in signature.parameters.items():
        assert f"\n{name} : " in doc, name
        if parameter.default is not inspect.Parameter.empty:
            line = doc.split(f"\n{name} : ")[1].partition("\n")[0]
            assert line.endswith(f"default={parameter.default!r}")


def test_options_are_checked_in_each_call(own):
    assert own("a b c", limit=2) == 2.0
    assert own("a b c", unit="character") == 5.0
    with pytest.raises(InputError, match="^unit must be one of 'word', 'character', got 'line'"):
        own("a", unit="line")
    with pytest.raises(
        InputError, match="^limit must be a whole number of at least 1, or None, got 0"
    ):
        own(None, limit=0)


def test_a_function_for_many_responses_checks_its_options_too():
    of_many = METRICS["retrieval.recall"].of_many
    calls = [{"retrieved": ["a"], "relevant": ["a"]}]
    assert list(of_many(calls, k=1)) == [1.0]
    with pytest.raises(InputError, match="unjudged must be one of"):
        of_many(calls, unjudged="ignored")


def test_an_option_can_have_other_values():
    other = Unit.with_values({"line": "Lines."})
    assert issubclass(other, Unit)
    assert (other.values, inspect.getdoc(other)) == ({"line": "Lines."}, inspect.getdoc(Unit))
    other.check("line", "unit")


def undescribed(response: str) -> float:
    return 0.0


def positional(response: Annotated[str, Response], unit: Annotated[str, Unit] = "word") -> float:
    return 0.0


def without_default(response: Annotated[str, Response], *, unit: Annotated[str, Unit]) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (undescribed, "the annotation of response must say what it is, a Column or an Option"),
        (positional, "the option unit must be keyword-only and have a default"),
        (without_default, "the option unit must be keyword-only and have a default"),
    ],
)
def test_an_incomplete_declaration_says_what_is_missing(function, message):
    with pytest.raises(TypeError, match=f"own.metric: {message}"):
        metric("own.metric", source="here")(function)
    assert "own.metric" not in METRICS


def test_a_function_that_is_no_metric_can_be_declared():
    @declared
    def first(texts: Sequence[str], *, unit: Annotated[str, Unit] = "word") -> str:
        """First unit."""
        return texts[0]

    assert first(["a"], unit="character") == "a"
    assert "unit : {'word', 'character'}" in first.__doc__
    with pytest.raises(InputError, match="unit must be one of"):
        first(["a"], unit="line")


# ---- a fourth protocol of RGB --------------------------------------------------------------------


def test_a_protocol_is_one_class(monkeypatch):
    protocols = {"paper": Paper}
    monkeypatch.setattr("ragnb.metrics.rgb_protocols._CLASSES", protocols)

    class Exact(Paper):
        """The response is the answer, and nothing else."""

        name = "exact"
        definitions = dict.fromkeys(Paper.definitions, "The response equals an alias.")

        def contains(self, response, alias):
            return self.answer_form(response) == self.answer_form(alias)

    assert protocols == {"paper": Paper, "exact": Exact}
    monkeypatch.setattr("ragnb.metrics.rgb_protocols.PROTOCOLS", tuple(protocols))
    protocol_of.cache_clear()
    assert answer_labels("OSLO", ["Oslo"], protocol="exact") == [1]
    assert answer_labels("It is Oslo", ["Oslo"], protocol="exact") == [0]
    assert is_refusal("insufficient information", protocol="exact") == 1.0
    protocol_of.cache_clear()
