"""Forking a session: target, id and files; nothing else changes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runtime.agents import BaseAgent
from runtime.artifacts import FileArtifactService, InMemoryArtifactService
from runtime.errors import AlreadyExistsError, NotFoundError, StorageError
from runtime.events import Event, EventActions
from runtime.forks.fork import Cut, Files, ForkError, fork_into, fork_session
from runtime.forks.tree import ForkNode, fork_trees
from runtime.runners import Runner
from runtime.running.rewind_plan import rewind_plan
from runtime.sessions import DatabaseSessionService, SqliteSessionService
from runtime.sessions.lineage import Changed, Lineage, SessionCopy
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from tests.agent_specs import build_agent, message, shown
from tests.fixture_paths import copy_of, fixtures_dir
from tests.postgres import server
from tests.seeds.running import run, runner_for
from tests.seeds.running import stored as stored_session

KEY = SessionKey("app", "u", "s")
TEXT = {"text": "x"}
TREES = json.loads((fixtures_dir() / "open" / "prefixes-1.39.1.json").read_text("utf-8"))


@pytest.fixture
async def database(tmp_path: Path) -> str:
    path = str(tmp_path / "s.db")
    async with DatabaseSessionService(path) as service:
        session = await service.create_session(app_name="app", user_id="u", session_id="s", state={"k": 0, "user:u": 0, "app:a": 0})
        for number in (1, 2, 3):
            delta = {"k": number, "user:u": number, "app:a": number, f"k{number}": number}
            event = Event(author="me", invocation_id=f"i{number}", id=f"e{number}", content=message("x"), timestamp=float(number))
            event.actions = EventActions(state_delta=delta)
            await service.append_event(session, event)
    return path


def bytes_of(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def files_in(folder: Path, pattern: str = "*") -> list[str]:
    return sorted(str(path) for path in folder.glob(pattern))


def resolved(path: str) -> str:
    return str(Path(path).resolve())


def state(path: str, key: SessionKey) -> dict[str, object]:
    with StoredDatabase.open(path) as stored:
        return stored.state(key)


async def test_a_fork_in_the_same_database_sees_present_shared_keys(database: str) -> None:
    fork = await fork_session(database, KEY, Cut(at="e2", session_id="f"))
    assert (fork.key, fork.database) == (SessionKey("app", "u", "f"), database)
    assert state(database, fork.key) == {"k": 2, "k1": 1, "k2": 2, "user:u": 3, "app:a": 3}
    assert fork.notes == ["These keys are shared with other sessions; the fork sees their present values: app:a, user:u."]
    with StoredDatabase.open(database) as stored:
        assert stored.history(fork.key).state_at(0).merged() == {"k": 1, "k1": 1, "user:u": 1, "app:a": 1}
        assert stored.history(KEY).state_at(2).merged() == state(database, KEY)
        assert stored.created(fork.key) == stored.created(KEY)


async def test_a_fork_elsewhere_gets_missing_shared_keys_as_they_were(database: str, tmp_path: Path) -> None:
    before = bytes_of(database)
    other = str(tmp_path / "other.db")
    async with SqliteSessionService(other) as service:
        await service.create_session(app_name="app", user_id="u", session_id="there", state={"user:u": "mine"})
    fork = await fork_session(database, KEY, Cut(at="e2"), into=other)
    assert state(other, fork.key) == {"k": 2, "k1": 1, "k2": 2, "user:u": "mine", "app:a": 2}
    assert state(other, SessionKey("app", "u", "there")) == {"user:u": "mine", "app:a": 2}
    assert bytes_of(database) == before
    with StoredDatabase.open(other) as stored:
        assert stored.history(fork.key).state_at(1).user == {"user:u": 2}


async def test_forking_before_an_event_and_before_the_first_one(database: str) -> None:
    assert (await fork_session(database, KEY, Cut(before="e3"))).lineage.event_id == "e2"
    fork = await fork_session(database, KEY, Cut(before="e1"))
    assert (fork.lineage.event_id, fork.lineage.event_count) == (None, 0)
    assert state(database, fork.key) == {"k": 0, "user:u": 3, "app:a": 3}


async def test_a_fork_to_a_server_and_back_to_a_file(database: str, tmp_path: Path) -> None:
    url = server().new_database()
    fork = await fork_session(database, KEY, Cut(at="e2", session_id="f"), into=url)
    again = await fork_session(url, fork.key, Cut(at="e1", session_id="g"))
    back = await fork_session(url, again.key, into=str(tmp_path / "back.db"))
    with StoredDatabase.open(database) as stored:
        then = [stored.history(KEY).state_at(index) for index in (-1, 0, 1)]
    for target, key, count in ((url, fork.key, 3), (url, again.key, 2), (str(tmp_path / "back.db"), back.key, 2)):
        with StoredDatabase.open(target) as stored:
            past = stored.history(key)
            assert [past.state_at(index) for index in range(-1, len(past))] == then[:count]
            assert key in stored.lineages()
    with StoredDatabase.open(url) as stored:
        assert [(write.session.session_id, write.after) for write in stored.writes(again.key, "user:u")] == [("f", 2)]
    async with DatabaseSessionService(url) as service:
        with pytest.raises(AlreadyExistsError):
            await fork_session(database, KEY, Cut(session_id="f"), into=url)
        session = await service.get_session(app_name="app", user_id="u", session_id="g")
        assert session is not None and session.state == {"k": 1, "k1": 1, "user:u": 2, "app:a": 2}
        await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"user:u": 7})))
    with StoredDatabase.open(url) as stored:
        assert stored.history(again.key).state_at(1).user == {"user:u": 7}


async def test_a_failed_fork_raises_and_leaves_nothing(database: str, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no event 'e9'"):
        await fork_session(database, KEY, Cut(at="e9"))
    with pytest.raises(NotFoundError, match="no session"):
        await fork_session(database, SessionKey("app", "u", "nobody"))
    for name in ("s", "f"):
        if name == "f":
            await fork_session(database, KEY, Cut(session_id="f"))
        with pytest.raises(AlreadyExistsError):
            await fork_session(database, KEY, Cut(session_id=name))
    with StoredDatabase.open(database) as stored:
        assert len(stored.sessions()) == 2
    assert files_in(tmp_path) == [database]


async def test_another_programs_database_is_written_only_if_named(tmp_path: Path) -> None:
    theirs = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    with StoredDatabase.open(str(theirs)) as stored:
        key = stored.sessions()[0].key
        events = stored.events(key)
        before = [stored.history(key).state_at(index) for index in range(len(events))]
    content = bytes_of(str(theirs))
    with pytest.raises(ForkError, match="written by another program"):
        await fork_session(str(theirs), key)
    assert bytes_of(str(theirs)) == content
    fork = await fork_session(str(theirs), key, into=str(theirs))
    (backup,) = files_in(tmp_path, "*.backup-*")
    with StoredDatabase.open(backup) as stored:
        assert not stored.layout.ours and stored.events(key) == events
    with StoredDatabase.open(str(theirs)) as stored:
        assert stored.lineages()[fork.key].database is None
        assert stored.events(key) == events
        assert [stored.history(key).state_at(index) for index in range(len(events))] == before
    old = copy_of("open/adk1.16.0-v0-chat_tools.db", tmp_path)
    with pytest.raises(StorageError, match="read-only"):
        await fork_session(str(old), key, into=str(old))


@pytest.mark.logs("was not recorded")
async def test_a_fork_with_unknown_values_is_rewound_like_its_parent(tmp_path: Path) -> None:
    theirs, path = fixtures_dir() / "open" / "adk2.13.0-v1-state_delta_arg.db", str(tmp_path / "fork.db")
    with StoredDatabase.open(str(theirs)) as stored:
        key = stored.sessions()[0].key
        plan = rewind_plan(stored.history(key), key, stored.state(key), stored.events(key)[0].invocation_id)
    fork = await fork_session(str(theirs), key, into=path)
    async with DatabaseSessionService(path) as service:
        runner = Runner(app_name=key.app_name, agent=BaseAgent(name="nobody"), session_service=service)
        names = {"user_id": key.user_id, "session_id": fork.key.session_id}
        await runner.rewind_async(**names, rewind_before_invocation_id=plan.invocation_id)
        session = await service.get_session(app_name=key.app_name, **names)
    assert session is not None
    assert session.events[-1].actions.state_delta == {change.key: change.after for change in plan.state}


async def test_an_unfinished_invocation_can_be_resumed_in_a_fork_at_any_event(tmp_path: Path) -> None:
    tree, path = next(tree for tree in TREES if tree["name"] == "nested"), str(tmp_path / "s.db")
    async with DatabaseSessionService(path) as service:
        runner = runner_for(build_agent(tree["agent"]), service, resumable=True)
        await run(runner, tree["message"])
        whole = list((await stored_session(runner)).events)
    for number, event in enumerate(whole):
        fork = await fork_session(path, KEY, Cut(at=event.id), into=str(tmp_path / f"{number}.db"))
        async with DatabaseSessionService(str(fork.database)) as service:
            runner = runner_for(build_agent(tree["agent"]), service, resumable=True)
            names = {"user_id": "u", "session_id": fork.key.session_id}
            async for _ in runner.run_async(**names, invocation_id=event.invocation_id):
                pass
            session = await service.get_session(app_name="app", **names)
        assert session is not None
        assert sorted(str(shown(each)) for each in session.events) == sorted(str(shown(each)) for each in whole)


async def test_lineage_is_kept_and_forms_trees(database: str, tmp_path: Path) -> None:
    changed = Changed("message", "e3", "x", "y")
    one = (await fork_session(database, KEY, Cut(before="e3", session_id="one", changed=changed))).key
    two = (await fork_session(database, one, Cut(at="e1", session_id="two"))).key
    far = await fork_session(database, one, Cut(session_id="far"), into=str(tmp_path / "far.db"))
    convert(database, str(tmp_path / "converted.db"))
    for path in (database, str(tmp_path / "converted.db")):
        with StoredDatabase.open(path) as stored:
            lineages = stored.lineages()
            assert (lineages[one].parent, lineages[one].event_id, lineages[one].event_count, lineages[one].changed) == (
                KEY,
                "e2",
                2,
                changed,
            )
            (tree,) = fork_trees([summary.key for summary in stored.sessions()], lineages)
            assert tree == ForkNode(
                KEY, None, None, True, (ForkNode(one, None, lineages[one], True, (ForkNode(two, None, lineages[two], True),)),)
            )
    with StoredDatabase.open(str(tmp_path / "far.db")) as stored:
        (tree,) = fork_trees([far.key], stored.lineages())
        assert (tree.key, tree.database) == (one, resolved(database))
        assert [child.key for child in tree.children] == [far.key]
    async with DatabaseSessionService(database) as service:
        await service.delete_session(app_name="app", user_id="u", session_id="one")
        again = await service.create_session(app_name="app", user_id="u", session_id="one", state={"new": 1})
    with StoredDatabase.open(database) as stored:
        assert list(stored.lineages()) == [two]
        assert stored.history(again.key).state_at(-1).session == {"new": 1}
        (tree,) = fork_trees([KEY, two], stored.lineages())
        assert (tree.key, tree.exists, [child.key for child in tree.children]) == (one, False, [two])


async def test_a_session_of_another_program_with_a_forks_id_is_not_a_fork(database: str) -> None:
    fork = (await fork_session(database, KEY, Cut(session_id="f"))).key
    with closing(sqlite3.connect(database)) as connection:  # google-adk does not know our tables
        connection.execute("DELETE FROM events WHERE session_id = 'f'")
        connection.execute("""UPDATE sessions SET state = '{"k": "new"}', create_time = '2026-11-21 10:00:00.000000' WHERE id = 'f'""")
        connection.commit()
    with StoredDatabase.open(database) as stored:
        assert stored.lineages() == {}
        assert stored.history(fork).state_at(-1).session == {"k": "new"}


async def test_a_cycle_of_lineages_ends() -> None:
    one, two = SessionKey("app", "u", "one"), SessionKey("app", "u", "two")
    trees = fork_trees([one, two], {one: Lineage(two, None, None, 0, 2.0), two: Lineage(one, None, None, 0, 1.0)})
    assert [(tree.key, [child.key for child in tree.children]) for tree in trees] == [(one, [two])]


async def test_files_are_copied_with_their_versions(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    files = FileArtifactService(tmp_path / "files")
    names = {"app_name": "app", "user_id": "u", "session_id": "s"}
    async with DatabaseSessionService(path) as service:
        session = await service.create_session(**names)
        for number in range(3):
            version = await files.save_artifact(
                **names, filename="a.txt", artifact=message(f"text {number}").parts[0], custom_metadata={"n": number}
            )
            await files.save_artifact(**names, filename="user:u.txt", artifact=message("mine").parts[0])
            event = Event(
                author="me",
                invocation_id="i",
                id=f"e{number}",
                actions=EventActions(artifact_delta={"a.txt": version, "user:u.txt": number}),
            )
            await service.append_event(session, event)
    other = InMemoryArtifactService()
    for target in (None, other):
        fork = await fork_session(path, KEY, Cut(at="e1"), files=Files(files, target))
        kept = target or files
        mine = {"app_name": "app", "user_id": "u", "session_id": fork.key.session_id, "filename": "a.txt"}
        assert [found.custom_metadata for found in await kept.list_artifact_versions(**mine)] == [{"n": 0}, {"n": 1}]
        newest = await kept.load_artifact(**mine)
        assert newest is not None and newest.text == "text 1"
        assert fork.notes == []
    assert await other.list_artifact_keys(app_name="app", user_id="u") == []
    fork = await fork_session(path, KEY, Cut(at="e0"))
    assert fork.notes == ["The session's files were not copied because their location was not given: a.txt."]
    await files.delete_artifact(**names, filename="a.txt")
    fork = await fork_session(path, KEY, Cut(at="e0"), files=Files(files))
    assert fork.notes == ["These file versions no longer exist and are empty in the fork: a.txt version 0."]


async def test_a_fork_that_cannot_be_stored_leaves_files_unchanged(database: str) -> None:
    class Full(DatabaseSessionService):
        async def store_copy(self, key: SessionKey, copy: SessionCopy) -> None:
            raise StorageError("full")

    files, names = InMemoryArtifactService(), {"app_name": "app", "user_id": "u"}
    async with DatabaseSessionService(database) as service:
        session = await service.get_session(**names, session_id="s")
        assert session is not None
        await files.save_artifact(**names, session_id="s", filename="a.txt", artifact=TEXT)
        await service.append_event(session, Event(author="me", invocation_id="i", actions=EventActions(artifact_delta={"a.txt": 0})))
    await fork_session(database, KEY, Cut(session_id="f"), files=Files(files))
    with pytest.raises(AlreadyExistsError):
        await fork_session(database, KEY, Cut(session_id="f"), files=Files(files))
    assert await files.list_versions(**names, session_id="f", filename="a.txt") == [0]
    with StoredDatabase.open(database) as stored:
        past = stored.history(KEY)
    async with Full(database) as service:
        with pytest.raises(StorageError, match="full"):
            await fork_into(service, past, KEY, 1.0, Cut(session_id="g"), same_place=True, database=None, files=Files(files))
    assert await files.list_artifact_keys(**names, session_id="g") == []
