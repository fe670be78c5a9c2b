"""The list of apps and users that have state of their own, also where they are many."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from inspector_app.views.shared_state_pane import SharedStatePane
from runtime.sessions.stored.shared_state import SharedScope


def test_what_is_chosen_comes_into_view_once_a_long_list_is_laid_out(qtbot: QtBot) -> None:
    pane = SharedStatePane()
    qtbot.addWidget(pane)
    pane.resize(500, 400)
    pane.show()
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
