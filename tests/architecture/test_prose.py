"""The check of the project's prose finds what it is made for, and nothing in plain English."""

from __future__ import annotations

import pytest

from tests.architecture.prose import ALLOWED, files, violations
from tests.architecture.source_rules import ROOT


@pytest.mark.parametrize(
    "text",
    [
        "The file stands beside the database.",
        "Whoever reads it sees the same.",
        "The session on show grows.",
        "It is read anew.",
        "What is gone is not read.",
        "The run goes on afterwards.",
    ],
)
def test_dialect_is_found(text: str) -> None:
    assert len(list(violations("README.md", text))) == 1


def test_plain_english_is_left_alone() -> None:
    text = "The file is beside the database. The run continues. She is told nothing."
    assert [line.split(": ")[1] for line in violations("README.md", text)] == ["'is told'"]


@pytest.mark.parametrize(
    "text", ["A test double stands in for the model.", "A stand-in for it.", "It is told to stop.", "They can be told apart."]
)
def test_a_pattern_ends_where_plain_english_begins(text: str) -> None:
    assert list(violations("README.md", text)) == []


def test_a_string_without_a_space_is_a_value() -> None:
    assert list(violations("a.py", 'user = "nobody"\nurl = "/apps/nobody/users"\n')) == []
    assert len(list(violations("a.py", 'text = "nobody answers"\n'))) == 1


def test_a_models_text_is_allowed_in_its_file_only() -> None:
    path, (phrase, *_) = next(iter(ALLOWED.items()))
    assert list(violations(path, f'text = "{phrase}"\n')) == []
    assert len(list(violations("a.py", f'text = "{phrase}"\n'))) == 1


def test_each_allowed_phrase_still_occurs() -> None:
    assert [
        (path, phrase) for path, phrases in ALLOWED.items() for phrase in phrases if phrase not in (ROOT / path).read_text("utf-8")
    ] == []


def test_python_is_searched_in_comments_strings_and_names_only() -> None:
    source = 'whatever = 1  # plain\n\n\ndef test_what_waits_is_shown():\n    """Return whatever was given."""\n'
    assert [line.split(":")[1] for line in violations("a.py", source)] == ["4", "5"]


def test_the_projects_own_files_are_searched() -> None:
    names = {path.name for path in files()}
    assert {"README.md", "runners.py", "stream_controller.py"} <= names
