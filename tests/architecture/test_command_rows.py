"""Every command of the command line is in the table of outputs that tests run."""

from __future__ import annotations

from inspector_app.cli import app_command
from tests.output_table import RIGHT, WRONG


def test_every_command_is_tried_with_right_and_wrong_words() -> None:
    commands = set(app_command().commands)
    assert set(RIGHT) == commands, "give the command rows in tests/output_table.py"
    assert set(WRONG) == commands, "give the command wrong inputs in tests/output_table.py"


def test_rows_are_of_their_command() -> None:
    for command in RIGHT:
        assert all(row.words.split()[0] == command for row in RIGHT[command])
        assert all(words.split()[0] == command for words, _ in WRONG[command])
