import pytest
from support.fault_server import Answer, FaultServer

import ragnb
from ragnb.errors import InputError
from ragnb.experiments import rgb_requests, run_counterfactual_robustness
from ragnb.experiments.rgb import ABILITIES


@pytest.fixture(scope="module")
def sample():
    return ragnb.load_rgb("sample-en")


def test_requests_exist_before_anything_is_sent(sample):
    requests = rgb_requests(sample, prompt="plain", parameters={"temperature": 0.5})
    assert len(requests) == 5 * len(sample)
    first = requests.iloc[0]
    assert first.question in first.messages[-1]["content"]
    assert all(passage in first.messages[-1]["content"] for passage in first.passages)
    assert first.parameters == {"temperature": 0.5}
    assert first.template.startswith("rgb.plain.en:1:")


@pytest.mark.parametrize("ability", sorted(ABILITIES))
def test_an_ability_refuses_questions_of_another_kind(ability, sample):
    other = sample.assign(task="something else")
    with pytest.raises(
        InputError,
        match=f"{ability} needs examples of the task .*, got something else",
    ):
        rgb_requests(other, ability)


# ---- counterfactual robustness, from client to report ------------------------------------------------------------------


FALSE = ragnb.load_rgb("sample-en-fact").head(4)


def knows(call):
    """A model that has the right answers by heart, and tells the false one of the first question when it stands there."""
    asked = call.body["messages"][-1]["content"] if "messages" in call.body else call.body["prompt"]
    row = next(row for row in FALSE.to_dict("records") if row["question"] in asked)
    fooled = row["example_id"] == FALSE["example_id"][0] and row["false_answers"][0] in asked
    return Answer(text=row["false_answers"][0] if fooled else row["references"][0][0])


def run_false(**requests):
    with FaultServer(knows) as server:
        return run_counterfactual_robustness(FALSE, model="m", **requests, **server.options)


@pytest.mark.parametrize(
    "requests", [{"noise_rates": (0.0, 0.2)}, {"noise_rates": (0.4,), "prompt": "few_shot"}]
)
def test_false_passages_are_shown_at_each_noise_rate_and_the_questions_once_alone(requests):
    rates = list(requests.get("noise_rates", (0.0,)))
    responses = run_false(**requests)
    opened, alone = (
        responses[responses["passage_num"] > 0],
        responses[responses["passage_num"] == 0],
    )
    everyone = FALSE["example_id"].tolist()
    assert opened.groupby("noise_rate")["example_id"].apply(list).to_dict() == dict.fromkeys(
        rates, everyone
    )
    assert alone["example_id"].tolist() == everyone
    assert alone["passages"].map(len).eq(0).all()
    assert alone["template"].str.contains("closed_book").all()
    report = ragnb.rgb_report(responses)
    accuracy = report.counterfactual_robustness.query("metric == 'rgb.accuracy'")
    assert accuracy[["noise_rate", "mean", "n"]].values.tolist() == [
        [rate, 0.75, 4] for rate in rates
    ]
    assert accuracy["closed_book_accuracy"].eq(1).all()
    assert report.closed_book[["mean", "n"]].values.tolist() == [[1, 4]]
