"""Qt checks a signal's types when it is emitted, and `object` allows any. So the class docstring names the types."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.source_rules import ROOT, source_files


def undocumented(source: str) -> Iterator[str]:
    """Yield the signals of public classes that the `Signals` section of the docstring does not name with their types."""
    for owner in ast.walk(ast.parse(source)):
        if isinstance(owner, ast.ClassDef) and not owner.name.startswith("_"):
            section = re.search(r"^Signals:\n((?: .*\n?|\n(?= ))+)", ast.get_docstring(owner) or "", re.MULTILINE)
            for name, count in _signals(owner):
                pattern = rf"\b{name}\b" + (r" ?\([^)]+" if count else "")
                if section is None or not re.search(pattern, section.group(1)):
                    yield f"{owner.name}.{name}"


def _signals(owner: ast.ClassDef) -> Iterator[tuple[str, int]]:
    """Yield each signal's name and the number of its arguments."""
    for statement in owner.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        target, called = statement.targets[0], statement.value.func
        if isinstance(target, ast.Name) and isinstance(called, ast.Name) and called.id == "Signal":
            yield target.id, len(statement.value.args)


def test_every_signal_is_documented_with_its_types() -> None:
    found = [f"{path.relative_to(ROOT)}: {name}" for path in source_files() for name in undocumented(path.read_text("utf-8"))]
    assert found == []


def test_the_rule_finds_signals_without_a_name_or_types() -> None:
    source = '''
class Pane(QWidget):
    """A pane.

    Signals:
        chosen (Event): the user chose it.
        moved: the pane moved.
    """

    chosen = Signal(object)
    moved = Signal(int)
    closed = Signal()
'''
    assert list(undocumented(source)) == ["Pane.moved", "Pane.closed"]
