"""create_session."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.errors import AlreadyExistsError, UnstorableValueError
from runtime.sessions import BaseSessionService


async def test_returns_the_session_with_its_first_state(service: BaseSessionService) -> None:
    state = {"k": 1, "user:lang": "pt", "app:limit": [1, {"a": None}], "empty": None}
    session = await service.create_session(app_name="a", user_id="u", state=state, session_id="s")
    assert (session.app_name, session.user_id, session.id) == ("a", "u", "s")
    assert session.state == state
    assert session.events == []
    assert session.last_update_time > 0
    assert await service.get_session(app_name="a", user_id="u", session_id="s") == session


@pytest.mark.parametrize("session_id", [None, "", "   "])
async def test_makes_an_id_where_none_is_given(service: BaseSessionService, session_id: str | None) -> None:
    one = await service.create_session(app_name="a", user_id="u", session_id=session_id)
    other = await service.create_session(app_name="a", user_id="u", session_id=session_id)
    assert one.id.strip()
    assert one.id != other.id


async def test_an_id_is_trimmed(service: BaseSessionService) -> None:
    assert (await service.create_session(app_name="a", user_id="u", session_id="  s ")).id == "s"


async def test_refuses_an_id_that_is_taken(service: BaseSessionService) -> None:
    await service.create_session(app_name="a", user_id="u", session_id="s", state={"k": 1})
    with pytest.raises(AlreadyExistsError, match="Session with id s already exists"):
        await service.create_session(app_name="a", user_id="u", session_id="s", state={"k": 2, "user:x": 1})
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    assert session.state == {"k": 1}


async def test_the_same_id_may_exist_for_another_user_and_app(service: BaseSessionService) -> None:
    for app, user in (("a", "u"), ("a", "v"), ("b", "u")):
        await service.create_session(app_name=app, user_id=user, session_id="s", state={"who": app + user})
    session = await service.get_session(app_name="a", user_id="v", session_id="s")
    assert session is not None
    assert session.state == {"who": "av"}


async def test_user_and_app_keys_are_shared(service: BaseSessionService) -> None:
    await service.create_session(app_name="a", user_id="u", state={"user:lang": "pt", "app:limit": 3, "own": 1})
    assert (await service.create_session(app_name="a", user_id="u")).state == {"user:lang": "pt", "app:limit": 3}
    assert (await service.create_session(app_name="a", user_id="v")).state == {"app:limit": 3}
    assert (await service.create_session(app_name="b", user_id="u")).state == {}


async def test_temp_keys_are_dropped(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"temp:x": object(), "k": 1})
    assert session.state == {"k": 1}


@pytest.mark.parametrize("value", [object(), {1: 2}, float("nan"), {"set": {1}}, b"bytes"])
async def test_refuses_what_cannot_be_stored(service: BaseSessionService, value: Any) -> None:
    with pytest.raises(UnstorableValueError, match=r"state\['k'\]"):
        await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:fine": 1, "k": value})
    assert await service.get_session(app_name="a", user_id="u", session_id="s") is None
    assert (await service.create_session(app_name="a", user_id="u")).state == {}


async def test_what_it_returns_is_a_copy(service: BaseSessionService) -> None:
    given = {"list": [1]}
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state=given)
    given["list"].append(2)
    session.state["list"].append(3)
    again = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert again is not None
    assert again.state == {"list": [1]}
