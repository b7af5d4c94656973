"""Two runs of the same questions, before and after a change of the prompt or the model."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest
from support.fault_server import Answer, FaultServer

import ragnb
from ragnb.__main__ import main
from ragnb.errors import InputError, StoreError
from ragnb.experiments import question_requests
from ragnb.experiments.paired_runs import _QuestionFinder
from ragnb.llm import stored_replies

N = 24


def questions(n=N):
    ids = [f"q{i}" for i in range(n)]
    texts = [f"What is the capital of land {i}?" for i in range(n)]
    return pd.DataFrame({"example_id": ids, "question": texts, "references": ["Oslo"] * n})


def number(call):
    return int(call.body["messages"][-1]["content"].split("land ")[1].split("?")[0])


def behave(call):
    """The new model refuses questions 0 to 7, has 8 and 9 right, and one of its requests fails."""
    n, model = number(call), call.body["model"]
    if model == "new" and n == 23:
        return Answer(status=400, message="flagged")
    if model == "new" and n < 8:
        return Answer(text="I don't know.")
    if model == "old" and n in (8, 9):
        return Answer(text="Rome <b>&</b>")
    return Answer(text="Oslo.")


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Stores of two models under two prompts, of which the second has another temperature."""
    folder = tmp_path_factory.mktemp("stores")
    with FaultServer(behave) as server:
        for model, prompt, temperature in (("old", "closed_book", 0.0), ("new", "plain", 0.7)):
            parameters = {"temperature": temperature, "max_tokens": 16}
            requests = question_requests(questions(), prompt=prompt, parameters=parameters)
            ragnb.complete(
                requests,
                model=model,
                base_url=server.base_url,
                store=folder / f"{model}.sqlite",
                progress=False,
                max_retries=0,
            )
    return folder / "old.sqlite", folder / "new.sqlite"


@pytest.fixture
def changed(stores):
    return ragnb.changes(*stores, "answer.contains", examples=questions())


# ---- two stores ----------------------------------------------------------------------------------


def test_two_stores_are_paired_by_the_question_in_the_prompt(changed):
    table = changed.table().set_index("change")
    assert table["n"].to_dict() == {"right → wrong": 8, "wrong → right": 2, "right": 13}
    assert table.loc["right"].tolist() == [13, 13, 0]
    assert table.loc["right → wrong"].tolist() == [8, 0, 8]
    assert changed.flipped["example_id"].tolist() == [f"q{n}" for n in range(10)]
    assert changed.questions["answered"].value_counts()["answered → refused"] == 8
    assert changed.unpaired.values.tolist() == [
        ["only before", "after: no reply; the store reports HTTP 400 (1)", 1]
    ]


def test_the_difference_is_that_of_a_binomial_distribution(changed):
    (row,) = changed.comparisons.to_dict("records")
    assert (row["n_pairs"], row["n_dropped"], row["baseline"], row["system"]) == (
        23,
        1,
        "before",
        "after",
    )
    assert row["difference"] == pytest.approx((2 - 8) / 23)
    # The mid-p value is the exact one without half of the probability of the observed number.
    mid_p = binomtest(2, 10).pvalue - binom.pmf(2, 10, 0.5)
    assert row["p_value"] == pytest.approx(mid_p)


def test_what_differs_in_the_requests_is_listed(changed):
    state = changed.requests.set_index("part")["state"]
    assert (state[["model", "served_model", "prompt", "temperature"]] == "differs").all()
    assert (state[["endpoint", "max_tokens"]] == "same").all()
    prompt = changed.requests.set_index("part").loc["prompt"]
    assert prompt["n_differ"] == prompt["n_pairs"] == 23
    assert "from the text above" in prompt["after"]
    assert "from the text above" not in prompt["before"]
    assert "13 of 23 texts are equal although model and served_model changed." in changed.notes


def test_equal_prompts_are_paired_without_examples(stores):
    same = ragnb.changes(stores[0], stores[0])
    assert same.table().values.tolist() == [["not compared", N, N, 0]]
    assert set(same.requests["state"]) == {"same"}
    with pytest.raises(InputError, match="the prompt has changed"):
        ragnb.changes(*stores)


def test_a_store_is_compared_with_a_frame_or_a_file(stores, tmp_path):
    frame = questions().assign(response="Oslo.", system="mine")
    expected = {"right": 22, "wrong → right": 2}
    table = ragnb.changes(stores[0], frame).table().set_index("change")
    assert table["n"].to_dict() == {name: expected[name] for name in table.index}
    path = tmp_path / "answers.jsonl"
    frame.to_json(path, orient="records", lines=True)
    table = ragnb.changes(stores[0], path, "contains").table().set_index("change")
    assert table["n"].to_dict() == expected


def test_two_systems_of_one_store_are_paired_by_name(tmp_path):
    path = tmp_path / "both.sqlite"
    with FaultServer(behave) as server:
        for model in ("old", "new"):
            requests = question_requests(questions(), prompt="closed_book")
            ragnb.complete(
                requests,
                model=model,
                base_url=server.base_url,
                store=path,
                progress=False,
                max_retries=0,
            )
    changed = ragnb.changes(path, path, systems=("old", "new"), examples=questions())
    assert changed.table()["n"].tolist() == [8, 2, 13]
    with pytest.raises(InputError, match="'olds' is not in before.*did you mean 'old'"):
        ragnb.changes(path, path, systems=("olds", "new"))
    both = ragnb.changes(path, path, examples=questions())
    assert both.comparisons["system"].tolist() == ["old (after)", "new (after)"]
    assert both.comparisons["family_size"].tolist() == [2, 2]
    assert (both.comparisons["difference"] == 0).all()


def test_the_stored_answers_of_a_pipeline_are_paired_by_their_ids(tmp_path):
    path = tmp_path / "mine.sqlite"
    answers = {
        1: lambda question: "Oslo",
        2: lambda question: "Oslo" if "7" in question else "Rome",
    }
    for version, answer in answers.items():
        ragnb.run(questions(), answer, system="mine", version=version, store=path, progress=False)
    with pytest.raises(InputError, match="ragnb.llm.stored_replies"):
        ragnb.changes(path, path)
    replies = stored_replies(path)
    runs = [replies[replies["version"] == version] for version in (1, 2)]
    changed = ragnb.changes(*runs, "contains", examples=questions())
    assert changed.table().set_index("change")["n"].to_dict() == {"right → wrong": 22, "right": 2}
    assert changed.requests.set_index("part")["state"]["version"] == "differs"


def test_what_is_no_store_is_an_error(tmp_path):
    with pytest.raises(InputError):
        ragnb.changes(tmp_path / "nothing.sqlite", tmp_path / "nothing.sqlite")
    assert not (tmp_path / "nothing.sqlite").exists()
    with pytest.raises(StoreError, match="no store"):
        stored_replies(tmp_path / "nothing.sqlite")


def test_a_question_that_is_there_twice_has_one_reply(stores):
    twice = pd.concat([questions(), questions().head(1).assign(example_id="again")])
    changed = ragnb.changes(*stores, "contains", examples=twice)
    rows = changed.questions.set_index("example_id")
    assert rows.loc["again", "change"] == rows.loc["q0", "change"] == "right → wrong"
    assert len(rows) == N + 1


@pytest.mark.parametrize("seed", range(50))
def test_the_longest_question_in_a_prompt_is_found(seed):
    rng = np.random.default_rng(seed)
    texts = {"".join(rng.choice(list("ab?问"), rng.integers(1, 14))) for _ in range(12)}
    prompt = "".join(rng.choice(list("ab?问"), 60))
    lengths = [len(text) for text in texts if text in prompt]
    longest = _QuestionFinder(texts).longest_in(prompt)
    assert (longest is None) == (not lengths)
    if longest is not None:
        assert longest in prompt
        assert len(longest) == max(lengths)


def test_the_question_is_in_the_last_turn_of_a_conversation():
    turns = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ann."}]
    rows = [
        {"messages": [turns[0]], "response": "Ann.", "system": "m"},
        {
            "messages": [*turns, {"role": "user", "content": "Where?"}],
            "response": "Oslo",
            "system": "m",
        },
    ]
    examples = pd.DataFrame({"example_id": ["1", "2"], "question": ["Who?", "Where?"]})
    changed = ragnb.changes(pd.DataFrame(rows), pd.DataFrame(rows), examples=examples)
    assert changed.questions["before"].tolist() == ["Ann.", "Oslo"]


# ---- frames --------------------------------------------------------------------------------------


def run_of(responses, **columns):
    n = len(responses)
    frame = {"example_id": [f"q{i}" for i in range(n)], "references": ["Oslo"] * n}
    return pd.DataFrame(frame | {"response": responses} | columns)


def test_a_graded_metric_has_better_and_worse_answers():
    old = run_of(["Oslo", "Oslo Rome", "Rome", "Oslo"])
    new = run_of(["Oslo Rome", "Oslo", "Rome", "Oslo"])
    changed = ragnb.changes(old, new, "answer.f1")
    assert changed.questions["change"].tolist() == ["worse", "better", "same", "same"]
    expected = ragnb.score(new, "answer.f1")["value"] - ragnb.score(old, "answer.f1")["value"]
    assert changed.comparisons["difference"].iloc[0] == pytest.approx(expected.mean())
    assert "1 became worse and 1 better" in changed.sentence()


def test_a_metric_that_is_better_if_lower_is_worse_if_it_rises():
    old = run_of(["I don't know.", "Oslo"], answerable=[0, 0])
    new = run_of(["Oslo", "I don't know."], answerable=[0, 0])
    changed = ragnb.changes(old, new, "abstention.hallucination")
    assert changed.questions["change"].tolist() == ["worse", "better"]
    assert changed.questions["answered"].tolist() == ["refused → answered", "answered → refused"]


def test_one_question_and_equal_runs():
    changed = ragnb.changes(run_of(["Oslo"]), run_of(["Rome"]))
    assert changed.questions["change"].tolist() == ["right → wrong"]
    assert changed.comparisons["p_value"].iloc[0] == pytest.approx(0.5)
    same = ragnb.changes(run_of(["Oslo"] * 5), run_of(["Oslo "] * 5))
    assert same.table().values.tolist() == [["right", 5, 5, 0]]
    assert same.flipped.empty
    assert "5 of the texts are equal" in same.sentence()


def test_questions_of_one_run_only_have_a_reason():
    old = run_of(["Oslo", None, "Oslo", None], reason=[None, "HTTP 500", None, "HTTP 500"])
    new = run_of(["Oslo", "Oslo", None, None], reason=[None, None, "cut off", "cut off"]).iloc[1:]
    changed = ragnb.changes(old, new)
    assert changed.unpaired.values.tolist() == [
        ["only before", "after: no row", 1],
        ["only after", "before: HTTP 500", 1],
        ["only before", "after: cut off", 1],
        ["neither", "before: HTTP 500; after: cut off", 1],
    ]
    assert changed.sentence() == "No question has an answer in both runs, so nothing is compared."


def test_questions_of_the_examples_that_nobody_answered_are_counted():
    changed = ragnb.changes(run_of(["Oslo"]), run_of(["Oslo"]), examples=questions(3))
    assert changed.questions["example_id"].tolist() == ["q0", "q1", "q2"]
    assert changed.unpaired["n"].tolist() == [2]


def test_no_question_in_common_and_rows_that_are_repeated():
    old = run_of(["Oslo", "Oslo"])
    with pytest.raises(InputError, match="no example_id in common"):
        ragnb.changes(old, old.assign(example_id=["x", "y"]))
    with pytest.raises(
        InputError, match="one row per question and condition, but after has 2 more"
    ):
        ragnb.changes(old, pd.concat([old, old]))
    empty = ragnb.changes(old.iloc[:0], old)
    assert empty.unpaired.values.tolist() == [["only after", "before: no row", 2]]
    assert empty.comparisons.empty
    assert "nothing is compared" in str(empty)


def test_repeats_are_paired_with_each_other_and_clustered_by_question():
    rng = np.random.default_rng(4)
    texts = rng.choice(["Oslo", "Rome"], 120)
    frame = run_of(["Oslo"] * 120).assign(
        example_id=[f"q{i // 3}" for i in range(120)], repeat=[i % 3 for i in range(120)]
    )
    changed = ragnb.changes(frame, frame.assign(response=texts), "contains")
    row = changed.comparisons.iloc[0]
    assert (row["n_pairs"], row["n_clusters"]) == (120, 40)
    assert row["difference"] == pytest.approx((texts == "Oslo").mean() - 1)
    assert len(changed.questions) == 120


def test_several_systems_are_paired_by_their_names():
    old = pd.concat([run_of(["Oslo"] * 6, system="a"), run_of(["Rome"] * 6, system="b")])
    new = pd.concat([run_of(["Rome"] * 6, system="a"), run_of(["Oslo"] * 6, system="b")])
    new = pd.concat([new, run_of(["Oslo"], system="c")])
    changed = ragnb.changes(old, new)
    assert changed.comparisons["difference"].tolist() == [-1, 1]
    assert changed.comparisons["p_adjusted"].tolist() == pytest.approx([2 * 0.5**6] * 2)
    assert changed.flipped["system"].tolist() == ["a"] * 6 + ["b"] * 6
    assert "c is only in after, so it is left out." in changed.notes
    with pytest.raises(InputError, match="name the two that belong together"):
        ragnb.changes(old, new.assign(system=new["system"] + "2"))


def test_labels_of_one_run_are_not_the_metric():
    old = run_of(["Oslo", "Rome"], label=[1, 1])
    assert ragnb.changes(old, run_of(["Oslo", "Oslo"])).metric == "answer.contains"
    labelled = ragnb.changes(old, run_of(["Oslo", "Oslo"], label=[0, 1]))
    assert labelled.metric == "annotator.verdict"
    assert labelled.questions["change"].tolist() == ["right → wrong", "right"]


def test_ids_may_be_numbers_on_one_side():
    old = run_of(["Oslo", "Oslo"]).assign(example_id=[1, 2])
    new = run_of(["Oslo", "Rome"]).assign(example_id=["1", "2"])
    assert ragnb.changes(old, new).table()["n"].tolist() == [1, 1]


def test_conditions_distinguish_rows_and_may_be_cells():
    frames = [run_of(["Oslo"] * 8, language=language) for language in ("en", "de")]
    old = pd.concat(frames)
    new = old.assign(response=["Oslo"] * 8 + ["Rome"] * 8)
    pooled = ragnb.changes(old, new, "contains")
    assert pooled.comparisons[["n_pairs", "n_clusters", "difference"]].values.tolist() == [
        [16, 8, -0.5]
    ]
    by_language = ragnb.changes(old, new, "contains", by="language")
    assert by_language.comparisons["difference"].tolist() == [0, -1]
    assert by_language.flipped["language"].tolist() == ["de"] * 8


def test_an_equal_text_with_another_value_is_reported():
    old = run_of(["Oslo", "Oslo"], judged_correct=[1, 1])
    changed = ragnb.changes(old, old.assign(judged_correct=[0, 1]))
    assert changed.metric == "semantic.judged_correctness"
    assert any("1 of the flipped answers has an equal text" in note for note in changed.notes)


def test_scores_are_no_responses():
    scores = ragnb.score(run_of(["Oslo"]).assign(system="a"), "contains")
    with pytest.raises(InputError, match="these are scores"):
        ragnb.changes(scores, scores)


# ---- what is displayed ---------------------------------------------------------------------------


def test_texts_are_escaped_once(changed):
    shown = changed._repr_html_()
    assert "Rome &lt;b&gt;&amp;&lt;/b&gt;" in shown
    assert "Rome <b>" not in shown
    assert "q8 (wrong → right): What is the capital of land 8?" in repr(changed)
    assert "before: Rome <b>&</b>" in repr(changed)


def test_the_sentence_says_what_flipped(changed):
    sentence = changed.sentence()
    assert sentence.startswith(
        "23 questions have an answer in both runs; 13 of the texts are equal."
    )
    assert "8 right answers became wrong, and 2 wrong answers became right." in sentence


def test_flips_are_viewed_and_outcomes_are_drawn(changed):
    assert repr(ragnb.view(changed)).startswith("FrameView(10 rows")
    ax = ragnb.plot(changed)
    assert ax.get_xlabel() == "before: 91 % right"
    graded = ragnb.changes(
        run_of(["Oslo", "Oslo Rome"]), run_of(["Oslo Rome", "Oslo"]), "answer.f1"
    )
    assert ragnb.plot(graded) is not None
    assert repr(ragnb.view(graded)).startswith("FrameView(4 rows")
    unscored = run_of(["Oslo"]).drop(columns="references")
    assert repr(ragnb.view(ragnb.changes(unscored, unscored))).startswith("FrameView(0 rows")
    with pytest.raises(InputError, match="none to compare"):
        ragnb.plot(ragnb.changes(run_of(["Oslo"]).iloc[:0], run_of(["Oslo"])))


# ---- the command line ----------------------------------------------------------------------------


def test_the_exit_codes_are_those_of_the_gate(stores, tmp_path, capsys):
    old, new = map(str, stores)
    path = str(tmp_path / "questions.jsonl")
    questions().to_json(path, orient="records", lines=True)
    with_examples = ["--examples", path, "-m", "contains"]
    gate = ["--fail-if-worse", "0.02"]
    assert main(["changes", old, new, *with_examples]) == 0
    assert "23 questions have an answer in both runs" in " ".join(capsys.readouterr().out.split())
    # Eight losses against two gains are no significant loss, and one reply is missing.
    assert main(["changes", old, new, *with_examples, *gate]) == 3
    assert "1 question has an answer only before" in capsys.readouterr().err
    assert main(["changes", old, new, *with_examples, *gate, "--unpaired", "drop"]) == 0
    assert main(["changes", old, new, *gate]) == 2
    answers = tmp_path / "answers.jsonl"
    questions().assign(response="Rome").to_json(answers, orient="records", lines=True)
    capsys.readouterr()
    assert main(["changes", old, str(answers), "-m", "contains", *gate]) == 1
    assert "after is worse than before" in capsys.readouterr().err
    assert main(["changes", old, old, *gate]) == 3
    assert main(["changes", old, old, *with_examples, *gate, "--format", "json"]) == 0
