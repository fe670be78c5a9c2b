"""Each rule of docs/specification.md has a test, and each mark names a rule."""

from __future__ import annotations

import re

from tests.architecture.source_rules import ROOT

_RULE = re.compile(r"^- \*\*([A-Z]\d+)\*\* ", re.MULTILINE)
_MARK = re.compile(r"@pytest\.mark\.rule\(([^)]*)\)")


def rules() -> list[str]:
    """Return the ids of the rules in the specification."""
    return _RULE.findall((ROOT / "docs" / "specification.md").read_text("utf-8"))


def marked() -> set[str]:
    """Return the ids that tests are marked with."""
    texts = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return {rule for text in texts for mark in _MARK.findall(text) for rule in re.findall(r'"(\w+)"', mark)}


def test_each_rule_has_a_test_and_each_mark_a_rule() -> None:
    found = rules()
    assert len(found) == len(set(found)) > 40
    assert marked() - set(found) == set()
    assert set(found) - marked() == set()
