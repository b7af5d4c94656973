"""Why a public function is not called with just anything."""

from ragnb.records import CONDITION

REASONS = {
    "ragnb.llm": "asks a model, or starts a server: tests/llm",
    "ragnb.widgets": "draws a frame: tests/widgets",
    "ragnb.datasets.catalogue": "takes nothing",
    "ragnb.datasets.annotations": "reads a file: tests/fuzz",
    "ragnb.datasets.evouna": "reads a file: tests/fuzz",
    "ragnb.datasets.instructions": "reads a file: tests/fuzz",
    "ragnb.datasets.lbrag": "reads a file: tests/fuzz",
    "ragnb.datasets.multilingual": "reads a file: tests/fuzz",
    "ragnb.datasets.ragbench": "reads a file: tests/fuzz",
    "ragnb.datasets.rgb": "reads a file: tests/fuzz",
    "ragnb.datasets.tables": "reads and writes files: tests/fuzz, and test_tables.py beside this file",
    "ragnb.annotation.export": "reads and writes logs: tests/fuzz, tests/annotation",
    "ragnb.annotation.adjudication": "opens a log for writing: tests/annotation",
    "ragnb.annotation.queues.person_judicator": "reads a log: tests/annotation",
    "ragnb.tables.printing.save_latex": "writes the file of to_latex",
    "ragnb.ensemble.report": "trains dozens of classifiers a call: tests/ensemble",
    "ragnb.metrics.code_points": "arithmetic on code points, below the checks of its callers",
    "ragnb.metrics.folding": "arithmetic on code points, below the checks of its callers",
    "ragnb.metrics.rgb_reading": "works on readings that ragnb.metrics.rgb has checked",
    "ragnb.metrics.rgb_rules": "works on readings that ragnb.metrics.rgb has checked",
    "ragnb.metrics.answer.harmonic_mean": "a formula of two floats, in the innermost loop",
    "ragnb.metrics.language.lbrag_counts": "asked of each character of a text that is one",
    "ragnb.metrics.trace.trace_values": "asked of each row by callers that have checked it",
    "ragnb.metrics.trace_columns.trace_column": "asked by score, which leaves what it refuses to the rows",
    "ragnb.metrics.trace.distance_from_ideal": "a formula of floats or arrays of them",
    "ragnb.metrics.trace.check_options": "takes what trace_scores takes",
    "ragnb.stats.lattice": "arithmetic on checked arrays",
    "ragnb.stats.numerics": "arithmetic on checked numbers",
    "ragnb.stats.rater_sums": "arithmetic on checked codes",
    "ragnb.stats.verdicts": "arithmetic on checked verdicts",
    "ragnb.stats.multiplicity.adjusted_columns": "puts together what its callers have checked",
    "ragnb.stats.random_intercept": "fits a checked design",
    "ragnb.stats.intervals.bca_from_resamples": "arithmetic on checked arrays",
    "ragnb.stats.intervals.unit_values": "arithmetic on checked arrays",
    "ragnb.stats.intervals.spread_problem": "asked of checked arrays",
    "ragnb.stats.intervals.t_half_width": "arithmetic on checked arrays",
    "ragnb.stats.intervals.too_few": "words for a number of clusters",
    "ragnb.results": "builds results of what its callers have checked",
    "ragnb.stats.checks.check_clusters": "asked with the number of items that its callers have counted",
    "ragnb.conformal.checks.check_groups": "asked with the number of items that its callers have counted",
    "ragnb.conformal.checks.check_labels": "asked with the number of items that its callers have counted",
    "ragnb.conformal.rank.sorted_threshold": "arithmetic on checked scores",
    "ragnb.stats.checks.paired_differences": "arithmetic on checked arrays",
    "ragnb.stats.checks.undefined_interval": "builds a result of what its callers have checked",
    "ragnb.stats.checks.undefined_test": "builds a result of what its callers have checked",
    "ragnb.stats.checks.spread_problem": "asked of checked arrays",
    "ragnb.stats.intervals.jackknife_interval": "takes a function of the caller's and the sums that it understands",
    "ragnb.stats.clusters.clustered_mean": "arithmetic on checked arrays",
    "ragnb.stats.ratings.encode_ratings": "works on the table that count_ratings made",
    "ragnb.stats.ppi_sample": "arithmetic on what ragnb.stats.ppi has checked",
    "ragnb.prompts.punctuation": "mends replies: tests/fuzz",
    "ragnb.prompts.parsing": "reads replies: tests/fuzz",
    "ragnb.prompts.complaints": "words what is wrong with a reply: tests/fuzz",
    "ragnb.prompts.rgb": "fills in a template with texts of a checked frame",
    "ragnb.prompts.trace": "fills in a template with sentences of a checked frame; mends labels: tests/fuzz",
    "ragnb.prompts.answer_judges": "joins references that reference_parts has checked",
}
"""Name of a function, or of all in a module, to why."""

CALLERS_OWN = frozenset({"test", "draw", "function", "statistic", "classifier", "what", "minimum", "largest"})
"""Arguments that are functions, models or words of the caller's."""

TELLING = frozenset({*CONDITION, "example_id", "question_id", "difference", "reading"})
"""Columns that tell rows, cells or kinds of frames apart: without one of them a frame may be read as another, or rows as alike."""

COUNTS = frozenset(
    {
        "n",
        "k",
        "n_resamples",
        "n_simulations",
        "n_bins",
        "n_categories",
        "n_judged",
        "n_labels",
        "n_questions",
        "passage_num",
    }
)
"""Arguments that say how much work is wanted."""


def of(name: str) -> str | None:
    """The reason of a function or of its module."""
    return REASONS.get(name) or next((why for one, why in REASONS.items() if name.startswith(f"{one}.")), None)
