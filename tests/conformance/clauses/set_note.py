"""set_note: comments and bookmarks, kept beside the events."""

from __future__ import annotations

from typing import Any

from tests.conformance.clause import REOPENING, clause
from tests.conformance.names import BaseSessionService, SessionNotFoundError, content, delta, raises

S = {"app_name": "a", "user_id": "u", "session_id": "s"}


def _note(text: str = "", is_bookmark: bool = False) -> Any:
    from runtime.sessions.note import Note

    return Note(text, is_bookmark, 1_700_000_000.25)


def _key(**other: str) -> Any:
    from runtime.sessions.session_key import SessionKey

    return SessionKey(**{**S, **other})


@clause("set_note")
async def stores_replaces_and_deletes_a_note_and_changes_no_event(service: BaseSessionService) -> None:
    session = await service.create_session(**S)
    one, two = [await service.append_event(session, delta(x=number)) for number in (1, 2)]
    before = content(await service.get_session(**S))
    key = _key()
    assert await service.notes(key) == {}
    await service.set_note(key, one.id, _note("too early: 'x' %s <b>\n\u4e2d\U0001f600"))
    await service.set_note(key, two.id, _note(is_bookmark=True))
    await service.set_note(key, one.id, _note("read twice", is_bookmark=True))
    assert await service.notes(key) == {one.id: _note("read twice", True), two.id: _note(is_bookmark=True)}
    assert content(await service.get_session(**S)) == before
    await service.set_note(key, one.id, _note())
    await service.set_note(key, "never", _note())
    assert await service.notes(key) == {two.id: _note(is_bookmark=True)}
    await service.append_event(session, delta(x=3))  # the session has not changed meanwhile


@clause("set_note")
async def a_deleted_session_takes_its_notes_along(service: BaseSessionService) -> None:
    for name in ("s", "t"):
        await service.create_session(app_name="a", user_id="u", session_id=name)
        await service.set_note(_key(session_id=name), "e", _note(name))
    await service.delete_session(**S)
    assert await service.notes(_key()) == {}
    with raises(SessionNotFoundError, "s"):
        await service.set_note(_key(), "e", _note("too late"))
    await service.create_session(**S)
    assert await service.notes(_key()) == {}
    assert await service.notes(_key(session_id="t")) == {"e": _note("t")}


@clause("set_note", REOPENING)
async def a_note_is_there_after_reopening(opened: Any) -> None:
    async with opened() as service:
        await service.create_session(**S)
        await service.set_note(_key(), "e", _note("kept"))
    async with opened() as service:
        assert await service.notes(_key()) == {"e": _note("kept")}
