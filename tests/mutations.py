"""Change one line at a time in a copy of the checkout, and see whether what `make check` runs for it fails.

    python -m tests.mutations --count 100 --seed 1

The rooms take turns, so that each of them is tried. Prints each mutation with the test that found it, and the share that was found.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue

from tests.of_changes import ROOT, arguments

_SWAPPED = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
}
_SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_SEEN = {
    "setContentsMargins",
    "setSpacing",
    "setMinimumWidth",
    "setMaximumWidth",
    "setFixedWidth",
    "debug",
    "info",
}  # looks, and lines of a log
_TUNED = 10  # numbers from here on tune, and no answer depends on them
_LIMIT = 900.0  # seconds; a mutation that takes longer hangs, and is found


@dataclass(frozen=True, slots=True)
class Mutation:
    """One changed line.

    Attributes:
        path: the module, from the root of the checkout.
        line: the line's number.
        before, after: the line.
    """

    path: str
    line: int
    before: str
    after: str


def in_source(path: str, text: str) -> list[Mutation]:
    """Return every mutation of a module: a condition, an operator, a number or a word changed, a statement left out."""
    lines = text.splitlines()
    found = []
    for line, start, end, put in _changes(ast.parse(text)):
        encoded = lines[line - 1].encode()
        after = (encoded[:start] + put(encoded[start:end].decode()).encode() + encoded[end:]).decode()
        if after != lines[line - 1]:
            found.append(Mutation(path, line, lines[line - 1], after))
    return found


def _changes(tree: ast.Module) -> Iterator[tuple[int, int, int, Callable[[str], str]]]:
    """Yield the places that can be changed, and what to put there."""
    skipped = {id(part) for node in ast.walk(tree) for left in _unread(node) for part in ast.walk(left)}
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.expr | ast.stmt) or node.lineno != node.end_lineno:
            continue
        here = (node.lineno, node.col_offset, node.end_col_offset)
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _SIGNS:
                between = (node.lineno, left.end_col_offset, right.col_offset)
                sign = _SIGNS[type(operator)]
                yield *between, lambda text, sign=sign: text.replace(sign, _SWAPPED[sign], 1)
            case ast.BoolOp(op=operator, values=[*_, left, right]):
                words = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                yield node.lineno, left.end_col_offset, right.col_offset, lambda text, words=words: text.replace(*words, 1)
            case ast.UnaryOp(op=ast.Not()):
                yield *here, lambda text: text.removeprefix("not ")
            case ast.Constant(value=bool() as value):
                yield *here, lambda text, value=value: str(not value)
            case ast.Constant(value=int() as value) if value < _TUNED:
                yield *here, lambda text, value=value: str(value + 1)
            case ast.Constant(value=str() as value) if value:
                yield *here, lambda text: '""'
            case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
                yield *here, lambda text: "pass"
            case ast.Return(value=ast.expr()):
                yield *here, lambda text: "return None"
            case ast.IfExp(test=test):
                yield node.lineno, test.col_offset, test.end_col_offset, lambda text: f"not ({text})"
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and id(node) not in skipped and node.test.lineno == node.test.end_lineno:
            yield node.test.lineno, node.test.col_offset, node.test.end_col_offset, lambda text: "False"


def _unread(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that say nothing to a running program: docstrings, annotations, texts with braces, imports for types."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield node.annotation
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
        yield node.returns
    if isinstance(node, ast.JoinedStr):
        yield node
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr in _SEEN
    ):
        yield node
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        yield node


def drawn(count: int, seed: int) -> list[Mutation]:
    """Return mutations by chance, a room after the other."""
    chance = random.Random(seed)
    sites = _sites()
    order = list(sites)
    chance.shuffle(order)
    return [chance.choice(sites[order[index % len(order)]]) for index in range(count)]


@cache
def _sites() -> dict[str, list[Mutation]]:
    """Return all mutations of each room that has any."""
    rooms: dict[str, list[Mutation]] = {}
    for path in _tracked("runtime", "inspector_app", "resources/plugins"):
        if path.endswith(".py") and (found := in_source(path, (ROOT / path).read_text("utf-8"))):
            rooms.setdefault(str(Path(path).parent), []).extend(found)
    return rooms


def found_by(mutation: Mutation, copy: Path) -> str | None:
    """Return the test that fails, mypy's complaint, or that it took too long; None if nothing tells the mutation from the source."""
    source = copy / mutation.path
    text = source.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    lines[mutation.line - 1] = mutation.after + "\n"
    tests = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", "--timeout", "60"]
    with _written(source, "".join(lines), text):
        try:
            ended = _run([*tests, *arguments([mutation.path])], copy)
            types = _run([sys.executable, "-m", "mypy"], copy) if ended.returncode == 0 else ended
        except subprocess.TimeoutExpired:
            return f"more than {_LIMIT:.0f} s"
    if types.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", ended.stdout, re.MULTILINE)
    if failed is None:
        return next((line for line in types.stdout.splitlines() if ": error:" in line), types.stdout[-200:])
    of_the_source = _run([*tests, failed[1]], copy)  # a test that fails anyway, on a machine under load, has found nothing
    return failed[1] if of_the_source.returncode == 0 else None


@contextlib.contextmanager
def _written(source: Path, text: str, again: str) -> Iterator[None]:
    """Write a module for a while. Its compiled file is removed: it may have the same second and size."""
    for content in (text, again):
        source.write_text(content, "utf-8")
        Path(importlib.util.cache_from_source(str(source))).unlink(missing_ok=True)
        if content is text:
            try:
                yield
            finally:
                source.write_text(again, "utf-8")


def _run(command: list[str], copy: Path) -> subprocess.CompletedProcess[str]:
    settings = os.environ | {"PYTHONPATH": str(copy), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(command, cwd=copy, env=settings, capture_output=True, text=True, timeout=_LIMIT)


def _copied(to: Path) -> Path:
    for path in _tracked("."):
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, to / path)
    if (ROOT / ".mypy_cache").exists():
        shutil.copytree(ROOT / ".mypy_cache", to / ".mypy_cache")
    return to


def _tracked(*folders: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [path for path in listed if path and (ROOT / path).is_file()]


def main() -> int:
    """Try the mutations, and return 0 if enough of them are found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first ones")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--at-least", type=float, default=0.85)
    options = parser.parse_args()
    tried = drawn(options.count, options.seed)[options.skip :]
    copies: SimpleQueue[Path] = SimpleQueue()
    survived = []

    def try_one(mutation: Mutation) -> None:
        copy = copies.get()
        began = time.monotonic()
        try:
            found = found_by(mutation, copy)
        finally:
            copies.put(copy)
        survived.extend([] if found else [mutation])
        sys.stdout.write(f"{time.monotonic() - began:4.0f} s  {mutation.path}:{mutation.line}\n    - {mutation.before.strip()}\n")
        sys.stdout.write(f"    + {mutation.after.strip()}\n    {found or 'SURVIVED'}\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory(prefix="agent-inspector-mutations-") as folder, ThreadPoolExecutor(options.jobs) as threads:
        for number in range(options.jobs):
            copies.put(_copied(Path(folder) / str(number)))
        list(threads.map(try_one, tried))
    share = 1 - len(survived) / len(tried)
    sys.stdout.write(f"seed {options.seed}: {len(tried) - len(survived)} of {len(tried)} found, {share:.0%}\n")
    return int(share < options.at_least)


if __name__ == "__main__":
    sys.exit(main())
