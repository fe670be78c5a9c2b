"""The layout that `make layout` prints."""

from __future__ import annotations

import tomllib

from tests.architecture.layout import Container, circle, containers, late_imports, lines, problems, read_imports, report
from tests.architecture.source_rules import ROOT

HOUSE = Container("house", [["roof"], ["left", "right"], ["cellar"]], [("house.cellar.door", "house.roof.*")])
GOOD = {
    "house.roof.a": {"house.left.a", "house.cellar.a", "elsewhere"},
    "house.left.a": {"house.cellar.a"},
    "house.right.a": set[str](),
    "house.cellar.a": set[str](),
    "house.cellar.door": {"house.roof.a"},
}


def test_all_arrows_of_this_repository_point_down() -> None:
    packages = containers(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    assert {"runtime", "runtime.storage"} <= {package.name for package in packages}
    text, fine = report(packages, read_imports())
    assert fine, "\n".join(text)


def test_folders_are_listed_from_the_top_with_what_they_import() -> None:
    assert list(lines(HOUSE, GOOD)) == [
        "house",
        "   3  roof    → left, cellar",
        "   2  left    → cellar",
        "      right",
        "   1  cellar",
        "  allowed up: house.cellar.door -> house.roof.*",
    ]
    assert problems(HOUSE, GOOD) == []


def test_arrows_up_and_sideways_and_new_folders_are_reported() -> None:
    bad = {**GOOD, "house.right.a": {"house.left.a", "house.roof.a"}, "house.shed.a": set[str]()}
    assert problems(HOUSE, bad) == ["NO FLOOR: house.shed", "SIDEWAYS: house.right.a -> house.left.a", "UP: house.right.a -> house.roof.a"]
    text, fine = report([HOUSE], bad)
    assert not fine
    assert text[-1] == "SOME ARROWS DO NOT POINT DOWN: see the lines in capitals."


def test_a_circle_of_imports_is_found() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert circle({**imports, "c": set()}) == []
    first, *others, last = circle(imports)
    assert first == last and sorted([first, *others]) == ["a", "b", "c"]
    assert any("CIRCLE: " in line and "a -> b" in line for line in report([], imports)[0])


def test_late_imports_count() -> None:
    assert "inspector_app.commands.repeating" in late_imports("inspector_app.commands.running")
