"""The writers of a state key: every event that wrote it, which parallel writes overwrote each other, and which prompts read it.

Pure functions; `StoredDatabase.writes` and `writes_of` collect the writes. A tool's write is in the delta of the event with its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runtime.history.agent_tree import AgentTree
from runtime.history.placeholders import keys_in
from runtime.history.state_at import History
from runtime.history.turn_writes import credited, turns_of
from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event


@dataclass(frozen=True, slots=True)
class Write:
    """One write of one key.

    Attributes:
        session: the session of the event.
        event_id: the event; None: the session's creation.
        author: the agent, `user`, or `system` for a manual edit; empty for a creation.
        branch: the agent's branch.
        tools: names of the tools that wrote it, of those whose results the event carries.
        perhaps: names of such tools one of which wrote it, where it is not known which.
        invocation_id: the event's invocation.
        timestamp: epoch seconds; 0.0 for a creation.
        before, after: the values; `before` is None where `known` is False.
        known: whether the earlier value is recorded, or its absence is (then `is_new`).
        is_new: whether the key did not exist before.
        parallel: event ids of writes to this key by agents that ran in parallel and do not see each other; the last write won.
    """

    session: SessionKey
    event_id: str | None
    author: str
    branch: str | None
    tools: tuple[str, ...]
    invocation_id: str
    timestamp: float
    before: Any
    after: Any
    known: bool = True
    is_new: bool = False
    parallel: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()

    @property
    def tool_text(self) -> str:
        """The tools that wrote it, or that may have; empty if no tool did."""
        return ", ".join(self.tools) or " or ".join(self.perhaps)


@dataclass(frozen=True, slots=True)
class Reading:
    """A model call with the key's value in its instruction.

    Attributes:
        event_id: the event of the model's answer.
        index: the event's index in the session.
        agent: the agent whose instruction names the key.
        write: the index, in the list of writes, of the write whose value it read; None: a write of another session, or before all of them.
    """

    event_id: str
    index: int
    agent: str
    write: int | None


def write_by(event: Event, key: SessionKey, turns: Mapping[str, Sequence[types.FunctionCall]], before: Any, after: Any) -> Write:
    """Return an event's write of a state key; whether the earlier value is known is not decided here.

    Args:
        event: the event that wrote it.
        key: the event's session.
        turns: the session's turns, from `turns_of`.
        before, after: the earlier value, None if it is not known, and the one it wrote.
    """
    tools, perhaps = credited(event, turns, before, after)
    about = (event.author, event.branch, tools, event.invocation_id, event.timestamp)
    return Write(key, event.id, *about, before, after, known=False, perhaps=perhaps)


def writes_of(history: History, key: SessionKey, name: str) -> list[Write]:
    """Return a session's own writes of a state key, oldest first.

    Args:
        history: the session's history.
        key: the session.
        name: the key with its scope prefix; `temp:` keys only where they were recorded.
    """
    writes = []
    if history.baseline is not None and name in history.baseline:
        writes.append(Write(key, None, "", None, (), "", 0.0, None, history.baseline[name], is_new=True))
    changes = list(history.changes_of(name))
    turns = turns_of(history.events) if changes else {}
    for index, change in changes:
        known, is_new = change.kind != "written", change.kind == "added"
        writes.append(replace(write_by(history.events[index], key, turns, change.before, change.after), known=known, is_new=is_new))
    return with_parallel(writes)


def in_order(writes: Iterable[Write], *, complete: bool) -> list[Write]:
    """Return the writes of a shared key, each with the value that it overwrote.

    Args:
        writes: in commit order.
        complete: whether the first of them is known to be the first ever.
    """
    found: list[Write] = []
    for write in writes:
        last = found[-1] if found else None
        if last is not None:
            write = replace(write, before=last.after, known=True)
        elif complete:
            write = replace(write, known=True, is_new=True)
        found.append(write)
    return with_parallel(found)


def with_parallel(writes: Sequence[Write]) -> list[Write]:
    """Return the writes with those marked that agents made in parallel without seeing each other."""
    by_invocation: dict[tuple[SessionKey, str], list[Write]] = {}
    for write in writes:
        if write.branch is not None:
            by_invocation.setdefault((write.session, write.invocation_id), []).append(write)
    return [
        replace(write, parallel=tuple(other.event_id or "" for other in together if are_parallel(write.branch, other.branch)))
        if (together := by_invocation.get((write.session, write.invocation_id))) and write.branch is not None
        else write
        for write in writes
    ]


def are_parallel(branch: str | None, other: str | None) -> bool:
    """Return whether agents on two branches of one invocation do not see each other's events."""
    if branch is None or other is None or branch == other:
        return False
    return not (branch.startswith(other + ".") or other.startswith(branch + "."))


def reading_agents(root: AgentTree, name: str) -> dict[str, bool]:
    """Return the agents whose instruction may read a state key: True if it names the key, False if a function builds it.

    Args:
        root: the root of the agent tree.
        name: the state key.
    """
    found: dict[str, bool] = {}
    for agent in (root, *root.descendants()):
        if not hasattr(agent, "instruction"):
            continue
        instructions = [agent.instruction, getattr(root, "global_instruction", "")]
        named = any(isinstance(text, str) and name in keys_in(text) for text in instructions)
        if named or not all(isinstance(text, str) for text in instructions):
            found[agent.name] = named
    return found


def readings_of(history: History, root: AgentTree, name: str, writes: Sequence[Write]) -> list[Reading]:
    """Return a session's model calls with the key's value in their instruction, in order.

    Args:
        history: the session's history.
        root: the agent tree.
        name: the state key.
        writes: the key's writes, as returned by `writes_of` or `StoredDatabase.writes`.
    """
    agents = {agent for agent, named in reading_agents(root, name).items() if named}
    numbers = {write.event_id: number for number, write in enumerate(writes)}
    found = []
    for index, event in enumerate(history.events):
        if event.author not in agents or event.get_function_responses() or not event.content or not event.content.parts:
            continue
        found.append(Reading(event.id, index, event.author, _write_seen(history, name, index - 1, numbers)))
    return found


def _write_seen(history: History, name: str, index: int, numbers: dict[str | None, int]) -> int | None:
    writer = history.writers_at(index).get(name)
    if writer is None:
        return numbers.get(None)
    return numbers.get(history.events[writer].id) if writer >= 0 else None
