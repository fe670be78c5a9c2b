"""A shared key that another session has changed since the selected event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QModelIndex
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from runtime.events import Event, EventActions
from runtime.sessions.database_session_service import DatabaseSessionService
from runtime.sessions.session import SessionKey


async def two_sessions(file: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        for name, tier in (("first", "silver"), ("second", "gold")):
            session = await service.create_session(app_name="shop", user_id="u", session_id=name)
            await service.append_event(session, Event(author="desk", actions=EventActions(state_delta={"user:tier": tier, "own": 1})))


def writers(inspector: Inspector) -> dict[str, str]:
    model = inspector.window.workbench.detail.state.model
    return {node.key: node.writer for lane in model.node(QModelIndex()).children for node in lane.children}


def test_a_key_changed_by_a_later_session_is_marked(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    inspector.tasks.spawn(two_sessions(tmp_path / "shop.db"), "Writing")
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    opened(tmp_path / "shop.db")
    for name, mark in (("first", " · changed since"), ("second", "")):
        inspector.cursor.select_session(SessionAddress(str(tmp_path / "shop.db"), SessionKey("shop", "u", name)))
        qtbot.waitUntil(lambda: not inspector.tasks.running)
        assert writers(inspector) == {"user:tier": f"#1 desk{mark}", "own": "#1 desk"}
