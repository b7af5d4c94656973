"""Mistakes that people make: each gets one sentence that says what to do."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

import ragnb
from ragnb.datasets.mapping import suggested_columns

ROOT = Path(__file__).parents[1]
ANSWERS = ROOT / "docs" / "answers.csv"


@pytest.fixture(scope="module")
def responses():
    return ragnb.load_responses(ANSWERS, language="en")


@pytest.fixture(scope="module")
def scores(responses):
    return ragnb.score(responses, ["answer.f1", "annotator.verdict"], variant="squad")


@pytest.fixture(scope="module")
def means(scores):
    return ragnb.summarize(scores)


@pytest.fixture(scope="module")
def differences(scores):
    return ragnb.compare(scores, baseline="FiD")


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A frame with the user's own names of columns, and a file of it in the present folder."""
    monkeypatch.chdir(tmp_path)
    texts = {"Question text": ["a?", "b?"], "Gold answer": ["x", "y"], "Model output": ["x", "z"]}
    frame = pd.DataFrame(texts)
    frame.to_csv("results_export.csv", index=False)
    return frame


def refused(call, *arguments, **options):
    """The message of an error of ragnb, which is one line."""
    with pytest.raises(ragnb.RagnbError) as error:
        call(*arguments, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


# ---- files and columns -------------------------------------------------------------------------


def test_a_wrong_column_gets_the_call_that_would_work(raw):
    message = refused(ragnb.load_responses, "results_export.csv")
    assert "its columns are Question text, Gold answer, Model output" in message
    assert "load_responses('results_export.csv', {'question': 'Question text'" in message


def test_a_column_that_has_another_role_is_not_suggested_again():
    table = pd.DataFrame({"question": ["Who?"], "Prompt": ["Ann?"], "gold": ["Ann"]})
    assert suggested_columns(table, {"response": "question"}) == {
        "response": "question",
        "question": "Prompt",
        "references": "gold",
    }
    message = refused(ragnb.load_responses, table.drop(columns="Prompt"), {"response": "question"})
    assert "{'response': 'question', 'references': 'gold', 'question': '...'}" in message


@pytest.mark.parametrize(
    ("column", "meant"), [("Model ouput", "Model output"), ("output", "Model output")]
)
def test_a_wrong_name_in_a_mapping_is_suggested(raw, column, meant):
    columns = {"question": "Question text", "references": "Gold answer", "response": column}
    assert refused(ragnb.load_responses, raw, columns).endswith(f"; did you mean {meant!r}?")


def test_a_wrong_path_is_suggested_or_its_folder_is_missing(raw):
    message = refused(ragnb.load_responses, "result_export.csv")
    assert message == (
        "the file 'result_export.csv' does not exist; did you mean 'results_export.csv'?"
    )
    message = refused(ragnb.load_responses, "data/results_export.csv")
    assert message.endswith("does not exist, because there is no folder 'data'")


def test_a_notebook_or_a_picture_is_no_table(raw):
    for name in ("analysis.ipynb", "figure.png"):
        Path(name).write_text("{}")
        assert "the name of a table must end in .jsonl, .json" in refused(
            ragnb.load_responses, name
        )


def test_a_table_is_no_file_of_rgb(raw):
    message = refused(ragnb.load_rgb, "results_export.csv")
    assert message.endswith("To load responses from a table, use ragnb.load_responses")
    assert refused(ragnb.load_rgb, "en_refin").endswith("did you mean 'en_refine'?")
    assert refused(ragnb.load_rgb, "sample_en").endswith("did you mean 'sample-en'?")


def test_ids_that_are_missing_are_named_by_the_first_call(responses):
    without = responses.assign(example_id=responses["example_id"].where(responses.index > 3))
    message = refused(ragnb.score, without, "answer.f1")
    assert message.startswith("example_id is missing in 4 of 200 rows, such as row 0.")
    assert "load the frame with ragnb.load_responses" in message


def test_items_without_a_partner_are_named_with_the_argument_that_leaves_them_out(scores):
    message = refused(ragnb.compare, scores.drop(index=0))
    assert "1 of 100 items lack at least one of the two, such as evouna/0" in message
    assert "pass unpaired='drop'" in message


# ---- values ------------------------------------------------------------------------------------


def test_verdicts_in_words_are_read_and_other_words_are_refused(responses):
    yes = ragnb.score(responses.assign(verdict="Yes"), "annotator.verdict")
    assert yes["value"].eq(1).all()
    message = refused(ragnb.score, responses.assign(verdict="maybe"), "annotator.verdict")
    assert "1 or 0, yes or no, or one of the words 'correct', 'incorrect', 'refuse'" in message


def test_percentages_are_to_be_divided_by_100(responses):
    frame = responses.assign(judged_similarity=69)
    message = refused(ragnb.score, frame, "semantic.judged_similarity")
    assert message.endswith("got 69; if it is a percentage, divide the column by 100")
    assert "must be strictly between 0 and 1, such as 0.95, got 95" in refused(
        ragnb.summarize, frame, confidence_level=95
    )


@pytest.mark.parametrize(
    ("language", "meant"),
    [("english", "en"), ("English", "en"), ("jp", "ja"), ("eng", "en"), ("germn", "de")],
)
def test_the_name_of_a_language_is_no_code(language, meant):
    for load in (ragnb.load_responses, ragnb.load_rgb, ragnb.load_ragbench):
        message = refused(load, ANSWERS, language=language)
        assert message == (
            f"language must be a language code such as 'en', got {language!r}; "
            f"did you mean {meant!r}?"
        )


# ---- names -------------------------------------------------------------------------------------


def test_metrics_have_short_names_and_suggestions(responses, scores):
    for short, full in {"f1": "answer.f1", "em": "answer.exact_match"}.items():
        assert ragnb.score(responses, short)["metric"].unique().tolist() == [full]
    assert ragnb.score(responses, "rouge-l")["metric"][0] == "answer.rouge_l"
    assert ragnb.compare(scores, metrics="f1")["metric"].tolist() == ["answer.f1"]
    assert refused(ragnb.score, responses, "answer.f2").endswith("did you mean 'answer.f1'?")
    assert refused(ragnb.score, responses, "answer.rouge-l").endswith(
        "did you mean 'answer.rouge_l'?"
    )
    message = refused(ragnb.score, responses, "citations")
    assert message == (
        "metrics must be unambiguous, but 'citations' can mean parts.citation_recall, "
        "parts.citation_precision; use the full name"
    )
    assert "did you mean 'answer.f1'?" in refused(ragnb.compare, scores, metrics="answer.ff1")


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda given: ragnb.summarize(given.scores, by="sytem"), "system"),
        (lambda given: ragnb.compare(given.scores, by="langage"), "language"),
        (lambda given: ragnb.compare(given.scores, baseline="fid"), "FiD"),
        (lambda given: ragnb.compare(given.scores, baseline="NewBing"), "New Bing"),
        (lambda given: ragnb.compare(given.scores, method="mcnemer"), "mcnemar"),
        (lambda given: ragnb.summarize(given.scores, interval="wilsn"), "wilson"),
        (lambda given: ragnb.summarize(given.scores, level=0.9), "confidence_level"),
        (lambda given: ragnb.score(given.responses, "f1", varient="squad"), "variant"),
        (lambda given: ragnb.score(given.responses, "f1", variant="Squad"), "squad"),
        (lambda given: ragnb.METRICS["f1"], "answer.f1"),
        (lambda given: ragnb.METRICS["answer.f2"], "answer.f1"),
        (lambda given: ragnb.load_study("nomircl"), "nomiracl"),
        (lambda given: ragnb.load_responses("evouna"), "evouna-nq"),
        (lambda given: ragnb.load_responses(ANSWERS, seperator="/"), "separator"),
        (lambda given: ragnb.load_responses(ANSWERS, format="deep_eval"), "deepeval"),
        (lambda given: ragnb.recorded("rgb-noise"), "rgb_noise"),
        (lambda given: ragnb.published("rgb.noise"), "rgb.noise_robustness"),
        (lambda given: ragnb.explore("mcnemer"), "mcnemar"),
        (lambda given: ragnb.view(given.responses, chnged=["FiD", "New Bing"]), "changed"),
        (lambda given: ragnb.view(given.responses, changed=["FiD", "NewBing"]), "New Bing"),
        (lambda given: ragnb.Annotator(given.responses, "verdct", "me", "labels"), "verdict"),
        (lambda given: ragnb.Annotator(given.responses, "verdict", ids="system"), "id"),
        (lambda given: ragnb.run_noise_robustness(None, model="m", noise_rate=0), "noise_rates"),
        (lambda given: ragnb.judge_responses(None, "refusal", model="m", price={}), "prices"),
        (lambda given: ragnb.sumarize, "summarize"),
        (lambda given: ragnb.stats.paired_ttest, "paired_t_test"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_suggested(call, meant, responses, scores, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = type("Given", (), {"responses": responses, "scores": scores})
    assert refused(call, given).endswith(f"; did you mean {meant!r}?")


def test_the_error_of_an_attribute_is_one_of_python(capsys):
    assert not hasattr(ragnb, "sumarize")
    with pytest.raises(AttributeError):
        ragnb.sumarize  # noqa: B018
    with pytest.raises(TypeError):
        ragnb.summarize(None, level=1)


def test_a_name_of_another_package_of_ragnb_is_found():
    with pytest.raises(AttributeError, match=r"; it is ragnb\.annotation\.disagreements$"):
        ragnb.disagreements  # noqa: B018
    with pytest.raises(AttributeError, match=r"; it is ragnb\.annotation\.join_labels$"):
        ragnb.stats.join_labels  # noqa: B018


def test_a_column_of_verdicts_under_another_name_can_be_named(responses):
    other = responses.rename(columns={"verdict": "Correct? (human)"})
    message = refused(ragnb.score, other, "annotator.verdict")
    assert "If one of your columns" in message
    assert "Correct? (human)" in message
    assert message.endswith("ragnb.load_responses(..., {'verdict': 'NAME'})")


def test_an_argument_that_is_missing_is_named_with_its_choices():
    assert refused(ragnb.explore).startswith(
        "explore needs the argument 'name': one of 'conformal'"
    )
    assert refused(ragnb.score, None) == "score needs the argument 'metrics'"
    message = refused(ragnb.compare, None, "FiD")
    assert message.startswith(
        "compare takes 1 argument without a name, got 2; name the others; its"
    )


# Classes that ragnb creates for its users: results, reports, and records that it reads.
CREATED_BY_RAGNB = {
    *(
        "Clustering",
        "EquivalenceResult",
        "FiellerSet",
        "Interval",
        "LabelPlan",
        "PairedTable",
        "PpiInterval",
    ),
    *("RatioComparison", "SignificanceResult", "TraceScores", "TraceLabels"),
    *("DefinitionComparison", "JudgeReport", "MultilingualReport", "Provenance", "Ranking"),
    *(
        "Review",
        "RgbReport",
        "RiskCoverageReport",
        "Sentences",
        "TraceReport",
        "ConformalClassifier",
    ),
    *(
        "LogisticResult",
        "FailureReport",
        "Sensitivity",
        "SelectiveClassifier",
        "Estimate",
        "Reply",
        "Parsed",
        "Source",
        "AnnotationReport",
        "Changes",
        "DeferralPlan",
        "ErrorReport",
        "LetterDisplay",
        "ConfirmationPlan",
        "MeanCheck",
        "SizePlan",
    ),
}


def public_callables():
    """Public functions, and classes that users create, by the names under which users find them."""
    faces = [ragnb, *(import_module(name) for name in FACES)]
    for package in faces:
        for name in package.__all__:
            public = getattr(package, name)
            is_error = inspect.isclass(public) and issubclass(public, Exception)
            # The module of errors, which the checks need, cannot use them itself.
            is_checked = not is_error and name not in (*CREATED_BY_RAGNB, "full_tracebacks")
            if callable(public) and is_checked:
                yield f"{package.__name__}.{name}", public


FACES = [
    f"ragnb.{name}"
    for name in (
        "annotation conformal datasets ensemble experiments explorables figures llm metrics prompts "
        "reports scoring stats widgets"
    ).split()
]
CALLED = dict(public_callables())


@pytest.mark.parametrize("name", CALLED)
def test_every_public_function_checks_how_it_is_called(name):
    """Each has `accepts`, `accepts_fields` or a declaration of a metric."""
    public = CALLED[name]
    called = public.__init__ if inspect.isclass(public) else public
    assert hasattr(called, "checks_arguments"), f"{name} needs the decorator accepts()"
    message = refused(public, no_such_argument=1)
    assert "no_such_argument" in message or "needs the argument" in message


def test_a_wrong_type_is_named_with_what_to_pass_instead(responses, scores, means, raw):
    """Each message is one line, names the argument, and says what to do."""
    column = responses["response"]
    for call, words in {
        lambda: ragnb.stats.mean_interval(
            scores
        ): "pass one of its columns, such as frame['value']",
        lambda: ragnb.stats.mean_interval(
            column
        ): "got the column 'response', which contains texts",
        lambda: ragnb.stats.cohen_kappa(
            ["a", "b"]
        ): "for a table of ratings, use agreement_interval",
        lambda: ragnb.score(column, "f1"): "pass frame[['name']] with two pairs of brackets",
        lambda: ragnb.score([responses, responses], "f1"): "join the frames with pandas.concat",
        lambda: ragnb.sentences(means): "needs a comparison, got means; call ragnb.compare first",
        lambda: ragnb.sentences(scores): "needs a comparison, got scores; call ragnb.compare first",
        lambda: ragnb.plot([means, means]): "or another result of ragnb, got a list",
        lambda: ragnb.plot(means, names=["a"]): "names must be a mapping such as a dict or None",
        lambda: ragnb.load_study(scores): ", got a pandas DataFrame",
        lambda: ragnb.load_responses(raw, alternatives="no"): "True, False, got 'no'",
        lambda: ragnb.judge_responses(responses, "refusal", model="m", structured="no"): (
            "structured must be True or False, got 'no'"
        ),
        lambda: ragnb.summarize(scores, by=5): "by cannot be 5",
        lambda: ragnb.llm.Budget(
            "1"
        ): "limit must be a number of US dollars of at least 0, got '1'",
        lambda: ragnb.stats.tango_interval(means): "the result of ragnb.stats.paired_table, got",
        lambda: ragnb.metrics.token_f1(5, "a"): "response must be a string",
        lambda: ragnb.metrics.supported_share(
            ["a"]
        ): "elements are a mapping such as a dict, got 'a'",
        lambda: ragnb.annotation.Field(name="x", kind="choise"): "kind: Input should be 'choice'",
        lambda: ragnb.trace_report(responses): "label responses with ragnb.label_trace",
        lambda: ragnb.export_annotator("verdict", responses, "x.html"): "got a pandas DataFrame",
    }.items():
        assert words in refused(call)


def test_a_fault_that_no_argument_explains_keeps_its_own_error(responses):
    def metric(response):
        raise ZeroDivisionError("of the user")

    own = ragnb.Metric("my.metric", metric, {"response": "response"}, True, (0.0, 1.0), "mine")
    with pytest.raises(ZeroDivisionError, match="of the user"):
        ragnb.score(responses, own)


# ---- a wrong order -----------------------------------------------------------------------------


def test_responses_are_to_be_scored_first(responses):
    for call in (ragnb.summarize, ragnb.compare, ragnb.plot):
        name = call.__name__
        assert refused(call, responses) == (
            f"{name} needs scores, got responses; call ragnb.score first: "
            "scores = ragnb.score(responses, ['answer.f1'])"
        )


def test_means_and_comparisons_are_no_scores(means, differences):
    for call in (ragnb.summarize, ragnb.compare):
        assert "needs scores, got their means" in refused(call, means)
        assert "pass the scores that ragnb.summarize was called with" in refused(call, means)
        assert "needs scores, got a comparison" in refused(call, differences)
        assert "pass the scores that ragnb.compare was called with" in refused(call, differences)


def test_a_raw_frame_is_to_be_loaded_first(raw):
    for call in (ragnb.summarize, ragnb.compare, ragnb.plot):
        message = refused(call, raw)
        assert "Load responses with ragnb.load_responses and call ragnb.score" in message
    message = refused(ragnb.score, raw, "answer.f1")
    assert "its columns are Question text, Gold answer, Model output" in message
    assert message.endswith(
        "load the frame with ragnb.load_responses(frame, {'response': 'NAME', 'references': 'NAME'}) "
        "first"
    )
    for call in (ragnb.summarize, ragnb.view):
        assert refused(call, "results_export.csv").endswith(
            "load it first, for example with ragnb.load_responses('results_export.csv')"
        )


def test_scores_have_no_texts(scores):
    assert refused(ragnb.score, scores, "answer.f1").endswith("; pass the responses")
    assert refused(ragnb.view, scores).endswith("show both: ragnb.view(responses, scores)")


def test_a_report_is_drawn_and_not_viewed():
    report = ragnb.trace_report(ragnb.load_study("ragbench-delucionqa"))
    assert refused(ragnb.view, report).startswith(
        "view shows responses, got a report (TraceReport); draw it with ragnb.plot"
    )


def test_no_message_tells_people_to_invent_columns(responses, means, differences, raw):
    calls = [(ragnb.plot, responses), (ragnb.plot, raw)]
    calls += [
        (call, frame)
        for call in (ragnb.summarize, ragnb.compare)
        for frame in (responses, means, differences, raw)
    ]
    for call, frame in calls:
        assert not re.search(r"\badd\b", refused(call, frame))


def test_a_warning_shows_the_line_of_the_user(responses):
    texts = pd.DataFrame({"question": "Where?", "references": ["Oslo"], "response": [""]})
    with pytest.warns(UserWarning, match="are empty texts") as warned:
        ragnb.load_responses(texts, language="en")
    with pytest.warns(UserWarning, match="are empty texts") as warned_twice:
        ragnb.load_responses([texts], language="en")
    for warning in [*warned, *warned_twice]:
        assert warning.filename == __file__


# ---- what Jupyter and a terminal show ----------------------------------------------------------

CELLS = [
    "import ragnb\nimport pandas as pd\n\n\ndef analyse(frame):\n    return ragnb.summarize(frame)",
    'scores = pd.DataFrame({"metric": "m", "value": [1.0], "signature": "s"})\nanalyse(scores.drop(columns="value"))',
    "ragnb.sumarize(scores)",
    "ragnb.errors.full_tracebacks()\nanalyse(None)",
    f'responses = ragnb.load_responses({str(ANSWERS)!r}).drop(columns="language")\n'
    "again = ragnb.load_responses(responses)",
]


@pytest.fixture(scope="module")
def shown():
    """Outputs of the cells in a kernel."""
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    book = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(book, kernel_name="python3", allow_errors=True, timeout=120).execute()
    return [cell.outputs for cell in book.cells]


def test_jupyter_shows_the_lines_of_the_user_and_the_message(shown):
    (error,) = shown[1]
    text = "\n".join(error.traceback)
    assert text.splitlines()[:4] == [
        "Cell In[2], line 2",
        '----> analyse(scores.drop(columns="value"))',
        "Cell In[1], line 6",
        "----> return ragnb.summarize(frame)",
    ]
    assert text.splitlines()[-1].startswith("InputError: summarize needs the columns ")
    assert "ragnb/" not in text
    assert error.ename == "InputError"


def test_jupyter_shows_an_unknown_name_in_one_line(shown):
    assert "\n".join(shown[2][0].traceback).splitlines() == [
        "Cell In[3], line 1",
        "----> ragnb.sumarize(scores)",
        "",
        "UnknownNameError: module 'ragnb' has no attribute 'sumarize'; did you mean 'summarize'?",
    ]


def test_the_whole_traceback_is_shown_on_request(shown):
    assert "ragnb/scoring/summaries.py" in re.sub(
        r"\x1b\[[\d;]*m", "", "".join(shown[3][-1].traceback)
    )


def test_information_is_no_error_in_jupyter(shown):
    streams = {output.name: output.text for output in shown[4]}
    assert [*streams] == ["stdout"]
    assert "the frame: language identified from the questions: en 200" in streams["stdout"]


def test_a_script_shows_the_message_last_and_a_command_shows_one_line(tmp_path):
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    script = "import ragnb; ragnb.load_study('nomircl')"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert run.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert run.stderr.splitlines()[-1].endswith("got 'nomircl'; did you mean 'nomiracl'?")
    command = [sys.executable, "-m", "ragnb", "score", "answer.csv", "-m", "f1"]
    run = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=ROOT / "docs"
    )
    assert run.returncode == 2
    assert run.stderr == (
        "ragnb: the file 'answer.csv' does not exist; did you mean 'answers.csv'?\n"
    )
    assert run.stdout == ""
