"""What `ragnb.prompts` contains. Written by ``python -m tools.stubs``."""

from ragnb.prompts.citations import citations_of
from ragnb.prompts.multilingual import LANGUAGE_NAMES, answer_prompt, translation_prompt
from ragnb.prompts.parsing import Parsed, parse_reply, strict_schema
from ragnb.prompts.questions import PLAIN, template_for
from ragnb.prompts.template import Template, texts_between_tags
from ragnb.prompts.trace import TraceLabels, render_labelling

__all__ = [
    "LANGUAGE_NAMES",
    "PLAIN",
    "Parsed",
    "Template",
    "TraceLabels",
    "answer_prompt",
    "citations_of",
    "parse_reply",
    "render_labelling",
    "strict_schema",
    "template_for",
    "texts_between_tags",
    "translation_prompt",
]
