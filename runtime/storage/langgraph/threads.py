"""A thread's checkpoints and writes as events: one for each task of a superstep, or for each message that it wrote.

A task's writes are stored with the checkpoint that it ran on; the next checkpoint has the values that the reducers made of them.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from runtime.storage.langgraph.messages import (
    REMOVE_ALL,
    Message,
    are_messages,
    as_message,
    is_conversation,
    model_of,
    parts_of,
    usage_of,
    written_messages,
)
from runtime.storage.langgraph.values import Typed, channel_value, is_same, plain

ASKS = "interrupt"  # the function call of an interrupt: LangGraph's name of the function that a node calls
GRAPH = "graph"  # author of changes that no task is known to have made
_NO_TASK = "00000000-0000-0000-0000-000000000000"  # of `Command(resume=…)` and `Command(update=…)`
_ERROR, _INTERRUPT, _RESUME, _RETURN, _END, _PREVIOUS = "__error__", "__interrupt__", "__resume__", "__return__", "__end__", "__previous__"
_MARKS = (_ERROR, _INTERRUPT, _RESUME, "__scheduled__")  # writes of a task that has not finished
_EDITS = ("update", "fork")
_PULL, _PUSH, _EDITED = "~__pregel_pull, ", "~__pregel_push, ", "~__interrupt__"
_EXCEPTION = re.compile(r"([A-Za-z_][\w.]*)\(.*\)\Z", re.DOTALL)
_JOIN = re.compile(r"join:.+:.+", re.DOTALL)
_MISSING: Any = object()
_HOW = "Only the graph's own code can answer: invoke it with Command(resume=…)."
_KEPT = 32  # checkpoints whose content is kept in memory


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A checkpoint without its content.

    Attributes:
        ns: the graph's place: empty for the outer graph.
        id, parent: ids in the same place.
        source: `input`, `loop`, `update` or `fork`.
        parents: outer place → checkpoint in which this graph runs.
        deltas: delta channels with writes since their last snapshot.
    """

    ns: str
    id: str
    parent: str | None
    source: str
    parents: Mapping[str, str]
    deltas: frozenset[str] = frozenset()


class Write(NamedTuple):
    """A value that a task wrote."""

    task: str
    path: str | None
    channel: str
    value: Any


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a checkpoint.

    Attributes:
        time: epoch seconds.
        channels: channel → value, see `channel_value`.
        seen: node → versions of the channels that it has seen.
        sends: the tasks that were sent to nodes.
        problem: why it cannot be read, as the rest of a sentence after "it"; None if it can.
    """

    time: float
    channels: Mapping[str, Any]
    seen: Mapping[str, Any]
    sends: Sequence[Any] = ()
    problem: str | None = None


@dataclass(slots=True)
class _Step:
    """The events of one step of the outer graph, and what they showed so far.

    Attributes:
        is_last: whether the thread's newest checkpoint is that of the step.
        is_open: whether its events may still change, which their ids tell.
        shown: message id → what a person saw of it.
        asked: id of an interrupt, or its value if it has none → the place of its graph.
        touched: state keys that inner graphs wrote.
        state: the outer graph's state as far as the events have written it.
    """

    invocation: str
    is_last: bool
    is_open: bool = False
    events: list[dict[str, Any]] = field(default_factory=list)
    shown: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    state: dict[str, Any] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=dict)
    counts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def emit(
        self,
        place: Checkpoint,
        task: str,
        time: float,
        author: str,
        parts: list[dict[str, Any]] | None = None,
        delta: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """Add an event and return it."""
        name = f"{place.id}-{task[:8]}{'-open' if self.is_open else ''}"
        number = self.counts[name]
        self.counts[name] += 1
        event: dict[str, Any] = {
            "id": f"{name}-{number}" if number else name,
            "invocation_id": self.invocation,
            "author": author,
            "timestamp": time,
            "actions": {"state_delta": {}},
            **{name: value for name, value in fields.items() if value},
        }
        if parts:
            event["content"] = {"role": "user" if author == "user" else "model", "parts": parts}
        if place.ns:
            event["branch"] = place.ns
        self.events.append(event)
        self.add_delta(event, place, delta or {})
        return event

    def add_delta(self, event: dict[str, Any], place: Checkpoint, delta: Mapping[str, Any]) -> None:
        """Add to the state delta of an event; the outer graph's next one takes back what inner graphs wrote."""
        if place.ns:
            self.touched.update(delta)
        else:
            back = {key: self.state.get(key) for key in self.touched}
            delta = {**self.first, **back, **delta}
            self.touched.clear()
            self.first = {}
            self.state.update(delta)
        event["actions"]["state_delta"].update(delta)


class Thread:
    """One thread.

    Args:
        checkpoints: all its checkpoints.
        content: returns the content of one.
        writes: returns the writes on one, in the order in which the reducers take them.
    """

    def __init__(
        self, checkpoints: Iterable[Checkpoint], content: Callable[[Checkpoint], Content], writes: Callable[[Checkpoint], list[Write]]
    ) -> None:
        self._content = lru_cache(_KEPT)(content)
        self._writes = lru_cache(_KEPT)(writes)
        self._value = lru_cache(_KEPT * 8)(self._read_value)
        self._names = lru_cache(_KEPT)(self._read_names)
        self._messages = lru_cache(_KEPT * 8)(self._read_messages)
        self._shown = lru_cache(_KEPT * 8)(self._plain_value)
        self._folded: dict[tuple[str, str, str], Any] = {}
        self.all = {(each.ns, each.id): each for each in checkpoints}
        self._inner: defaultdict[tuple[str, str], defaultdict[str, list[Checkpoint]]] = defaultdict(lambda: defaultdict(list))
        for each in sorted(self.all.values(), key=lambda each: each.id):
            if each.ns:
                outer = max(each.parents, key=len, default="")
                self._inner[outer, each.parents.get(outer, "")][each.ns].append(each)

    def leaves(self) -> list[Checkpoint]:
        """Return the outer graph's checkpoints that no other one follows, the newest first. The newest of all is always among them."""
        outer = sorted((each for each in self.all.values() if not each.ns), key=lambda each: each.id)
        parents = {each.parent for each in outer[:-1] if each.parent != each.id}
        return [*outer[-1:], *(each for each in outer[-2::-1] if each.id not in parents and each.id != outer[-1].parent)]

    def chain(self, last: Checkpoint | None, within: Iterable[Checkpoint] | None = None) -> list[Checkpoint]:
        """Return a checkpoint and its ancestors, the oldest first.

        Args:
            last: the checkpoint; None: the result is empty.
            within: stop at an ancestor that is not among these.
        """
        found: dict[str, Checkpoint] = {}
        allowed = None if within is None else {each.id for each in within}
        while last is not None and last.id not in found and (allowed is None or last.id in allowed):
            found[last.id] = last
            last = self._parent(last)
        return [*found.values()][::-1]

    def steps(self, chain: Sequence[Checkpoint], first: int = 0) -> Iterator[list[dict[str, Any]]]:
        """Yield the events of each step of the outer graph.

        Args:
            chain: the outer graph's checkpoints, the oldest first.
            first: index of the first step.
        """
        begun = next((place for place in range(first, -1, -1) if place < len(chain) and is_begin(chain, place)), 0)
        for index in range(first, len(chain)):
            here = chain[index]
            begun = index if is_begin(chain, index) else begun
            step = _Step(chain[begun].id, index + 1 == len(chain))
            for messages in self._message_channels(here).values():
                step.shown.update({message.id: message.look for message in messages if message.id})
            before = chain[index - 1] if index else None
            step.state = {**self.values(before)} if before is not None else {}
            self._enter(step, here, before)
            step.state = {**step.state, **self.values(here)}
            step.is_open = step.is_last
            self._run_tasks(step, here, chain[index + 1] if index + 1 < len(chain) else None)
            yield step.events

    def values(self, place: Checkpoint) -> dict[str, Any]:
        """Return a checkpoint's values as JSON data, without channels of messages and of LangGraph's own."""
        found = {name: self._shown(place, name) for name in self._names(place)}
        return {name: value for name, value in found.items() if value is not _MISSING}

    def time(self, place: Checkpoint) -> float:
        """Return a checkpoint's time in epoch seconds."""
        return self._content(place).time

    def problem(self, place: Checkpoint) -> str | None:
        """Return why a checkpoint cannot be read; None if it can."""
        return self._content(place).problem

    def _parent(self, place: Checkpoint) -> Checkpoint | None:
        return self.all.get((place.ns, place.parent)) if place.parent is not None else None

    # Channels

    def _read_names(self, place: Checkpoint) -> list[str]:
        """Return the channels of the state."""
        content = self._content(place)
        names = [name for name, value in content.channels.items() if not _is_own(name, value, content.seen)]
        return [*names, *sorted(place.deltas - content.channels.keys())]

    def _read_value(self, place: Checkpoint, name: str) -> Any:
        """Return a channel's value in a checkpoint; `_MISSING` if it has none."""
        value = self._content(place).channels.get(name, _MISSING)
        if value is _MISSING:
            return self._fold_back(place, name) if name in place.deltas else _MISSING
        value = channel_value(value)
        return value.value if isinstance(value, Typed) and value.is_snapshot else value

    def _plain_value(self, place: Checkpoint, name: str) -> Any:
        """Return a channel's value as JSON data; `_MISSING` if it has none, or messages."""
        value = self._value(place, name)
        return _MISSING if value is _MISSING or are_messages(value) else plain(value)

    def _fold_back(self, place: Checkpoint, name: str) -> Any:
        """Return a delta channel's value: the nearest ancestor's snapshot with the writes since."""
        path: list[Checkpoint] = []
        node: Checkpoint | None = place
        value: Any = _MISSING
        seen: set[str] = set()
        while node is not None and node.id not in seen:
            seen.add(node.id)
            if (node.ns, node.id, name) in self._folded:
                value = self._folded[node.ns, node.id, name]
                break
            if name in self._content(node).channels:
                value = self._value(node, name)
                break
            path.append(node)
            node = self._parent(node)
        for node in reversed(path):
            before = self._parent(node)
            if before is not None and node.source != "input":
                is_edit = node.source in _EDITS
                for write in self._writes(before):
                    if write.channel == name and (write.path or "").startswith(_EDITED) == is_edit:
                        value = _fold(value, write.value)
        if len(self._folded) > _KEPT:
            self._folded.clear()
        self._folded[place.ns, place.id, name] = value
        return value

    def _read_messages(self, place: Checkpoint | None, name: str) -> list[Message] | None:
        """Return the messages in a channel; None if it has something else."""
        value = self._value(place, name) if place is not None else _MISSING
        return [message for item in value if (message := as_message(item))] if are_messages(value) else None

    def _message_channels(self, place: Checkpoint | None) -> dict[str, list[Message]]:
        names = self._names(place) if place is not None else ()
        return {name: messages for name in names if (messages := self._messages(place, name)) is not None}

    def _changes(self, before: Checkpoint | None, after: Checkpoint) -> dict[str, Any]:
        """Return the changed values as JSON data; None for a removed one. Channels of messages are left out."""
        old = self._content(before).channels if before is not None else {}
        new = self._content(after).channels
        changed: dict[str, Any] = {}
        for name in self._names(after):
            if name in old and name in new and is_same(old[name], new[name]):
                continue
            value = self._shown(after, name)
            earlier = self._shown(before, name) if before is not None else _MISSING
            if value is not _MISSING and (earlier is _MISSING or earlier != value):
                changed[name] = value
        if before is not None and self._content(after).problem is None:
            for name in self._names(before):
                if self._value(after, name) is _MISSING and self._shown(before, name) is not _MISSING:
                    changed[name] = None
        return changed

    # Steps

    def _enter(self, step: _Step, place: Checkpoint, before: Checkpoint | None) -> None:
        """Add the events of a checkpoint that no task led to: an edit, or the first one that is known."""
        content = self._content(place)
        if content.problem is not None:
            reason = f"Checkpoint {place.id} {content.problem}."
            step.emit(place, "read", content.time, GRAPH, error_code="UNREADABLE_CHECKPOINT", error_message=reason)
        if place.source in _EDITS:
            self._show_changes(step, place, before, "user", {"source": place.source, "from": place.parent})
        elif before is None and place.source == "input":
            given = self.values(place).items() if not place.ns else ()
            step.first = {name: value for name, value in given if value not in (None, "", 0, [], {}, False)}
        elif before is None and content.problem is None:
            self._show_changes(step, place, None, GRAPH, None)

    def _show_changes(self, step: _Step, place: Checkpoint, before: Checkpoint | None, author: str, edit: Mapping[str, Any] | None) -> None:
        """Add events for the changes of a checkpoint that no task is known to have made."""
        time, event = self._content(place).time, None
        known = self._message_channels(before)
        step.shown.update({message.id: message.look for messages in known.values() for message in messages if message.id})
        for name, messages in self._message_channels(place).items():
            for message in self._unseen(step, messages, known.get(name, []), None) if edit is None or known.get(name) != messages else ():
                who = "user" if message.kind == "human" or edit is not None else author
                event = step.emit(place, "edit", time, who, parts_of(message), **({} if edit else _model_fields(message)))
        delta = self._changes(before, place)
        if event is not None and event["author"] == author:
            step.add_delta(event, place, delta)
        elif delta or edit is not None:
            event = step.emit(place, "edit", time, author, None, delta)
        if event is not None and edit is not None:
            event["custom_metadata"] = {"langgraph": dict(edit)}

    def _run_tasks(self, step: _Step, place: Checkpoint, after: Checkpoint | None) -> None:
        """Add the events of the tasks that ran on a checkpoint."""
        flows = after is None or after.source == "loop"
        following = after if after is not None and flows else None
        changed = self._changes(place, following) if following is not None else {}
        inner = dict(self._inner.get((place.ns, place.id), {}))
        tasks = self._tasks(place)
        command = tasks.pop(_NO_TASK, [])
        given = [write for write in command if write.channel not in _MARKS]
        if given:
            tasks = {_NO_TASK: given, **tasks}
        answers = [write.value for write in command if write.channel == _RESUME]
        running = _Running(place, following, changed, flows)
        last: dict[str, Any] | None = None
        for task, writes in tasks.items():
            node = self._node(place, following, task, writes)
            prefix = f"{place.ns}|" if place.ns else ""
            for ns in [ns for ns in inner if _is_of(ns, f"{prefix}{node}", f"{prefix}{node}:{task}")]:
                self._run_inner(step, inner.pop(ns))
            last = self._show_task(step, running, task, node, writes, answers) or last
        for ns, runs in inner.items():  # their task wrote nothing: it was killed, or still runs
            self._run_inner(step, runs)
            if not place.ns and step.touched:
                step.emit(place, "inner", self._content(place).time, ns.partition("|")[0].partition(":")[0])
        if following is not None:
            self._show_rest(step, running, last)

    def _tasks(self, place: Checkpoint) -> dict[str, list[Write]]:
        """Return the writes on a checkpoint by task, without those of edits."""
        tasks: dict[str, list[Write]] = {}
        for write in self._writes(place):
            if not (write.path or "").startswith(_EDITED):
                tasks.setdefault(write.task, []).append(write)
        return tasks

    def outcome(self, chain: Sequence[Checkpoint], last: int) -> tuple[Literal["finished", "unfinished"], str]:
        """Return how a run ended, and a phrase that explains it.

        Args:
            chain: see `steps`.
            last: index of the run's last checkpoint.
        """
        place = chain[last]
        if (problem := self._content(place).problem) is not None:
            return "unfinished", f"its last checkpoint {problem}"
        failed, done = [], self._done(place)
        for task, writes in self._tasks(place).items():
            errors = [write.value for write in writes if write.channel == _ERROR]
            if errors and not _is_finished(writes):
                failed.append(f"{self._node(place, None, task, writes)} failed with {_error(errors[0])[0]}")
        waiting = [name for name in self._next(place) if name not in done]
        if not failed and not waiting:
            return "finished", "the graph reached its end"
        reasons = failed or [f"stopped before {', '.join(waiting)}"]
        if last + 1 < len(chain):
            reasons.append("the thread continues without it")
        elif done:
            reasons.append(f"a resume does not run {', '.join(done)} again")
        return "unfinished", "; ".join(reasons)

    def _done(self, place: Checkpoint) -> list[str]:
        """Return the nodes that have finished on a checkpoint: a resume does not run them again."""
        tasks = [(task, writes) for task, writes in self._tasks(place).items() if task != _NO_TASK and _is_finished(writes)]
        return list(dict.fromkeys(self._node(place, None, task, writes) for task, writes in tasks))

    def _next(self, place: Checkpoint) -> list[str]:
        """Return the nodes that run next, as far as the channels tell."""
        content = self._content(place)
        found = ["__start__"] if "__start__" in content.channels else []
        for name, value in content.channels.items():
            kind, _, rest = name.partition(":")
            if kind in ("branch", "start") and rest and _is_own(name, value, content.seen):
                found.append(rest.removeprefix("to:") if name.startswith("branch:to:") else rest.rpartition(":")[2])
            elif kind == "join" and _is_own(name, value, content.seen):
                names, _, node = rest.rpartition(":")
                arrived = plain(channel_value(value))
                if isinstance(arrived, list) and {*names.split("+")} <= {*map(str, arrived)}:
                    found.append(node)
        sent = [self._sent(place, number) for number in range(len(content.sends))]
        return list(dict.fromkeys(found + sent))

    def _sent(self, place: Checkpoint, number: int) -> str:
        sends = self._content(place).sends
        found = sends[number] if number < len(sends) else None
        value = found.value if isinstance(found, Typed) else found
        first = value.get("node") if isinstance(value, dict) else value[0] if isinstance(value, list) and value else None
        return first if isinstance(first, str) else GRAPH

    def _run_inner(self, step: _Step, runs: Sequence[Checkpoint]) -> None:
        chain = self.chain(runs[-1], runs)
        for index, place in enumerate(chain):
            self._enter(step, place, self._parent(place))
            self._run_tasks(step, place, chain[index + 1] if index + 1 < len(chain) else None)

    def _show_rest(self, step: _Step, running: _Running, last: dict[str, Any] | None) -> None:
        """Show what changed without a task that wrote it."""
        after, place = running.after, running.place
        assert after is not None
        author, time = self._ran(place, after), self._content(after).time
        for name, messages in self._message_channels(after).items():
            for message in self._unseen(step, messages, self._messages(place, name) or [], None):
                who = "user" if message.kind == "human" else author
                event = step.emit(place, "rest", time, who, parts_of(message), **_model_fields(message))
                last = event if who != "user" else last
        if running.changed:
            if last is None:
                step.emit(place, "rest", time, author, None, running.changed)
            else:
                step.add_delta(last, place, running.changed)

    def _ran(self, place: Checkpoint, after: Checkpoint) -> str:
        """Return the node that ran between two checkpoints; `GRAPH` if there were several."""
        old, new = self._content(place).seen, self._content(after).seen
        ran = [name for name, versions in new.items() if not name.startswith("__") and old.get(name) != versions]
        return ran[0] if len(ran) == 1 else GRAPH

    def _node(self, place: Checkpoint, after: Checkpoint | None, task: str, writes: Sequence[Write]) -> str:
        """Return the name of a task's node."""
        path = next((write.path for write in writes if write.path), "")
        if task == _NO_TASK:
            return "__start__"
        if path.startswith(_PULL):
            return path.removeprefix(_PULL)
        if path.startswith(_PUSH + _PULL):  # a task of the functional API
            return path.removeprefix(_PUSH + _PULL).partition(", ")[0]
        content = self._content(place)
        if path.startswith(_PUSH):
            number = path.removeprefix(_PUSH).partition(", ")[0]
            return self._sent(place, int(number)) if number.isdigit() else GRAPH
        # 2024: a task also writes the channel that is named as its node.
        for write in writes:
            if write.channel.startswith("start:"):
                return "__start__"
            if write.value == write.channel:
                return write.channel
        waiting = [name for name, value in content.channels.items() if _is_own(name, value, content.seen) and ":" in name]
        done = {write.channel for write in self._writes(place) if write.value == write.channel}
        names = list(dict.fromkeys(name.rpartition(":")[2] for name in waiting))
        left = [name for name in names if name not in done]
        return left[0] if len(left) == 1 else self._ran(place, after) if after is not None else GRAPH

    def _show_task(
        self, step: _Step, running: _Running, task: str, node: str, writes: Sequence[Write], given: Sequence[Any]
    ) -> dict[str, Any] | None:
        """Add a task's events, and return the one with its state delta."""
        place, after = running.place, running.after
        author = "user" if node == "__start__" else node
        time = self._content(after or place).time
        is_finished = _is_finished(writes)
        self._ask(step, place, task, author, writes, given)
        for write in writes:
            if write.channel == _ERROR:
                code, text = _error(write.value)
                step.emit(place, task, time, author, error_code=code, error_message=text)
        if not is_finished:
            if step.touched and not place.ns:
                step.emit(place, task, time, author)
            return None
        delta, messages = self._written(step, running, writes)
        last: dict[str, Any] | None = None
        for parts, who, fields in messages:
            event = step.emit(place, task, time, author if who is None else who, parts, **fields)
            last = event if event["author"] == author else last
        if last is None and node == "__start__" and place.ns and not delta:
            return None  # what an inner graph was given, and is shown already
        if last is None:
            last = step.emit(place, task, time, author, None, delta)
        else:
            step.add_delta(last, place, delta)
        if not running.flows:
            last["custom_metadata"] = {"langgraph": {"not_applied": "The graph continued from this checkpoint without these writes."}}
        return last

    def _written(
        self, step: _Step, running: _Running, writes: Sequence[Write]
    ) -> tuple[dict[str, Any], list[tuple[list[dict[str, Any]], str | None, dict[str, Any]]]]:
        """Return a task's state delta, and the parts, another author and the fields of each of its messages."""
        place, after = running.place, running.after
        content = self._content(place)
        delta: dict[str, Any] = {}
        shown: list[tuple[list[dict[str, Any]], str | None, dict[str, Any]]] = []
        for write in writes:
            name, value = write.channel, write.value
            if name in (_RETURN, _END):
                text = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
                shown.append(([{"text": text}], None, {}))
                continue
            if _is_own(name, value, content.seen) or (write.path is None and value == name):
                continue
            before, result = self._messages(place, name), self._messages(after, name)
            messages = written_messages(value, in_channel=bool(before or result))
            if messages is not None:
                unseen = self._unseen(step, messages, before or [], result)
                shown += [
                    (parts, "user" if message.kind == "human" else None, _model_fields(message) if running.flows else {})
                    for message in unseen
                    if (parts := parts_of(message))
                ]
                if before or result or after is None:
                    continue
            if not running.flows:
                continue
            if after is None or self._content(after).problem is not None:
                delta[name] = _overwritten(value)
            elif (stored := self._shown(after, name)) is not _MISSING:
                delta[name] = stored
            running.changed.pop(name, None)
        return delta, shown

    def _unseen(
        self, step: _Step, written: Sequence[Message], before: Sequence[Message], result: Sequence[Message] | None
    ) -> list[Message]:
        """Return the messages that are new, or look different than before."""
        known = {message.id: message.look for message in before if message.id}
        stored = {message.id: message for message in result or () if message.id}
        found = []
        for message in written:
            if message.kind == "remove" or message.id == REMOVE_ALL:
                continue
            if message.id is None:
                message = next(
                    (
                        each
                        for name, each in stored.items()
                        if name not in known and name not in step.shown and each.look[:2] == message.look[:2]
                    ),
                    message,
                )
            elif message.is_raw:
                message = stored.get(message.id, message)
            if message.id is not None:
                if message.look in (known.get(message.id), step.shown.get(message.id)):
                    continue
                step.shown[message.id] = message.look
            elif result is None and any(message.look == each.look for each in before):
                continue
            found.append(message)
        return found

    def _ask(self, step: _Step, place: Checkpoint, task: str, author: str, writes: Sequence[Write], given: Sequence[Any]) -> None:
        """Add the questions that a task asked, with the answers that it got."""
        time, is_finished = self._content(place).time, _is_finished(writes)
        questions = [item for write in writes if write.channel == _INTERRUPT for item in _items(write.value)]
        answers = [item for write in writes if write.channel == _RESUME for item in _items(write.value)]
        asked: list[tuple[str, Any, Any]] = []
        later = answers[len(answers) - len(questions) :] if is_finished and questions else []
        for number, answer in enumerate(answers[: len(answers) - len(later)]):
            unknown = {"~unread": "was not kept: LangGraph keeps a task's last question only"}
            asked.append((f"{task}-{number}", unknown, answer))
        for number, question in enumerate(questions):
            fields = question.value if isinstance(question, Typed) and isinstance(question.value, dict) else {"value": question}
            value = plain(fields.get("value"))
            name = fields.get("id") or fields.get("interrupt_id")
            look = json.dumps(value, sort_keys=True, ensure_ascii=False)
            if step.asked.setdefault(str(name or look), place.ns) != place.ns:
                continue  # an inner graph's, which is stored in the outer one, too
            answer = later[number] if number < len(later) else given[0] if is_finished and given else None if is_finished else _MISSING
            asked.append((name if isinstance(name, str) else f"{task}-{len(answers) + number}", value, answer))
        for name, value, answer in asked:
            arguments = {"value": value}
            if is_open := answer is _MISSING and step.is_last:
                done = self._done(place)
                arguments["message"] = _HOW + (f" It does not run {', '.join(done)} again." if done else "")
            call = {"function_call": {"id": name, "name": ASKS, "args": arguments}}
            step.emit(place, task, time, author, [call], long_running_tool_ids=[name] if is_open else [])
            if answer is not _MISSING:
                response = {"function_response": {"id": name, "name": ASKS, "response": {"result": plain(answer)}}}
                step.emit(place, task, time, "user", [response])


@dataclass(slots=True)
class _Running:
    """The tasks that run on a checkpoint.

    Attributes:
        after: the checkpoint that has their results; None if there is none.
        changed: changes that no event has yet.
        flows: whether their writes are part of the conversation.
    """

    place: Checkpoint
    after: Checkpoint | None
    changed: dict[str, Any]
    flows: bool


def is_begin(chain: Sequence[Checkpoint], index: int) -> bool:
    """Return whether an invocation begins with a checkpoint."""
    return index == 0 or chain[index].source != "loop"


def _is_of(ns: str, node: str, task: str) -> bool:
    """Return whether a place is that of an inner graph of a task: a node may call several, which are numbered."""
    return any(ns == name or (ns.startswith(f"{name}|") and ns[len(name) + 1 :].isdigit()) for name in (task, node))


def _is_own(name: str, value: Any, seen: Mapping[str, Any]) -> bool:
    """Return whether a channel is LangGraph's own, which is not part of the state."""
    if name.startswith("__"):
        return name != _PREVIOUS
    if name.startswith("branch:to:"):
        return True
    if ":" not in name:
        return name in seen and _text(value) == name  # 2024
    kind, _, rest = name.partition(":")
    if kind == "start":
        return _text(value) == "__start__"
    if kind == "branch":
        return rest.count(":") >= 2 and _text(value) == rest.partition(":")[0]
    if kind != "join" or not _JOIN.match(name):
        return False
    names, value = rest.rpartition(":")[0].split("+"), channel_value(value)
    if isinstance(value, str):  # what a task writes
        return value in names
    return isinstance(value, Typed) and value.name == "set" and isinstance(value.value, list) and all(item in names for item in value.value)


def _text(value: Any) -> str | None:
    value = channel_value(value)
    return value if isinstance(value, str) else None


def _fold(value: Any, written: Any) -> Any:
    """Return a delta channel's value after a write: lists append, maps merge, messages replace those with the same id."""
    if isinstance(written, Typed) and written.name == "Overwrite" and isinstance(written.value, dict):
        return written.value.get("value")
    if value is _MISSING:
        value = [] if isinstance(written, list | Typed) else {} if isinstance(written, dict) else written
    new = written_messages(written, in_channel=are_messages(value) or (value == [] and is_conversation(written)))
    if isinstance(value, list) and new is not None and (are_messages(value) or not value):
        items = written if isinstance(written, list) else [written]
        return _fold_messages(value, items, new)
    if isinstance(value, list):
        return value + (written if isinstance(written, list) else [written])
    if isinstance(value, dict) and isinstance(written, dict):
        return {**value, **written}
    return written


def _fold_messages(value: list[Any], items: Sequence[Any], new: Sequence[Message]) -> list[Any]:
    kept: dict[Any, Any] = {
        (message.id if message else None) or number: item for number, item in enumerate(value) for message in [as_message(item)]
    }
    for number, (item, message) in enumerate(zip(items, new, strict=False), len(kept)):
        if message.kind == "remove":
            kept = {} if message.id == REMOVE_ALL else {name: each for name, each in kept.items() if name != message.id}
        else:
            stored = item if as_message(item) else Typed("", f"{message.kind}Message", {"type": message.kind, **message.fields})
            kept[message.id or -number - 1] = stored
    return [*kept.values()]


def _overwritten(value: Any) -> Any:
    is_whole = isinstance(value, Typed) and value.name == "Overwrite" and isinstance(value.value, dict)
    return plain(value.value.get("value") if is_whole else value)


def _is_finished(writes: Sequence[Write]) -> bool:
    return any(write.channel not in _MARKS for write in writes)


def _error(value: Any) -> tuple[str, str]:
    """Return an error's class, and its text."""
    text = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
    match = _EXCEPTION.match(text)
    return match[1].rpartition(".")[2] if match else "Error", text or "The node failed without a message."


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _model_fields(message: Message) -> dict[str, Any]:
    return {"usage_metadata": usage_of(message), "model_version": model_of(message)}
