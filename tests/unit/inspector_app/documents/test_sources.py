"""The source of sessions in memory has the interface of a database."""

from __future__ import annotations

from inspector_app.documents.sources import MemorySource
from runtime.storage.reading.shared_state import SharedScope


async def test_user_and_app_state_of_sessions_in_memory() -> None:
    source = MemorySource()
    source.add_app("shop")
    service = await source.service()
    await service.create_session(app_name="shop", user_id="maria", state={"app:currency": "EUR", "user:language": "pt", "mine": 1})
    await service.create_session(app_name="shop", user_id="zoe")
    scopes = await source.shared_scopes()
    assert scopes == [SharedScope("shop"), SharedScope("shop", "maria")]
    assert [(await source.shared_state(scope)).values for scope in scopes] == [{"app:currency": "EUR"}, {"user:language": "pt"}]
    assert (await source.shared_state(SharedScope("shop", "unknown"))).values == {}
    await source.close()
