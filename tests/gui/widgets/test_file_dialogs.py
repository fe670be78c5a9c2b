"""File dialogs open in the last folder and propose names that every file system takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.support.preferences import Preferences
from inspector_app.widgets import file_dialogs
from inspector_app.widgets.file_dialogs import ask_for_existing, ask_where_to_write, remember_folders

DATABASES = {"Session databases (*.db)": ".db"}


@pytest.fixture
def parent(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QWidget]:
    monkeypatch.setattr(file_dialogs, "_folders", None)
    kept = Preferences(tmp_path / "preferences.json")
    remember_folders(kept.last_folder, kept.keep_last_folder)
    widget = QWidget()
    qtbot.addWidget(widget)
    yield widget


def choose(dialog: QFileDialog, path: Path) -> None:
    dialog.fileSelected.emit(str(path))
    dialog.reject()


def test_the_next_dialog_opens_where_the_last_one_was_left(parent: QWidget, tmp_path: Path) -> None:
    (deep := tmp_path / "a" / "b").mkdir(parents=True)
    chosen: list[str] = []
    choose(ask_for_existing(parent, "Open", chosen.append), deep / "x.db")
    after = ask_where_to_write(parent, "Write", "report", DATABASES, chosen.append)
    assert after.selectedFiles() == [str(deep / "report.db")] and chosen == [str(deep / "x.db")]
    after.reject()
    again = Preferences(tmp_path / "preferences.json")  # another start
    assert again.last_folder("files") == str(deep)


def test_a_cancelled_dialog_changes_nothing(parent: QWidget, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    choose(ask_for_existing(parent, "Open", list), tmp_path / "a" / "x.db")
    other = ask_for_existing(parent, "Open", list)
    other.setDirectory(str(tmp_path))
    other.reject()
    assert Path(ask_for_existing(parent, "Open", list).directory().path()) == tmp_path / "a"


def test_the_folder_of_a_chosen_agent_is_left_for_its_parent(parent: QWidget, tmp_path: Path) -> None:
    (tmp_path / "agents" / "travel").mkdir(parents=True)
    choose(ask_for_existing(parent, "Open", list, folder=True), tmp_path / "agents" / "travel")
    assert Path(ask_for_existing(parent, "Open", list, folder=True).directory().path()) == tmp_path / "agents"


def test_a_python_has_a_last_folder_of_its_own(parent: QWidget, tmp_path: Path) -> None:
    for name in ("bin", "work"):
        (tmp_path / name).mkdir()
    choose(ask_for_existing(parent, "Open", list), tmp_path / "work" / "x.db")
    choose(ask_for_existing(parent, "Python", list, kind="python"), tmp_path / "bin" / "python")
    assert Path(ask_for_existing(parent, "Open", list).directory().path()) == tmp_path / "work"
    assert Path(ask_for_existing(parent, "Python", list, kind="python").directory().path()) == tmp_path / "bin"


def test_a_folder_that_was_deleted_is_not_opened(parent: QWidget, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    choose(ask_for_existing(parent, "Open", list), tmp_path / "a" / "x.db")
    (tmp_path / "a").rmdir()
    dialog = ask_where_to_write(parent, "Write", "x", DATABASES, list)
    assert Path(dialog.selectedFiles()[0]).parent.is_dir()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("What is 1/2? C:\\x", "What is 1_2_ C__x.db"),
        ("../../etc/passwd", "_.._etc_passwd.db"),
        ("", "session.db"),
        ("...", "session.db"),
        ("a\nb", "a_b.db"),
        ("名" * 80, "名" * 66 + ".db"),
    ],
)
def test_a_proposed_name_is_the_name_of_one_file(parent: QWidget, title: str, name: str) -> None:
    dialog = ask_where_to_write(parent, "Write", title, DATABASES, list)
    assert Path(dialog.selectedFiles()[0]).name == name


def test_another_format_has_its_suffix(parent: QWidget) -> None:
    dialog = ask_where_to_write(parent, "Write", "x", {"Pages (*.html)": ".html", "Texts (*.md)": ".md"}, list)
    dialog.selectNameFilter("Texts (*.md)")
    dialog.filterSelected.emit("Texts (*.md)")
    assert dialog.defaultSuffix() == "md"


def test_only_a_file_that_is_replaced_is_asked_about(parent: QWidget) -> None:
    no_question = QFileDialog.Option.DontConfirmOverwrite
    assert not ask_where_to_write(parent, "Write", "x", DATABASES, list).testOption(no_question)
    assert ask_where_to_write(parent, "Write", "x", DATABASES, list, adds=True).testOption(no_question)
