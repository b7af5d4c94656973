import pandas as pd
import pytest
from support.fault_server import Answer, FaultServer

import ragnb
from ragnb.experiments import MULTILINGUAL_SYSTEMS, run_multilingual
from ragnb.prompts import texts_between_tags

COST = "cost.translation_tokens"
CONTEXTS = pd.DataFrame(
    {
        "example_id": ["q/1/en", "q/1/de", "q/2/en"],
        "question_id": ["1", "1", "2"],
        "benchmark": "hand",
        "task": "reading",
        "language": ["en", "de", "en"],
        "question": ["How deep is the lake?", "Wie tief ist der See?", "Who built the tower?"],
        "references": [[["60 m"]], [["60 m"]], [["Ana"]]],
        "passages": [
            ["Der See ist 60 m tief.", "The lake is old.", "塔很高。"],
            ["The lake is 60 m deep.", "Der Turm ist hoch."],
            ["Ана построила башню.", "Der See ist 60 m tief."],
        ],
        "passage_ids": [["q/1/de#0", "x#0", "x#1"], ["q/1/en#0", "x#2"], ["q/2/ru#0", "q/1/de#0"]],
        "passage_languages": [["de", "en", "zh"], ["en", "de"], ["ru", "de"]],
        "passage_scores": [[0.9, 0.8, 0.4], [0.9, 0.8], [0.9, 0.3]],
    }
)
TRANSLATIONS = {
    "Der See ist 60 m tief.": ("The lake is 60 m deep.", 9),
    "塔很高。": ("The tower is tall.", 4),
    "The lake is 60 m deep.": ("Der See ist 60 m tief.", 11),
    "Ана построила башню.": ("Ana built the tower.", 6),
}
"""What the server says, and how many tokens it counts."""


class Model(FaultServer):
    """An endpoint that translates by a list and answers every question with ``60 m``; ``says`` changes translations."""

    def __init__(self, **says):
        super().__init__(self.reply)
        self.says = says

    def reply(self, call):
        original = self.translated(call)
        if original is None:
            return Answer(text="60 m")
        text, tokens = TRANSLATIONS[original]
        usual = Answer(text=text, tokens=tokens)
        return self.says.get(original.split()[0].rstrip("。"), usual)

    @staticmethod
    def translated(call):
        """The passage that a call asks to translate, None for a question."""
        if "messages" in call.body:
            system, user = (message["content"] for message in call.body["messages"])
            return user if system.startswith("You translate") else None
        lines = call.body["prompt"].split("\n")
        language, _, text = lines[-2].partition(": ")
        return text if lines[-1].isascii() and language in LANGUAGES else None

    def run(self, system, **options):
        given = {**self.options, "max_concurrency": 1, **options}
        return run_multilingual(CONTEXTS, system, model="m", **given)

    @property
    def asked(self):
        """Passages that were translated, then questions, in the order of the calls."""
        return [self.translated(call) or "?" for call in self.calls]


LANGUAGES = ("German", "English", "Chinese", "Russian")


def ask(system, **options):
    with Model() as model:
        return model.run(system, **options)


def shown_in(row):
    """The passages that the model sees, without their numbers."""
    passages, _ = texts_between_tags(row["messages"])
    return [line.partition("] ")[2] for line in passages.split("\n")]


TEN, FIVE, TWENTY = "a" * 40, "b" * 20, "c" * 80
"""Texts of so many estimated tokens: four bytes each."""
SCORES = [0.9, 0.5, 1.0]  # a token: 0.09, 0.1, 0.05


@pytest.mark.parametrize(
    ("budget", "places"),
    [(0, []), (4, []), (5, [1]), (14, [1]), (15, [1, 0]), (1000, [1, 0, 2])],
)
def test_lbrag_takes_the_best_a_token_as_long_as_they_fit(budget, places):
    one = CONTEXTS.head(1).assign(
        passages=[[TEN, FIVE, TWENTY]], passage_languages=[["de"] * 3], passage_scores=[SCORES]
    )
    with FaultServer(lambda call: Answer(text="so")) as server:
        options = {"budget_tokens": budget, **server.options}
        (responses,) = run_multilingual(one, "lbrag", model="m", **options).to_dict("records")
    assert [each["place"] for each in responses["translations"]] == places


def test_cross_shows_every_passage_in_the_question_s_language():
    with Model() as model:
        responses = model.run("cross")
    expected = [
        ["The lake is 60 m deep.", "The lake is old.", "The tower is tall."],
        ["Der See ist 60 m tief.", "Der Turm ist hoch."],
        ["Ana built the tower.", "The lake is 60 m deep."],
    ]
    assert responses["passages"].tolist() == expected
    assert [shown_in(row) for _, row in responses.iterrows()] == expected
    as_retrieved = CONTEXTS["passage_languages"].tolist()
    assert responses["passage_languages"].tolist() == as_retrieved
    assert sorted(model.asked) == sorted(["?"] * 3 + list(TRANSLATIONS)), "what is shared, once"
    first = responses["translations"][0][0]
    assert first == {
        "text": "The lake is 60 m deep.",
        "token_count": 9,
        "source": "de",
        "language": "en",
        "original": "Der See ist 60 m tief.",
        "place": 0,
    }
    keys = responses["translation_keys"].tolist()
    assert [len(each) for each in keys] == [2, 1, 2]
    assert keys[0][0] == keys[2][1]


def test_cost_is_what_the_endpoint_counted_for_the_translations_of_each_question():
    responses = pd.concat([ask(system) for system in MULTILINGUAL_SYSTEMS], ignore_index=True)
    costs = ragnb.score(responses, COST).groupby("system", sort=False)["value"].agg(list).to_dict()
    assert costs == {
        "direct": [0, 0, 0],
        "multi": [0, 0, 0],
        "cross": [13, 11, 15],
        "lbrag": [13, 11, 15],
    }
    report = ragnb.multilingual_report(responses)
    means = report.table.set_index(["system", "metric"])["mean"]
    assert means["cross", COST] == 13
    assert means["cross", "cost.cnbe"] == 0.0  # the answers are those of `direct`
    assert report.scores.query("metric == 'cost.cnbe' and system == 'multi'")["value"].isna().all()


@pytest.mark.parametrize(
    ("reply", "reason", "tokens"),
    [
        (Answer(status=400, message="too long"), "HTTP 400: too long", None),
        (Answer(text="", tokens=1), "empty reply", 1),
    ],
    ids=["refused", "empty"],
)
def test_a_passage_without_translation_is_shown_as_it_is_with_the_reason(reply, reason, tokens):
    with Model(塔很高=reply) as model:
        responses = model.run("cross")
    assert responses["passages"][0] == ["The lake is 60 m deep.", "The lake is old.", "塔很高。"]
    failed = responses["translations"][0][1]
    assert (failed["text"], failed["token_count"], failed["reason"]) == (None, tokens, reason)
    assert (failed["source"], failed["language"], failed["original"], failed["place"]) == (
        "zh",
        "en",
        "塔很高。",
        2,
    )
    assert responses["reason"].isna().all()  # the question was answered all the same
    assert ragnb.score(responses, COST)["value"].tolist() == [9 + (tokens or 0), 11, 15]


def test_stored_replies_are_not_asked_again_and_replay_the_same(tmp_path):
    prompt = "few_shot"
    store, failing = tmp_path / "s.sqlite", Answer(status=400, message="too long")
    with Model(塔很高=failing) as model:
        first = {
            system: model.run(system, prompt=prompt, store=store) for system in MULTILINGUAL_SYSTEMS
        }
        asked = len(model.asked)
        again = {
            system: model.run(system, prompt=prompt, store=store) for system in MULTILINGUAL_SYSTEMS
        }
        repeated = model.asked[asked:]
    assert repeated == ["塔很高。"] * 2  # only what has failed, once for each system that wants it
    for system in MULTILINGUAL_SYSTEMS:
        offline = run_multilingual(
            CONTEXTS, system, model="m", prompt=prompt, store=store, offline=True
        )
        pd.testing.assert_frame_equal(first[system], again[system])
        pd.testing.assert_frame_equal(first[system], offline)
