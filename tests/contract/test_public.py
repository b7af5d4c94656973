"""Whatever a public function is given, it gives a value or one of ragnb's own errors; and no public function is left out."""

import copy
import inspect
import warnings

import pandas as pd
import pytest
from contract import calls, frames, reasons, values
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ragnb.errors import RagnbError
from ragnb.scoring import METRICS

FUNCTIONS = [name for name, thing in calls.public().items() if not inspect.isclass(thing)]
FEW = settings(max_examples=10, phases=[Phase.explicit, Phase.generate])
"""The values are drawn out of lists: there is nothing to shrink."""
CHECKED = [name for name in FUNCTIONS if not reasons.of(name)]


def calls_of(name):
    """Calls of a function that work, each made anew."""
    if name in frames.FRAMES or name in frames.VALUES:
        return [(frames.FRAMES | frames.VALUES)[name]()]
    return copy.deepcopy(calls.recorded(name)[:2])


def refusal(name, call):
    """What ragnb's own error says, or None where a call gave a value; any other error ends the test, and so does a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "no language was given")  # what is drawn may be no language
        try:
            calls.made(calls.public()[name], call)
        except RagnbError as error:
            return str(error)
    return None


def arguments(name):
    """Arguments that can be anything: not the functions of the caller, nor further options, which have names of their own."""
    parameters = inspect.signature(calls.public()[name]).parameters.values()
    variadic = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [one.name for one in parameters if one.kind not in variadic and one.name not in reasons.CALLERS_OWN]


def test_every_public_function_is_called_here_or_has_a_reason():
    assert [name for name in CHECKED if not calls_of(name)] == []


def test_every_reason_is_of_something_that_there_is():
    stale = [name for name in reasons.REASONS if not any(one == name or one.startswith(f"{name}.") for one in FUNCTIONS)]
    assert stale == []
    assert [name for name in (*frames.FRAMES, *frames.VALUES) if name not in FUNCTIONS] == []


@pytest.mark.parametrize("name", CHECKED)
def test_the_calls_work_as_they_are(name):
    for call in calls_of(name):
        assert refusal(name, call) is None


@pytest.mark.parametrize("name", [name for name in CHECKED if arguments(name)])
@given(data=st.data())
@FEW
def test_an_argument_can_be_anything(name, data):
    call = data.draw(st.sampled_from(calls_of(name)), label="call")
    argument = data.draw(st.sampled_from(arguments(name)), label="argument")
    call[argument] = data.draw(values.no_count if argument in reasons.COUNTS else values.anything, label="value")
    assert refusal(name, call) != ""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CHECKED if arguments(name)])
def test_an_argument_can_be_any_of_the_listed_values(name):
    for argument in arguments(name):
        for value in values.NO_COUNTS if argument in reasons.COUNTS else values.EVERYTHING:
            for call in calls_of(name):
                assert refusal(name, call | {argument: copy.deepcopy(value)}) != "", (argument, value)


@pytest.mark.parametrize("name", list(frames.FRAMES))
@given(data=st.data())
@FEW
def test_a_frame_can_hold_anything(name, data):
    call = frames.FRAMES[name]()
    argument = data.draw(st.sampled_from([one for one, value in call.items() if isinstance(value, pd.DataFrame)]))
    call[argument] = data.draw(values.damaged(call[argument]), label="frame")
    assert refusal(name, call) != ""


@pytest.mark.parametrize("metric", [name for name, metric in METRICS.items() if metric.options])
@given(data=st.data())
@FEW
def test_an_option_of_a_metric_can_be_anything(metric, data):
    option = data.draw(st.sampled_from(sorted(METRICS[metric].options)), label="option")
    options = {option: data.draw(values.anything, label="value")}
    call = {"responses": frames.responses(), "metrics": metric, "explain": data.draw(st.booleans()), "options": options}
    assert refusal("ragnb.scoring.scores.score", call) != ""


@pytest.mark.parametrize("name", list(frames.FRAMES))
@given(data=st.data())
@FEW
def test_a_missing_column_is_named_or_not_needed(name, data):
    call = frames.FRAMES[name]()
    argument, frame = next((one, value) for one, value in call.items() if isinstance(value, pd.DataFrame))
    column = data.draw(st.sampled_from(list(frame)), label="column")
    call[argument] = frame.drop(columns=column)
    refused = refusal(name, call)
    assert refused is None or column in refused or column in reasons.TELLING, refused
