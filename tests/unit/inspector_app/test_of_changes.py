"""`make check` runs the tests of what changed."""

from __future__ import annotations

from tests.of_changes import paths_of


def test_a_source_file_has_the_test_of_its_name_or_its_folders() -> None:
    assert paths_of(["runtime/history/key_writers.py"]) == ["tests/architecture", "tests/unit/history/test_key_writers.py"]
    assert paths_of(["runtime/history/agent_tree.py"]) == ["tests/architecture", "tests/unit/history"]


def test_a_feature_of_the_window_has_unit_and_gui_tests() -> None:
    found = paths_of(["inspector_app/running/composer.py"])
    assert found == ["tests/architecture", "tests/gui/running/test_composer.py", "tests/unit/inspector_app/running"]


def test_a_changed_test_runs_itself_and_a_document_needs_none() -> None:
    assert paths_of(["tests/seeds/test_import_paths.py", "README.md"]) == ["tests/architecture", "tests/seeds/test_import_paths.py"]
