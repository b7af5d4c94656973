"""Lists that a table contains as texts, written as JSON or as Python prints them."""

# Tested in tests/datasets/test_spreadsheets.py.

import ast
import io
import json
import tokenize
from itertools import pairwise
from typing import Any

from ragnb.errors import InputError


def parsed(value: Any) -> Any:
    """Parse a list that was stored as a text, as JSON or as Python prints it.

    Arrays, tuples and sets become lists. Other values are returned unchanged.

    >>> parsed("[array(['Oslo', 'Kristiania'], dtype=object), ('Bergen',)]")
    [['Oslo', 'Kristiania'], ['Bergen']]
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        # It may be written as Python prints it.
        text = value.strip()
    try:
        tree = _Lists().visit(ast.parse(text, mode="eval"))
        literal = ast.literal_eval(tree)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        kinds = [token.type for token in tokens if token.type != tokenize.NL]
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise InputError(
            f"must be a list written as JSON or Python, got {text[:40]!r}; export it again"
        ) from error
    # numpy prints ['0a' '0b'], which Python would read as ['0a0b'].
    if (tokenize.STRING, tokenize.STRING) in pairwise(kinds):
        raise InputError(
            f"must be a list with commas between its items, got {text[:40]!r}; convert arrays to "
            "lists before you export the table"
        )
    return literal


class _Lists(ast.NodeTransformer):
    """Replaces arrays, tuples and sets in a parsed expression by lists, and ``nan`` by None."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a call such as ``array([...])`` by its argument, and ``set()`` by an empty list."""
        function = node.func
        name: object = function
        if isinstance(function, ast.Attribute):
            name = function.attr  # "array" in "np.array"
        elif isinstance(function, ast.Name):
            name = function.id
        is_collection = name in ("array", "set", "frozenset", "tuple", "list")
        # Python prints a collection as a call with one argument. numpy adds keywords, such as
        # dtype=object, which do not change the items. A call with more arguments is something else.
        if not is_collection or len(node.args) > 1:
            raise ValueError(f"cannot read {name}")
        return self.visit(node.args[0]) if node.args else ast.List(elts=[], ctx=ast.Load())

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        """Replace a tuple by a list."""
        return ast.List(elts=[self.visit(item) for item in node.elts], ctx=ast.Load())

    def visit_Set(self, node: ast.Set) -> ast.AST:
        """Replace a set by a list."""
        return ast.List(elts=[self.visit(item) for item in node.elts], ctx=ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Refuse ``...``, by which numpy abbreviates a long array."""
        if node.value is ...:
            raise ValueError("numpy left out some of the items")
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace ``nan`` and ``null`` by None."""
        return ast.Constant(None) if node.id in ("nan", "null") else node
