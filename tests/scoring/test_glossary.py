import inspect
import re

import pandas as pd
import pytest
from hostile import HOSTILE, Reader, any_text, visible
from hypothesis import given

from ragnb.errors import InputError
from ragnb.markup import escape
from ragnb.records import COLUMNS
from ragnb.scoring import METRICS, Metric, definitions, score
from ragnb.version import __version__


def own(function=len, **more):
    record = {
        "columns": {"response": "response"},
        "higher_is_better": False,
        "bounds": (0, 9),
        "source": "here",
        **more,
    }
    return Metric(**{"name": "own.words", "function": function, **record})


def cells(line):
    return re.split(r"(?<!\\)\|", line.strip())[1:-1]


# ---- which metrics a name means ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("answer.f1", ["answer.f1"]),
        ("Answer.F1", ["answer.f1"]),
        ("f1", ["answer.f1", "answer.rouge_l"]),
        ("CR", ["rgb.error_correction", "rgb.judged_error_correction"]),
        (
            "ED",
            ["rgb.error_detection", "rgb.judged_error_detection", "rgb.judged_error_correction"],
        ),
        ("correction", ["rgb.error_correction", "rgb.judged_error_correction"]),
        ("trace", [name for name in METRICS if name.startswith("trace.")]),
        (None, list(METRICS)),
    ],
)
def test_a_name_a_word_of_it_a_family_or_an_abbreviation_means_metrics(name, meant):
    assert [metric.name for metric in definitions(name).metrics] == meant


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "answer.f3",
            r"definitions needs a metric's name.*; got 'answer\.f3'; did you mean 'answer\.f1'\?",
        ),
        ("zzzz", r"got 'zzzz'; definitions\(\) lists all"),
        ("the", "got 'the'"),
    ],
)
def test_a_name_that_means_nothing_is_refused_with_the_nearest(name, words):
    with pytest.raises(InputError, match=words):
        definitions(name)


# ---- what is said ------------------------------------------------------------------------------------------------------


def test_a_card_says_all_there_is_to_one_metric():
    card = repr(definitions("rgb.error_correction"))
    assert card.splitlines()[:7] == [
        "rgb.error_correction: 1.0 if a response to false passages gives the true answer, else 0.0 (error correction, CR).",
        "  higher is better; 0 or 1",
        "  needs         response, references; if there: language, false_answers, judged_refusal, refusal, judged_detection,",
        "                error_detected",
        "  protocol      paper      default  Correct, among the responses that detect an error: correct / detected.",
        "                released            No part is missing, among the responses that detect an error. A refusal counts as",
        "                                    corrected, as in the published code.",
    ]
    assert (
        "\n  undefined     If no error is detected; never under flexible.\n  no part of n  no error detected\n"
        in card
    )
    assert card.endswith(
        f"\n  signature     ragnb:{__version__}|metric:rgb.error_correction|protocol:paper"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("answer.flesch_reading_ease", "any number"),
        ("cost.translation_tokens", "lower is better; 0 or more"),
        ("semantic.embedding_cosine", "-1 to 1"),
        ("trace.rmse_to_ideal", "lower is better; 0 to 1"),
        ("answer.exact_match", "0 or 1"),
    ],
)
def test_a_card_says_which_way_is_better_and_how_far_values_reach(name, words):
    assert words in repr(definitions(name)).splitlines()[1]


@pytest.mark.parametrize("name", METRICS)
def test_text_and_html_say_the_same_of_every_metric(name):
    metric, found = METRICS[name], definitions(name)
    reader = Reader(found._repr_html_())
    told = " ".join(repr(found).split())
    meanings = [meaning for values in metric.variants.values() for meaning in values.values()]
    first_line = inspect.getdoc(metric.function).splitlines()[0].replace("`", "")
    for text in (
        name,
        first_line,
        metric.undefined,
        metric.condition,
        metric.source,
        metric.signature({}),
        *meanings,
    ):
        assert text in told
        assert text in reader.text
    assert reader.elements.count("tr") >= len(meanings) + 6


def test_several_metrics_are_a_list_one_entry_a_metric():
    text = repr(definitions("f1"))
    assert [line.partition(":")[0] for line in text.splitlines() if line[0] != " "] == [
        "answer.f1",
        "answer.rouge_l",
    ]
    assert text.splitlines()[1] == "  variant: unicode, lbrag"
    reader = Reader(definitions()._repr_html_())
    assert reader.elements.count("tr") == len(METRICS) + 1
    assert reader.elements.count("td") == 6 * len(METRICS)


# ---- the frame ---------------------------------------------------------------------------------------------------------


def test_the_frame_has_a_row_for_each_variant():
    frame = definitions("answer.bleu").frame
    assert frame["value"].tolist() == [None, "13a", "zh", "char", "intl", "none", "other"]
    assert frame["default"].tolist() == [True, *[False] * 6]
    assert frame["signature"].isna().tolist() == [False] * 6 + [True]
    alone = definitions("annotator.verdict").frame
    assert (len(alone), alone["option"][0], alone["value"][0]) == (1, None, None)
    assert definitions("language.rlc_ok").frame[["option", "value"]].values.tolist() == [
        ["variant", "unicode"], ["variant", "lbrag"], ["threshold", 0.6], ["threshold", "other"],
    ]  # fmt: skip


def test_the_frame_of_all_holds_every_metric_and_one_default_an_option():
    frame = definitions().frame
    assert frame["metric"].unique().tolist() == list(METRICS)
    assert (frame.groupby(["metric", "option"], dropna=False)["default"].sum() == 1).all()
    assert frame[["default", "higher_is_better"]].dtypes.tolist() == [bool, bool]
    assert (frame["lowest"] < frame["highest"]).all()
    needed = {name for needs in frame["needs"] for name in re.split(r", |; if there: ", needs)}
    assert needed <= set(COLUMNS)


def test_the_signature_in_the_frame_is_the_one_that_score_prints():
    rows = definitions().frame.dropna(subset="signature")
    rows = rows[rows["metric"].str.startswith(("answer", "language", "rgb.a"))]
    responses = pd.DataFrame({"response": ["Oslo"], "references": ["Oslo"], "language": ["en"]})
    for row in rows.to_dict("records"):
        options = {} if row["option"] is None else {row["option"]: row["value"]}
        assert (
            score(responses, row["metric"], **options)["signature"][0]
            == f"{row['signature']}|lang:en"
        )
    assert len(rows) > 25


# ---- metrics of one's own, and hostile text ----------------------------------------------------------------------------


def test_a_range_says_where_a_value_lies_beyond_it():
    assert "higher is better; 0 to 1; more if keys are repeated or name no sentence" in repr(
        definitions("trace.relevance")
    )
    frame = definitions("trace").frame.drop_duplicates("metric")
    labels = {"documents_sentences": [[["0a", "Oslo."]]], "all_relevant_sentence_keys": ["0a", "0a", "9z"],
              "all_utilized_sentence_keys": ["0a"] * 4, "sentence_support_information": [], "response_sentences": [],
              "unsupported_response_sentence_keys": []}  # fmt: skip
    values = score(pd.DataFrame([labels]), frame["metric"].tolist()).set_index("metric")["value"]
    assert (values["trace.relevance"], values["trace.utilization"]) == (3, 4)
    assert set(frame.loc[frame["beyond"] != "", "metric"]) == set(
        values.index[(values < 0) | (values > 1)]
    )


def test_a_metric_of_ones_own_is_shown_as_far_as_it_is_known():
    metric = own(lambda response, *, limit=2: 1.0, options={"limit": 2})
    assert repr(definitions(metric)).splitlines() == [
        "own.words: (its function has no docstring)",
        "  lower is better; 0 to 9",
        "  needs         response",
        "  limit         2          default  (not described)",
        "  reasoning     Only the answer is read; <think>…</think> is set apart.",
        "  source        here",
        f"  signature     ragnb:{__version__}|metric:own.words|limit:2",
    ]


def test_a_card_says_which_definition_reads_the_reasoning():
    apart = "reasoning     Only the answer is read; <think>…</think> is set apart"
    assert f"{apart}, except under released." in repr(definitions("rgb.accuracy"))
    assert f"{apart}." in repr(definitions("answer.exact_match"))
    assert apart not in repr(definitions("trace.relevance"))


@given(any_text)
def test_no_text_of_a_metric_can_do_anything(text):
    metric = own(
        name=f"own.{text}",
        source=text,
        undefined=text,
        options={"o": text},
        variants={"o": {text: text, ...: text}},
    )
    page = definitions(metric)._repr_html_()
    reader = Reader(page)
    assert set(reader.elements) <= {"div", "p", "b", "table", "tr", "th", "td"}
    assert reader.attributes == []
    assert escape(text) in page


@pytest.mark.parametrize("text", [*HOSTILE, "a|b", "x\ny", "| --- |"])
def test_the_markdown_of_hostile_text_stays_in_its_cell(text):
    line = definitions(own(source=text)).to_markdown().splitlines()[2]
    assert len(definitions(own(source=text)).to_markdown().splitlines()) == 3
    assert len(cells(line)) == 6
    shown = re.sub(r"\\(.)", r"\1", cells(line)[5]).strip()
    assert shown == " ".join(visible(text).split())


# ---- the table in README -----------------------------------------------------------------------------------------------


def test_the_markdown_table_has_a_compact_row_a_metric():
    lines = definitions().to_markdown().splitlines()
    assert len(lines) == len(METRICS) + 2
    assert {len(cells(line)) for line in lines} == {6}
    names = [cells(line)[0].strip().replace("\\", "") for line in lines[2:]]
    assert names == list(METRICS)
    assert max(map(len, lines)) < 400


def test_the_function_that_computes_a_metric_is_named():
    for metric in METRICS.values():
        module, name = metric.function.__module__, metric.function.__name__
        assert f"  computed by   {module}.{name}\n" in repr(definitions(metric.name))


def test_cnbe_is_known_by_its_names():
    assert repr(definitions("CNBE")) == repr(definitions("cost.cnbe"))
    assert "Cost-normalised bridging efficiency" in repr(definitions("cnbe"))
