"""A sweep of crashes of an agent tree's run and of the runs that resume it, with the checks after each crash.

`Sweep` forks a process for each run, which takes milliseconds because all imports are done. So its own process must not have threads.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import re
import signal
import sqlite3
import threading
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from runtime.events import Event
from runtime.events.marks import RESUMED, is_replayed_checkpoint
from runtime.history.invocations import invocations
from tests.agent_specs import shown
from tests.crash import faults
from tests.crash.faults import InjectedCrash, Kind
from tests.crash.tree_process import FaultyService, drive, drive_with

KINDS: tuple[Kind, ...] = ("kill", "raise")
ENDED, CRASHED, FAILED, KILLED = 0, 3, 4, -9


class Left(NamedTuple):
    """The files that a process left, as bytes, and their content."""

    database: bytes
    world: bytes
    events: list[Event]
    state: dict[str, Any]

    @property
    def effects(self) -> list[dict[str, Any]]:
        """The side effects of the tools."""
        return [json.loads(line) for line in self.world.decode().splitlines()]

    def signature(self) -> str:
        """Return the state from which a resumed run starts; equal signatures lead to equal runs."""
        return _without_ids(json.dumps([_row(event) for event in self.events if not is_replayed_checkpoint(event)], sort_keys=True))


@dataclass
class Figures:
    """The numbers of runs and states."""

    runs: Counter[str] = field(default_factory=Counter)
    states: int = 0
    ran_twice: int = 0


class Sweep:
    """A sweep of one tree.

    Args:
        folder: an empty folder for this sweep.
        spec: the tree.
    """

    def __init__(self, folder: Path, spec: dict[str, Any]) -> None:
        self._folder = folder
        self._spec = spec
        self.figures = Figures()
        self._checked: set[str] = set()
        self.whole = self._uninterrupted()
        # A custom root agent without checkpoints does not record its end.
        assert invocations(self.whole.events)[0].status == ("interrupted" if spec["type"] == "plain" else "finished")

    def _uninterrupted(self) -> Left:
        """Run the tree in this process, so that forked processes find all first-time work done."""
        self._clear()
        asyncio.run(drive(self._folder, self._spec))
        gc.collect()  # the agent's thread ends with the agent, and a tree of agents is a reference cycle
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join(timeout=30)
        assert threading.active_count() == 1, [str(thread) for thread in threading.enumerate()]
        gc.freeze()
        return self._look()

    def all_crashes(self, kills: int = 2) -> None:
        """Inject a fault at every place of the run; then, from every resulting state, a kill at every place of the resumed run, and so on.

        Args:
            kills: maximum number of consecutive faults.
        """
        begin: list[Left | None] = [None]
        for depth in range(kills):
            kinds = KINDS if depth == 0 else KINDS[:1]
            found: dict[str, Left] = {}
            for left in begin:
                for kind in kinds:
                    for after in self._at_every_place(left, kind):
                        self.check_resumed(after)
                        found.setdefault(after.signature(), after)
            self.figures.states += len(found)
            begin = list(found.values())
        number = 1
        while self.resumes_in_one_process(number):
            number += 1

    def some_crashes(self, seed: int) -> None:
        """Inject a fault at a random place and another one in the resumed run, or one fault after which the same process continues.

        Args:
            seed: the random seed.
        """
        chance, places = random.Random(seed), 2 * len(self.whole.events)
        if chance.random() < 0.3:
            self.resumes_in_one_process(chance.randint(1, places))
            return
        left = self._crash(None, chance.choice(KINDS), chance.randint(1, places))
        if left is not None:
            self.check_resumed(self._crash(left, "kill", chance.randint(1, places)) or left)

    def resumes_in_one_process(self, number: int) -> bool:
        """Make the run fail at a place and resume it in the same process with the same service; return whether the place exists."""
        exit_code, after = self.run(None, "raise", number, resume=True)
        assert exit_code == ENDED, self._error()
        self._check(after, after)
        self.figures.runs["raised and resumed in one process"] += 1
        return int((self._folder / "places").read_text()) >= number

    def _at_every_place(self, left: Left | None, kind: Kind) -> list[Left]:
        found, number = [], 1
        while (after := self._crash(left, kind, number)) is not None:
            found.append(after)
            number += 1
        return found

    def _crash(self, left: Left | None, kind: Kind, number: int) -> Left | None:
        """Run with a fault; return None if the run ended before that place."""
        exit_code, after = self.run(left, kind, number)
        if exit_code == ENDED:
            self._check(after, left or after)
            return None
        self._count(exit_code)
        self._check_kept(left, after)
        return after

    def _count(self, exit_code: int) -> None:
        assert exit_code in (CRASHED, KILLED), self._error()
        self.figures.runs["killed" if exit_code == KILLED else "raised"] += 1

    def check_resumed(self, left: Left) -> None:
        """Resume the state after a crash to the end and check the result. A state that was already checked is skipped."""
        signature = left.signature()
        if signature in self._checked:
            return
        exit_code, after = self.run(left, "raise", 0)
        assert exit_code == ENDED, self._error()
        self.figures.runs["resumed to the end"] += 1
        self._check_kept(left, after)
        self._check(after, left)
        self._checked.add(signature)

    def run(self, left: Left | None, kind: Kind, number: int, *, resume: bool = False) -> tuple[int, Left]:
        """Run the tree in a separate process, and return its exit code and the files it left.

        Args:
            left: the files of an earlier process, or None.
            kind, number: the fault; number 0 means none.
            resume: resume in the same process after the fault.
        """
        self._clear()
        if left is not None:
            (self._folder / "sessions.db").write_bytes(left.database)
            (self._folder / "world").write_bytes(left.world)
        pid = os.fork()
        if pid == 0:
            os._exit(self._in_child(kind, number, resume))
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), self._look()

    def _clear(self) -> None:
        for file in self._folder.iterdir():
            file.unlink()

    def _in_child(self, kind: Kind, number: int, resume: bool) -> int:
        signal.alarm(60)  # a run that hangs fails its sweep
        try:
            faults.plan(kind, number)
            asyncio.run(self._resume_after_crash() if resume else drive(self._folder, self._spec))
            (self._folder / "places").write_text(str(faults.current.reached))
        except InjectedCrash:
            return CRASHED
        except BaseException:
            (self._folder / "error").write_text(traceback.format_exc())
            return FAILED
        return ENDED

    async def _resume_after_crash(self) -> None:
        async with FaultyService(f"sqlite:///{self._folder / 'sessions.db'}") as service:
            try:
                await drive_with(service, self._folder, self._spec)
            except InjectedCrash:
                await drive_with(service, self._folder, self._spec)

    def _error(self) -> str:
        file = self._folder / "error"
        return file.read_text() if file.exists() else "the process ended unexpectedly"

    def _look(self) -> Left:
        """Read the stored data without the runtime."""
        database, world = self._folder / "sessions.db", self._folder / "world"
        events: list[Event] = []
        state: dict[str, Any] = {}
        if database.exists():
            connection = sqlite3.connect(database)
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if "events" in tables:
                events = [Event.model_validate_json(data) for (data,) in connection.execute("SELECT event_data FROM events ORDER BY rowid")]
                state = {
                    key: value for (text,) in connection.execute("SELECT state FROM sessions") for key, value in json.loads(text).items()
                }
            connection.close()
        return Left(database.read_bytes() if database.exists() else b"", world.read_bytes() if world.exists() else b"", events, state)

    def _check_kept(self, left: Left | None, after: Left) -> None:
        """Check that nothing committed was lost, and that no tool ran that had a committed result."""
        before = left.events if left else []
        assert [event.id for event in after.events[: len(before)]] == [event.id for event in before]
        assert len({event.id for event in after.events}) == len(after.events)
        given = {response.id for event in before if event.author != "user" for response in event.get_function_responses()}
        answered = {response.id for event in after.events if event.author == "user" for response in event.get_function_responses()}
        asked = {id for event in before for id in event.actions.requested_tool_confirmations | event.actions.requested_auth_configs}
        new = after.effects[len(left.effects if left else []) :]
        for effect in new:
            assert effect["inside"] not in given or (answered and effect["inside"] in asked), f"{effect} was already done and committed"
        calls = {call.id for event in after.events for call in event.get_function_calls()}
        assert {effect["inside"] for effect in new} <= calls, "a tool ran before its call was committed"
        assert max(Counter(effect["call"] for effect in new).values(), default=0) <= 1, "a tool ran twice in one run"

    def _check(self, after: Left, before: Left) -> None:
        """Check that a run resumed to its end did the same work as the uninterrupted run."""
        assert after.state == self.whole.state
        done, wanted = Counter(_work(after.events)), Counter(_work(self.whole.events))
        assert done == wanted, f"left: {[*map(_row, before.events)]}\nmissing: {wanted - done}\ntoo much: {done - wanted}"
        assert invocations(after.events)[0].status == invocations(self.whole.events)[0].status
        changes, wanted_changes = ({(effect["tool"], effect["what"]) for effect in left.effects} for left in (after, self.whole))
        assert changes == wanted_changes
        times = Counter(effect["call"] for effect in after.effects)
        assert len(times) == len(self.whole.effects), "a call that ran again had a different id"
        self.figures.ran_twice += sum(count > 1 for count in times.values())


def _row(event: Event) -> dict[str, Any]:
    row = shown(event)
    metadata = {key: value for key, value in (event.custom_metadata or {}).items() if key != RESUMED}
    if metadata:
        row["custom_metadata"] = sorted(metadata)
    return row


def _without_ids(text: str) -> str:
    return re.sub(r"adk-[0-9a-f-]{36}", "<id>", text)


def _work(events: Sequence[Event]) -> list[str]:
    """Return the work done, in an order independent of the order of parallel branches and calls.

    Texts of a custom agent after its last checkpoint, and writes of callbacks, are repeated on resume; they count once.
    """
    rows: list[str] = []
    for event in events:
        if is_replayed_checkpoint(event):
            continue
        row = _without_ids(str(shown(event)))
        is_checkpoint = event.actions.agent_state is not None or event.actions.end_of_agent
        may_repeat = not is_checkpoint and (event.content is None or _is_from_code(event))
        if not (may_repeat and row in rows):
            rows.append(row)
    return sorted(rows)


def _is_from_code(event: Event) -> bool:
    """Return whether the event comes from a custom agent's code, not from a model, a tool or the user."""
    return event.usage_metadata is None and event.author != "user" and not event.get_function_calls() + event.get_function_responses()
