"""The exercises of a notebook: cells that check an answer or a text, each with the folded solution that follows it."""

import re


def solutions(book):
    """The code of the folded solution for each exercise, by the id of its cell."""
    asked, found = [], {}
    for cell in book.cells:
        if cell.cell_type == "code" and re.search(r"check\(my_answer|rubric\(my_text", cell.source):
            asked.append(cell.id)
        elif "<details>" in cell.source:
            folded = re.findall(r"```python\n(.+?)```", cell.source, flags=re.DOTALL)
            while asked and folded:
                found[asked.pop(0)] = folded.pop(0)
    assert not asked, f"the exercises {', '.join(asked)} have no solution"
    return found


def solve(kernel, cell, solution):
    """Run a solution and the check of its exercise where the cells before it have run.

    Names that the solution binds are not left behind, because the exercise stays unanswered in the notebook.
    """
    answered = solution + re.sub(r"^my_\w+ = None$", "", cell.source, flags=re.MULTILINE)
    printed = []

    def keep(message):
        printed.append(message["content"].get("text", ""))

    kernel.kc.execute_interactive(
        f"exec({answered!r}, dict(globals()))",
        store_history=False,
        allow_stdin=False,
        output_hook=keep,
        timeout=120,
    )
    assert re.search("^✓ (Right|Nothing was forgotten)", "".join(printed), re.MULTILINE), answered
