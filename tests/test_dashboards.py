"""The dashboard shows the means that `summarize` gives for what was chosen, with a kernel and without one."""

import pandas as pd
import pytest

import ragnb
from ragnb import dashboards
from ragnb.errors import InputError
from ragnb.experiments import recorded_responses


@pytest.fixture(scope="module")
def responses():
    frames = [recorded_responses(name) for name in ("rgb_noise", "rgb_integration")]
    frame = pd.concat(frames, ignore_index=True)
    return frame[frame["system"].isin(["answer", "plain"])].reset_index(drop=True)


@pytest.fixture(scope="module")
def shown(responses):
    """A choice stays until the next one, so each test chooses all that it looks at."""
    return ragnb.dashboard(responses)


def static_page(dashboard):
    bundle = dashboard._repr_mimebundle_()
    return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]


@pytest.mark.parametrize("protocol", ["paper", "released", "flexible"])
@pytest.mark.parametrize("metric", ["rgb.accuracy", "rgb.rejection"])
def test_means_are_those_of_summarize_for_every_choice(responses, shown, protocol, metric):
    shown.choose(
        systems=["answer", "plain"], metric=metric, protocol=protocol, noise_rate=0.4, task="noise"
    )
    chosen = responses.query("noise_rate == 0.4 and task == 'noise'")
    expected = ragnb.summarize(ragnb.score(chosen, metric, protocol=protocol), by="system")
    columns = ["system", "mean", "low", "high", "n"]
    pd.testing.assert_frame_equal(
        pd.DataFrame(shown.summary[columns]), pd.DataFrame(expected[columns])
    )
    assert len(shown.responses) == len(chosen)
    value = shown.responses[metric].groupby(shown.responses["system"]).mean()
    assert value.to_dict() == pytest.approx(
        dict(zip(expected["system"], expected["mean"], strict=True))
    )


def test_all_noise_rates_are_rows_and_one_system_can_be_chosen(shown):
    shown.choose(
        systems=["plain"], metric="rgb.accuracy", protocol="paper", noise_rate=None, task="noise"
    )
    assert shown.summary["noise_rate"].tolist() == [0.0, 0.2, 0.4, 0.6, 0.8]
    assert set(shown.responses["system"]) == {"plain"}


def test_a_choice_without_responses_says_so(shown):
    shown.choose(systems=["plain"], noise_rate=0.8, task="integration")
    assert "No response fits" in static_page(shown)
    shown.choose(task="noise")
    assert "No response fits" not in static_page(shown)


def test_without_a_kernel_the_table_the_figure_and_the_first_responses_are_there(shown):
    shown.choose(
        systems=["answer", "plain"],
        metric="rgb.accuracy",
        protocol="paper",
        noise_rate=0.0,
        task="noise",
    )
    page = static_page(shown)
    assert 'src="data:image/png;base64,' in page
    assert "metric: rgb.accuracy; protocol: paper; task: noise; noise rate: 0" in page
    assert "<th" in page
    assert shown.responses["question"].iloc[0] in page


def test_answers_with_references_get_metrics_of_answers():
    frame = pd.DataFrame(
        {
            "example_id": ["q1", "q1", "q2", "q2"],
            "system": ["a", "b"] * 2,
            "response": ["Oslo", "Rome", "<b>Bern</b>", ""],
            "references": [["Oslo"], ["Oslo"], ["Bern"], ["Bern"]],
        }
    )
    shown = ragnb.dashboard(frame)
    shown.choose(metric="answer.contains")
    assert shown.summary.set_index("system")["mean"]["a"] == 1.0
    assert "<b>Bern</b>" not in static_page(shown)


def test_given_scores_are_shown_and_nothing_is_scored(responses):
    chosen = responses.query("task == 'noise' and noise_rate == 0")
    scores = ragnb.score(chosen, "rgb.accuracy", protocol="paper")
    backwards = scores.iloc[::-1].assign(metric="mine", signature="metric:mine")
    shown = ragnb.dashboard(chosen, scores=backwards)
    assert shown.summary["metric"].unique().tolist() == ["mine"]
    expected = ragnb.summarize(scores, by="system").set_index("system")["mean"].to_dict()
    assert shown.summary.set_index("system")["mean"].to_dict() == pytest.approx(expected)


def test_mistakes_are_named(responses, shown):
    with pytest.raises(InputError, match="the controls are systems, metric, protocol"):
        shown.choose(model="x")
    with pytest.raises(InputError, match="at least one response"):
        ragnb.dashboard(responses.head(0))
    with pytest.raises(InputError, match="dashboard needs the columns system, response"):
        ragnb.dashboard(responses.drop(columns="system"))


def test_the_first_view_shows_one_task_in_order(responses):
    first = ragnb.dashboard(responses)
    assert first.responses["task"].unique().tolist() == ["noise"]
    rows = list(zip(first.summary["system"], first.summary["noise_rate"], strict=True))
    rates = [0.0, 0.2, 0.4, 0.6, 0.8]
    assert rows == [(system, rate) for system in ("answer", "plain") for rate in rates]
    assert first._conditions["noise_rate"].label == "all"


def test_a_new_choice_closes_the_old_list_and_is_drawn_once(responses, monkeypatch):
    drawn = []
    draw = dashboards.plot_png
    monkeypatch.setattr(dashboards, "plot_png", lambda result: drawn.append(1) or draw(result))
    shown = ragnb.dashboard(responses)
    old = shown._list.children[0]
    shown.choose(task="integration", noise_rate=0.4, protocol="released", systems=["plain"])
    assert len(drawn) == 2
    assert repr(old) == "FrameView(closed)"
    assert len(shown._list.children[0].rows) == 30


def test_a_value_that_a_control_does_not_have_is_named(shown):
    with pytest.raises(InputError, match="protocol must be among 'paper', 'released', 'flexible'"):
        shown.choose(protocol="guide")
    with pytest.raises(InputError, match="noise_rate must be among None, 0.0, .+, got 0.5"):
        shown.choose(noise_rate=0.5)


def test_long_names_of_conditions_leave_room_for_the_curves(responses, recwarn):
    named = responses["system"] + " with a name that leaves no room next to the curves"
    ragnb.dashboard(responses.assign(system=named))
    assert not [str(warning.message) for warning in recwarn if "layout" in str(warning.message)]


# ---- scores next to responses ------------------------------------------------------------------


def test_scores_join_their_responses_in_any_order(responses):
    scores = ragnb.score(responses, ["rgb.accuracy", "rgb.rejection"])
    joined = ragnb.with_scores(responses, scores.sample(frac=1, random_state=0))
    for metric in ("rgb.accuracy", "rgb.rejection"):
        expected = scores.loc[scores["metric"] == metric, "value"]
        assert joined[metric].tolist() == expected.tolist()
    assert joined["response"].tolist() == responses["response"].tolist()
    assert "rgb.accuracy" in joined.attrs["signatures"]


def test_two_definitions_of_one_metric_cannot_be_joined(responses):
    both = [ragnb.score(responses, "rgb.accuracy", protocol=name) for name in ("paper", "released")]
    with pytest.raises(
        InputError, match="one value of each metric for a response, got several of rgb"
    ):
        ragnb.with_scores(responses, pd.concat(both))


def test_one_value_too_many_is_named(responses):
    scores = ragnb.score(responses, "rgb.accuracy")
    with pytest.raises(
        InputError, match=rf"several of rgb\.accuracy for {scores['example_id'][3]}"
    ):
        ragnb.with_scores(responses, pd.concat([scores, scores.iloc[[3]]]))


def test_responses_that_cannot_be_identified_are_refused(responses):
    scores = ragnb.score(responses, "rgb.accuracy")
    with pytest.raises(InputError, match="needs a column that identifies a response"):
        ragnb.with_scores(responses[["response"]], scores)
