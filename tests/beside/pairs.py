"""Two things that happen to one database at the same time, and what comes of them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.end2end.api_server import ApiServer, api_server
from tests.end2end.processes import ROOT, environment

WRITERS = ("window", "second window", "child", "command", "server", "adk web")
USERS = (*WRITERS, "tail", "notes")  # have the file open, or open it
HAPPENINGS = ("a backup put in its place", "its folder made read-only", "its disk full", "another file put in its place")
PAIRS = list(combinations((*USERS, *HAPPENINGS), 2))
GOOGLE_REPLACED = ("adk web", HAPPENINGS[3])  # google-adk does not notice it: a command of ours writes there at the end
REPLACES = {HAPPENINGS[0], HAPPENINGS[3]}
AGENT = """
from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        content = types.Content(role="model", parts=[types.Part(text=ctx.user_content.parts[0].text + " done")])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


root_agent = Echo(name="echo")
"""


@dataclass
class Said:
    """What one user of the file did, and the messages it got.

    Attributes:
        committed: the texts of its writes that were reported as committed, by step.
        told: the sentences, by step; the file is named FILE.
        read: the texts that it read, by step; a note's for `notes`.
    """

    committed: dict[int, str] = field(default_factory=dict)
    told: dict[int, str] = field(default_factory=dict)
    read: dict[int, list[str]] = field(default_factory=dict)


@dataclass
class Seen:
    """What came of a pair.

    Attributes:
        said: what each user of the file did, and the messages it got.
        stored: the session's texts at the end.
        is_whole: whether SQLite finds the file undamaged.
    """

    said: dict[str, Said]
    stored: list[str]
    is_whole: bool


class Host:
    """A process that has databases open; see `tests.beside.host`."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(), cwd=ROOT
        )

    def ask(self, place: Place, way: str, action: str, argument: str = "") -> dict[str, Any]:
        """Ask the process to do something, and return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(place.folder), str(place.file), way, action, argument]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process has ended"
        found: dict[str, Any] = json.loads(answer)
        return found

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=60)


class Server:
    """A real `agent-inspector api_server`, asked in the same way."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server

    def ask(self, place: Place, _way: str, action: str, argument: str = "") -> dict[str, Any]:
        """Send a request; see `Host.ask`."""
        name = place.folder.name
        if action == "write":
            body = {"app_name": name, "user_id": "u", "session_id": "s", "new_message": {"role": "user", "parts": [{"text": argument}]}}
            answer = self._server.ask("POST", "/run", body)
        elif action == "read":
            answer = self._server.ask("GET", f"/apps/{name}/users/u/sessions/s")
        else:
            return {"done": None}
        if answer.status != 200:
            return {"told": answer.json["detail"] if answer.text.startswith("{") else answer.text}
        events = answer.json["events"] if action == "read" else []
        return {"done": [part["text"] for event in events for part in event.get("content", {}).get("parts", [])]}


@dataclass(frozen=True)
class Place:
    """An agent's folder and its database, which are a pair's own."""

    folder: Path

    @property
    def file(self) -> Path:
        """The database."""
        return self.folder / ".adk" / "session.db"

    @property
    def backup(self) -> Path:
        """A copy of the database from before."""
        return self.folder / "backup.db"

    @property
    def other(self) -> Path:
        """Another database, with a session of the same name."""
        return self.folder / "other.db"


class Hosts:
    """The processes that the pairs share, and a folder for each pair.

    Args:
        folder: an empty folder.
        google: a Python with google-adk.
    """

    def __init__(self, folder: Path, google: str) -> None:
        self._stack = ExitStack()
        self.places = {pair: Place(folder / f"p{number}") for number, pair in enumerate(PAIRS)}
        for place in self.places.values():
            (place.folder / ".adk").mkdir(parents=True)
            (place.folder / "agent.py").write_text(AGENT, "utf-8")
        server = Server(self._stack.enter_context(api_server(folder)))
        ours, theirs = (Host(sys.executable, "-m", "tests.beside.host") for _ in range(2))
        web = Host(google, str(Path(__file__).with_name("google_host.py")))
        for host in (ours, theirs, web):
            self._stack.callback(host.close)
        self._hosts: dict[str, Any] = dict.fromkeys(USERS, ours) | {
            "second window": theirs,
            "child": theirs,
            "server": server,
            "adk web": web,
        }

    def ask(self, place: Place, way: str, action: str, argument: str = "") -> dict[str, Any]:
        """See `Host.ask`."""
        answer: dict[str, Any] = self._hosts[way].ask(place, way, action, argument)
        if "told" in answer:
            told = " ".join(str(answer["told"]).split())
            answer["told"] = (
                told.replace(str(place.file), "FILE").replace(str(place.file.parent), "FOLDER").removeprefix("agent-inspector: ")
            )
        return answer

    def close(self) -> None:
        """End the processes."""
        self._stack.close()


async def observe(hosts: Hosts, pair: tuple[str, str]) -> Seen:
    """Let both happen at the same time: before, in the middle, and after what is no user of the file is undone."""
    place = hosts.places[pair]
    happenings = sorted((each for each in pair if each in HAPPENINGS), key=lambda each: each != "its disk full")
    users = [each for each in pair if each in USERS] or ["command"]
    with ExitStack() as stack:
        if "its disk full" in pair:
            stack.enter_context(small_disk(place.file.parent))
        await _fill(place)
        said = {user: Said() for user in users}
        for user in users:
            _note(said[user], 0, hosts.ask(place, user, "open"))
        for step in (1, 2, 3):
            if step == 2:
                undone = [stack.enter_context(_happen(each, place)) for each in happenings]
            if step == 3:
                for undo in reversed(undone):
                    undo()
            for user in users:
                _use(hosts, place, user, step, said[user])
            for user in users:
                _read(hosts, place, user, step, said[user])
        if pair == GOOGLE_REPLACED:
            hosts.ask(place, "command", "open")
            _use(hosts, place, "command", 4, said.setdefault("command", Said()))
        for user in users:
            _note(said[user], 4, hosts.ask(place, user, "close"))
        stored, is_whole = _stored(place)
    return Seen(said, stored, is_whole)


def _use(hosts: Hosts, place: Place, user: str, step: int, said: Said) -> None:
    if user == "tail":
        return
    text = f"{user} {step}"
    answer = hosts.ask(place, user, "write", text)
    _note(said, step, answer)
    if "told" not in answer:
        said.committed[step] = text


def _read(hosts: Hosts, place: Place, user: str, step: int, said: Said) -> None:
    answer = hosts.ask(place, user, "read")
    _note(said, step, answer)
    if "told" not in answer:
        said.read[step] = answer["done"]


def _note(said: Said, step: int, answer: dict[str, Any]) -> None:
    assert not answer.get("is_unknown"), answer["told"]
    if "told" in answer:
        said.told.setdefault(step, answer["told"])


async def _fill(place: Place) -> None:
    for file, name, text in ((place.file, "first", "first"), (place.other, "other", "of the other file")):
        async with DatabaseSessionService(f"sqlite:///{file}") as service:
            session = await service.create_session(app_name=place.folder.name, user_id="u", session_id="s")
            event = Event(id=name, author="user", invocation_id="i", content={"role": "user", "parts": [{"text": text}]})  # type: ignore[arg-type]
            await service.append_event(session, event)
    shutil.copy(place.file, place.backup)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Make a folder a disk of two megabytes."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def _happen(happening: str, place: Place) -> Iterator[Any]:
    """Let something happen to the file, and yield what undoes it."""
    folder = place.file.parent
    ballast = folder / "ballast"

    def undo() -> None:
        if happening == "its folder made read-only":
            subprocess.run(["chattr", "-i", str(folder)], check=True)
        ballast.unlink(missing_ok=True)

    if happening == "its folder made read-only":
        subprocess.run(["chattr", "+i", str(folder)], check=True)
    elif happening == "its disk full":
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * 4096):
                pass
    else:
        copy = place.backup if happening.startswith("a backup") else place.other
        with suppress(OSError):  # which the shell reports to the person
            if copy.stat().st_dev == folder.stat().st_dev:
                copy.replace(place.file)
            else:
                shutil.copy(copy, place.file)
    try:
        yield undo
    finally:
        undo()


def _stored(place: Place) -> tuple[list[str], bool]:
    with closing(sqlite3.connect(place.file)) as connection:
        is_whole = connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with StoredDatabase.open(str(place.file)) as database:
        events: Sequence[Event] = database.events(SessionKey(place.folder.name, "u", "s"))
    return [part.text or "" for event in events for part in (event.content.parts if event.content else None) or []], is_whole
