"""The in-memory memory service, which matches words."""

from __future__ import annotations

from google.genai import types

from runtime.events import Event
from runtime.memory import InMemoryMemoryService
from runtime.memory.in_memory_memory_service import MOST_FOUND
from runtime.sessions import Session


def said(text: str, event_id: str = "", author: str = "user") -> Event:
    more = {"id": event_id} if event_id else {}
    return Event(author=author, content=types.Content(role="user", parts=[types.Part(text=text)]), timestamp=0.0, **more)


def session(*texts: str, session_id: str = "s", user_id: str = "u") -> Session:
    return Session(id=session_id, app_name="a", user_id=user_id, events=[said(text) for text in texts])


async def found(service: InMemoryMemoryService, query: str, user_id: str = "u") -> list[str]:
    return [entry.text for entry in (await service.search_memory(app_name="a", user_id=user_id, query=query)).memories]


async def test_the_best_match_comes_first_and_other_users_see_nothing() -> None:
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("I like tea", "I like green tea.", "Weather"))
    assert await found(service, "green TEA?") == ["I like green tea.", "I like tea"]
    assert await found(service, "coffee") == []
    assert await found(service, "") == []
    assert await found(service, "tea", user_id="v") == []


async def test_adding_a_session_again_replaces_it() -> None:
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("tea"))
    await service.add_session_to_memory(session("tea", "more tea"))
    await service.add_session_to_memory(session("tea elsewhere", session_id="s2"))
    assert await found(service, "tea") == ["tea", "more tea", "tea elsewhere"]


async def test_events_added_one_by_one_are_stored_once() -> None:
    service = InMemoryMemoryService()
    for event in (said("tea", "1"), said("tea again", "1"), said("green tea", "2")):
        await service.add_events_to_memory(app_name="a", user_id="u", session_id="s", events=[event])
    assert await found(service, "tea") == ["tea", "green tea"]


async def test_an_entry_is_a_copy_with_author_and_time() -> None:
    service = InMemoryMemoryService()
    await service.add_events_to_memory(app_name="a", user_id="u", events=[said("tea", "1", "bot")])
    (entry,) = (await service.search_memory(app_name="a", user_id="u", query="tea")).memories
    assert (entry.id, entry.author) == ("1", "bot") and entry.timestamp is not None and entry.timestamp.startswith("19")
    entry.content.parts[0].text = "changed"  # type: ignore[index]
    assert await found(service, "tea") == ["tea"]


async def test_the_number_of_results_is_limited() -> None:
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session(*(f"tea {number}" for number in range(50))))
    assert await found(service, "tea") == [f"tea {number}" for number in range(MOST_FOUND)]


async def test_a_deleted_memory_does_not_come_back() -> None:
    service = InMemoryMemoryService()
    stored = session("green tea", "black tea")
    await service.add_session_to_memory(stored)
    await service.delete_memory(app_name="a", user_id="v", memory_id=stored.events[0].id)
    await service.delete_memory(app_name="a", user_id="u")
    assert len(await found(service, "tea")) == 2
    await service.delete_memory(app_name="a", user_id="u", memory_id=stored.events[0].id)
    await service.add_session_to_memory(stored)
    await service.add_events_to_memory(app_name="a", user_id="u", events=stored.events)
    assert await found(service, "tea") == ["black tea", "black tea"]


async def test_words_are_found_in_scripts_without_spaces() -> None:
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("私はPythonを使う"))
    assert await found(service, "python") and await found(service, "使う")
    assert not await found(service, "thon")


async def test_events_without_text_are_not_found() -> None:
    service = InMemoryMemoryService()
    one = session()
    one.events = [Event(author="user"), Event(author="user", content=types.Content(parts=[types.Part(text="tea", thought=True)]))]
    await service.add_session_to_memory(one)
    assert await found(service, "tea") == []
