"""The words for how something is: one list, in the specification, for every place that says them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from inspector_app.presentation.signs import REQUESTS, SIGNS
from inspector_app.shell.run_bar import RUN_ICONS
from runtime.history.invocations import Status, word_for
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, manifest

SPECIFICATION = Path(__file__).parents[4] / "docs" / "specification.md"


def rows_of(head: str) -> list[list[str]]:
    """Return the cells of the specification's table with this head."""
    lines = SPECIFICATION.read_text("utf-8").partition(head)[2].splitlines()[2:]
    end = next(number for number, line in enumerate(lines) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:end]]


def test_the_specification_lists_the_words_with_signs() -> None:
    assert [row[0] for row in rows_of("| Word | Means |")] == [*SIGNS]
    assert {word_for(status) for status in get_args(Status)} | {"held", "running"} == {*SIGNS}
    assert {*SIGNS} <= {*RUN_ICONS}


def test_signs_differ_and_amber_is_for_held_and_waiting() -> None:
    assert len({sign.icon for sign in SIGNS.values()}) == len(SIGNS)
    assert {word for word, sign in SIGNS.items() if sign.role == "warn"} == {"waiting", "held"}
    assert all(sign.role == "warn" for sign in REQUESTS.values())
    assert all(sign.meaning for sign in (SIGNS | REQUESTS).values())


def test_every_stored_invocation_ends_in_a_shape_that_is_listed() -> None:
    listed = {(status, re.compile(re.escape(reason).replace("…", ".+"))) for _, status, reason in rows_of("| The last event |")}
    compared = 0
    for entry in manifest():
        with StoredDatabase.open(str(fixtures_dir() / "open" / entry["file"])) as stored:
            for summary in stored.sessions():
                for found in stored.invocations(summary.key):
                    if found.status != "rewound":
                        assert any(found.status == status and shape.fullmatch(found.reason) for status, shape in listed), found
                        compared += 1
    assert compared > 500
