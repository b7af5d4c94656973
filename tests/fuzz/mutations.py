"""Texts, records and bytes with a fault or two in them, drawn by a random generator: what files and models really hold."""

import csv
import io
import json
import random
from typing import Any

TEXTS = [
    "", " ", "\t", "\n", "\r\n", "\x00", "\x1b[31m", "\ufeff", "\u2028", "\u2029", "\x85", "\u202e", "\u200d", "\ud800", "\udfff\ud800",
    "null", "NaN", "true", "1", "1e999", "-", "=cmd()", "＝1+1", "a" * 5000, "か\u3099", "ที่นี่", "नमस्ते", "שָׁלוֹם", "العربية",
    "東京都", "👩‍🔬🇳🇴", "e" + "\u0301" * 200, "<think>", "</think>", "```json", "[0a]", "0a", "a", "{}", "[]", '{"verdict": "correct"}',
    "['0a' '0b']", "[['0a', 'b']]", "((((", "{'a': 1}", "0x1F", "1_000", "１２", "²", "correct", "en", "zh_cn", "2026-01-01T00:00:00+00:00",
]  # fmt: skip
"""Texts that were somebody's undoing."""

NUMBERS = [
    0,
    1,
    -1,
    2**31,
    2**63,
    2**64,
    10**400,
    -(10**400),
    0.1,
    -0.0,
    1e308,
    1e-320,
    float("nan"),
    float("inf"),
    -float("inf"),
]
PLAIN = [
    None,
    True,
    False,
    [],
    {},
    [[]],
    [{}],
    [None],
    [[[]]],
    {"": ""},
    [[["0a", "b"]]],
    ["a", 1, None],
]
LITERALS = ["NaN", "Infinity", "-Infinity", "1e999", "-0", "01", "1.", ".5", "9" * 400, "9" * 5000, "True", "None", "undefined", "'a'", "\\u0000",
            '"\\ud800"', "\\", '"', "{", "}", "[", "]", ",", ":", "//x\n", "/*", "#", "\ufeff", "\r", "\u2028", "<think>", "</think>"]  # fmt: skip
"""Pieces of text that JSON has not, or not there."""

DEPTHS = [3, 70, 500, 3000, 100_000]


def value(rng: random.Random) -> Any:
    """Any JSON value, most of them of a wrong type."""
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(TEXTS)
    if kind < 0.65:
        return rng.choice(NUMBERS)
    if kind < 0.97:
        return rng.choice(PLAIN)
    nested: Any = value(rng)
    for _ in range(rng.choice([2, 20, 300])):
        nested = [nested] if rng.random() < 0.5 else {"a": nested}
    return nested


def changed(record: Any, rng: random.Random) -> Any:
    """A copy of a JSON value in which one place, at any depth, is another value, renamed, doubled or gone."""
    if isinstance(record, dict) and record and rng.random() < 0.9:
        name = rng.choice(list(record))
        return _changed_dict(record, name, rng)
    if isinstance(record, list) and record and rng.random() < 0.9:
        return _changed_list(record, rng.randrange(len(record)), rng)
    return rng.choice([value(rng), [record], {"value": record}, str(record)])


def _changed_dict(record: dict[str, Any], name: str, rng: random.Random) -> dict[str, Any]:
    kind, rest = rng.random(), {key: part for key, part in record.items() if key != name}
    if kind < 0.12:
        return rest
    if kind < 0.2:
        return {**rest, rng.choice(TEXTS): record[name]}
    if kind < 0.3:
        return {**record, name: record[rng.choice(list(record))]}
    return {**record, name: changed(record[name], rng) if kind < 0.75 else value(rng)}


def _changed_list(record: list[Any], place: int, rng: random.Random) -> list[Any]:
    kind = rng.random()
    if kind < 0.12:
        return record[:place] + record[place + 1 :]
    if kind < 0.24:
        return [*record, record[place]]
    part = changed(record[place], rng) if kind < 0.75 else value(rng)
    return [*record[:place], part, *record[place + 1 :]]


def dumped(record: Any, rng: random.Random) -> str:
    """JSON of a value, in one of the ways in which programs write it; now and then with a key given twice."""
    text = json.dumps(
        record, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, None, 1])
    )
    if isinstance(record, dict) and record and rng.random() < 0.1:
        name = rng.choice(list(record))
        text = f"{text[:-1]}, {json.dumps(name)}: {json.dumps(value(rng))}}}"
    return text


def nest(rng: random.Random) -> str:
    """Brackets within brackets, closed or not."""
    depth, (opening, closing) = (
        rng.choice(DEPTHS),
        rng.choice([("[", "]"), ('{"a":', "}"), ("[[", "]"), ("(", ")")]),
    )
    return opening * depth + rng.choice(["", "1"]) + closing * rng.choice([0, depth, depth - 1])


def torn(text: str, rng: random.Random) -> str:
    """A text with a few places cut out, doubled, moved, or filled with something that does not belong there."""
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        end = min(end, start + rng.choice([1, 3, 30, 10_000]))
        piece = rng.choice(
            [
                "",
                "",
                text[start:end] * 2,
                rng.choice(LITERALS),
                rng.choice(TEXTS),
                text[start:end].swapcase(),
                nest(rng) if rng.random() < 0.05 else "",
            ]
        )
        text = text[:start] + piece + (text[end:] if rng.random() < 0.9 else "")
    return text[:60_000]


def flipped(content: bytes, rng: random.Random) -> bytes:
    """Bytes of which some are others, cut out, or cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8]) if changed else 0):
        place = rng.randrange(len(changed))
        changed[place] = rng.choice([0, 0xFF, 0xC0, 0xED, 0x22, 0x0A, rng.randrange(256)])
    kind = rng.random()
    if kind < 0.2:
        del changed[rng.randrange(len(changed) + 1) :]
    elif kind < 0.3:
        start = rng.randrange(len(changed) + 1)
        del changed[start : start + rng.choice([1, 4, 100])]
    return bytes(changed)


def encoded(text: str, rng: random.Random) -> bytes:
    """Bytes of a text as programs save it: UTF-8 as a rule, with a mark, other line ends, another encoding."""
    kind = rng.random()
    if kind < 0.05:
        text = "\ufeff" + text
    elif kind < 0.12:
        text = text.replace("\n", rng.choice(["\r\n", "\r", "\n\n", "\u2028", "\x85", "\n \n"]))
    elif kind < 0.14:
        return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-32"]), "surrogatepass")
    content = text.encode("utf-8", rng.choice(["surrogatepass", "replace", "backslashreplace"]))
    return flipped(content, rng) if kind > 0.85 else content


def rows(records: list[dict[str, Any]], rng: random.Random) -> str:
    """Records as CSV, lists as JSON, cells and lines of any kind in between."""
    names = list(dict.fromkeys(name for record in records for name in record))
    written = io.StringIO()
    writer = csv.writer(
        written, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), escapechar="\\"
    )
    writer.writerow(names)
    for record in records:
        cells = [record.get(name) for name in names]
        writer.writerow(
            [
                cell if isinstance(cell, str) else "" if cell is None else json.dumps(cell)
                for cell in cells
            ]
        )
    return written.getvalue()
