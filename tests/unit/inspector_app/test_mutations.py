"""One-line mutations of the source."""

from __future__ import annotations

import pytest

from tests.mutations import drawn, in_source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a < b:", ["if a <= b:", "if False:"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = 'word'", ['x = ""']),
        ("x = a[0]", ["x = a[1]"]),
        ("x = True", ["x = False"]),
        ("call(a)", ["pass"]),
        ("x = 300", []),
        ("log.debug(a, 1)", []),
        ("def f(a: 'A') -> 'B': 'Say it.'", []),
    ],
)
def test_a_line_is_changed_in_what_a_program_reads(before: str, after: list[str]) -> None:
    source = f"{before}\n    pass\n" if before.startswith("if") else f"{before}\n"
    assert [each.after for each in in_source("x.py", source)] == after


def test_the_same_seed_draws_the_same_lines_in_many_rooms() -> None:
    found = drawn(30, 5)
    assert found == drawn(30, 5) and found[:9] != drawn(30, 6)[:9]
    assert len({each.path.rpartition("/")[0] for each in found}) == 30
