"""Tables for papers and pages from tidy frames: LaTeX (booktabs), HTML and Markdown say the same thing."""

from ragnb.tables.printing import save_latex, to_html, to_latex, to_markdown

__all__ = ["save_latex", "to_html", "to_latex", "to_markdown"]
