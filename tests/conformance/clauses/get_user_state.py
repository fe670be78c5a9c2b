"""get_user_state: the state that a user's sessions share, without a session."""

from __future__ import annotations

from tests.conformance.clause import clause
from tests.conformance.names import BaseSessionService, delta

USER = {"app_name": "a", "user_id": "u"}


@clause("get_user_state")
async def returns_the_users_keys_without_prefix(service: BaseSessionService) -> None:
    assert await service.get_user_state(**USER) == {}
    session = await service.create_session(**USER, state={"user:name": "Ada", "app:x": 1, "own": 2})
    await service.append_event(session, delta(**{"user:list": [1]}))
    assert await service.get_user_state(**USER) == {"name": "Ada", "list": [1]}
    assert await service.get_user_state(app_name="a", user_id="other") == {}


@clause("get_user_state")
async def returns_a_copy(service: BaseSessionService) -> None:
    await service.create_session(**USER, state={"user:list": [1]})
    (await service.get_user_state(**USER))["list"].append(2)
    assert await service.get_user_state(**USER) == {"list": [1]}
