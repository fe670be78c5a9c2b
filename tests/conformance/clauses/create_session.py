"""create_session."""

from __future__ import annotations

from typing import Any

from tests.conformance.clause import IDS_OF_USERS, clause
from tests.conformance.names import AlreadyExistsError, BaseSessionService, UnstorableValueError, content, raises


@clause()
async def returns_the_session_with_its_first_state(service: BaseSessionService) -> None:
    state = {"k": 1, "user:lang": "pt", "app:limit": [1, {"a": None}], "empty": None}
    session = await service.create_session(app_name="a", user_id="u", state=state, session_id="s")
    assert (session.app_name, session.user_id, session.id) == ("a", "u", "s")
    assert session.state == state
    assert session.events == []
    assert session.last_update_time > 0
    assert content(await service.get_session(app_name="a", user_id="u", session_id="s")) == content(session)


@clause(cases={"None": None, "empty": "", "blank": "   "})
async def generates_an_id_if_none_is_given(service: BaseSessionService, session_id: str | None) -> None:
    one = await service.create_session(app_name="a", user_id="u", session_id=session_id)
    other = await service.create_session(app_name="a", user_id="u", session_id=session_id)
    assert one.id.strip()
    assert one.id != other.id


@clause()
async def an_id_is_trimmed(service: BaseSessionService) -> None:
    assert (await service.create_session(app_name="a", user_id="u", session_id="  s ")).id == "s"


@clause()
async def refuses_an_id_that_is_taken(service: BaseSessionService) -> None:
    await service.create_session(app_name="a", user_id="u", session_id="s", state={"k": 1})
    with raises(AlreadyExistsError, "Session with id s already exists"):
        await service.create_session(app_name="a", user_id="u", session_id="s", state={"k": 2, "user:x": 1})
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    assert session.state == {"k": 1}


@clause(IDS_OF_USERS)
async def the_same_id_may_exist_for_another_user_and_app(service: BaseSessionService) -> None:
    for app, user in (("a", "u"), ("a", "v"), ("b", "u")):
        await service.create_session(app_name=app, user_id=user, session_id="s", state={"who": app + user})
    session = await service.get_session(app_name="a", user_id="v", session_id="s")
    assert session is not None
    assert session.state == {"who": "av"}


@clause()
async def user_and_app_keys_are_shared(service: BaseSessionService) -> None:
    await service.create_session(app_name="a", user_id="u", state={"user:lang": "pt", "app:limit": 3, "own": 1})
    assert (await service.create_session(app_name="a", user_id="u")).state == {"user:lang": "pt", "app:limit": 3}
    assert (await service.create_session(app_name="a", user_id="v")).state == {"app:limit": 3}
    assert (await service.create_session(app_name="b", user_id="u")).state == {}


@clause()
async def temp_keys_are_dropped(service: BaseSessionService) -> None:
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"temp:x": object(), "k": 1})
    assert session.state == {"k": 1}


@clause(
    cases={"an object": object(), "a key that is not text": {1: 2}, "not a number": float("nan"), "a set": {"set": {1}}, "bytes": b"bytes"}
)
async def refuses_values_that_cannot_be_stored(service: BaseSessionService, value: Any) -> None:
    with raises(UnstorableValueError):
        await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:fine": 1, "k": value})
    assert await service.get_session(app_name="a", user_id="u", session_id="s") is None
    assert (await service.create_session(app_name="a", user_id="u")).state == {}


@clause()
async def returns_a_copy(service: BaseSessionService) -> None:
    given = {"list": [1]}
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state=given)
    given["list"].append(2)
    session.state["list"].append(3)
    again = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert again is not None
    assert again.state == {"list": [1]}
