"""The list of apps and users with stored state, including a very long list."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from inspector_app.databases.shared_state_pane import SharedStatePane
from runtime.storage.reading.shared_state import SharedScope


@pytest.fixture
def pane(qtbot: QtBot) -> SharedStatePane:
    made = SharedStatePane()
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


def test_the_chosen_entry_is_scrolled_into_view_once_a_long_list_is_laid_out(pane: SharedStatePane, qtbot: QtBot) -> None:
    scopes = [SharedScope("app"), *(SharedScope("app", f"user-{number}") for number in range(5_000))]
    pane.choose(scopes[4_000])
    pane.set_scopes(scopes)
    row, view = pane.scopes.currentIndex(), pane.scopes.viewport()
    assert pane.model.scope(row) == scopes[4_000]
    qtbot.waitUntil(lambda: view.rect().contains(pane.scopes.visualRect(row)))
    pane.filter.setText("no such user")
    assert pane.model.rowCount() == 0
    pane.choose(scopes[10])
    assert pane.filter.text() == ""
    qtbot.waitUntil(lambda: view.rect().contains(pane.scopes.visualRect(pane.scopes.currentIndex())))
    assert pane.model.scope(pane.scopes.currentIndex()) == scopes[10]


def test_an_empty_list_shows_why(pane: SharedStatePane) -> None:
    none = pane.findChild(QLabel, "no_scopes")
    pane.set_scopes([])
    assert none.isVisible() and none.text() == "No app or user has stored state."
    pane.set_scopes([SharedScope("app")])
    assert not none.isVisible()
    pane.filter.setText("zzz")
    assert none.isVisible() and none.text() == "No app or user matches."
    pane.filter.clear()
    assert not none.isVisible()
