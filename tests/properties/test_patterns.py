"""Every regular expression in the program takes linear time, as it may read what strangers wrote."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest

from tests.sweep import count

ROOT = Path(__file__).parents[2]
CALLS = {"compile", "match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
ANYWHERE = ("a", " ", "\n", "1", "_", "\\")
SHORT, LONG = 1_000, 8_000  # characters; eight times the text takes linear patterns eight times as long, and others 64 times
TOO_MUCH = 24


def patterns() -> Iterator[Any]:
    """Return each pattern that is written as one text: (pattern, the methods that use it)."""
    for folder in ("runtime", "inspector_app", "resources"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            source = file.read_text("utf-8")
            for call in ast.walk(ast.parse(source)) if "re." in source else ():
                if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in CALLS and call.args):
                    continue
                if not (isinstance(call.func.value, ast.Name) and call.func.value.id == "re" and isinstance(call.args[0], ast.Constant)):
                    continue
                flags = sum(
                    int(getattr(re, each.attr))
                    for argument in (*call.args[1:], *(keyword.value for keyword in call.keywords))
                    for each in ast.walk(argument)
                    if isinstance(each, ast.Attribute) and each.attr in re.RegexFlag.__members__
                )
                pattern = re.compile(call.args[0].value, flags)
                before = source.splitlines()[call.lineno - 1][: call.col_offset]
                name = re.match(r"\s*(\w+) = ", before)
                used = set(re.findall(rf"\b{name[1]}\.(\w+)", source)) if name and call.func.attr == "compile" else {call.func.attr}
                yield pytest.param(pattern, used & CALLS or {"search"}, id=f"{file.relative_to(ROOT)}:{call.lineno}")


def texts(pattern: str) -> Iterator[tuple[str, str]]:
    """Return (beginning, repeated piece) pairs made of what a pattern is made of."""
    pieces = list(dict.fromkeys((*re.findall(r"[A-Za-z]{2,}|[^\w\s]", re.sub(r"\\[A-Za-z]", " ", pattern)), *ANYWHERE)))
    yield from (("", piece) for piece in pieces)
    pairs = list(product(pieces, pieces))
    for one, other in islice(pairs, 0, None, max(1, len(pairs) // count(40, len(pairs)))):
        yield one, other
        yield "", one + other


def seconds(pattern: re.Pattern[Any], method: str, text: Any) -> float:
    """Return the least processor time of two uses of a pattern."""
    times = []
    for _ in range(2):
        begin = time.thread_time()
        if method in ("match", "fullmatch", "search"):
            getattr(pattern, method)(text)
        else:
            for _found in pattern.finditer(text):
                pass
        times.append(time.thread_time() - begin)
    return min(times)


@pytest.mark.sweep
@pytest.mark.parametrize(("pattern", "methods"), list(patterns()))
def test_a_pattern_takes_linear_time(pattern: re.Pattern[Any], methods: set[str]) -> None:
    is_bytes = isinstance(pattern.pattern, bytes)
    for begin, piece in texts(pattern.pattern.decode() if is_bytes else pattern.pattern):
        short, long = (f"{begin}{piece * (size // len(piece))}\x00" for size in (SHORT, LONG))
        for method in methods:
            first, second = ((text.encode() if is_bytes else text) for text in (short, long))
            if (took := seconds(pattern, method, second)) > 0.002:
                assert took < TOO_MUCH * seconds(pattern, method, first), (method, begin, piece)
