"""The state in four lanes (session, user, app, temp) with an event's changes marked, and pinned keys above."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import QObject

from inspector_app.presentation.values import preview
from inspector_app.state.delta import READING
from inspector_app.widgets.value_tree import FILES, PINNED, ValueNode, ValueTreeModel
from runtime.sessions.state import SCOPES, Change, Scope, same_value, scope_of

LANE_TITLES: dict[Scope, str] = {"session": "session", "user": "user:", "app": "app:", "temp": "temp:"}

UNCOMMITTED = "uncommitted"  # `lane` of values that are not committed yet

_BOTH_FIT = 24  # characters; a longer change shows only the new value in full, because the delta shows both


CHANGED_SINCE = " · changed since"  # appended to the writer of a key that another session has written since

OTHER_SESSION = "another session"
BEFORE_THE_RECORD = "not recorded"
AT_CREATION = "at creation"


class StateByScope(Protocol):
    """A state by scope, as returned by `runtime.history`.

    Attributes:
        session, user, app, temp: key with prefix → value.
        unknown: keys whose value at that event is not recorded.
    """

    @property
    def session(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def user(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def app(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def temp(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def unknown(self) -> list[str]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A version of a file of the session.

    Attributes:
        name: file name.
        version: version number.
        place: position of the event that saved it; None if no event refers to it.
        author: author of that event.
    """

    name: str
    version: int
    place: int | None = None
    author: str = ""


@dataclass(frozen=True, slots=True)
class _Moment:
    """The arguments of `set_state`."""

    state: StateByScope | None
    changes: Sequence[Change]
    title: str
    writers: Mapping[str, tuple[int, str]] | None
    changed_since: Collection[str]
    unread: bool


class StateTreeModel(ValueTreeModel):
    """A tree of the state after an event."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._uncommitted: dict[str, Any] = {}
        self._files: list[FileVersion] = []
        self._pinned: list[str] = []
        self._wanted = ""
        self.set_state(None, [])

    @property
    def pinned(self) -> list[str]:
        """The pinned keys, with their prefixes, in the order they were pinned."""
        return list(self._pinned)

    def set_pinned(self, keys: Sequence[str]) -> None:
        """Set the keys that are listed first, also after events where they are not set.

        Args:
            keys: keys with prefixes.
        """
        self._pinned = list(keys)
        self._rebuild()

    def search(self, text: str) -> None:
        """Show only keys whose name or value contains a text, ignoring case; an empty text shows all."""
        self._wanted = text.casefold()
        self._rebuild()

    def set_uncommitted(self, values: Mapping[str, Any]) -> None:
        """Show values that a held agent has written but no event has committed.

        Args:
            values: key with prefix → value; empty removes the lane.
        """
        if values != self._uncommitted:
            self._uncommitted = dict(values)
            self._show_again()

    def set_files(self, files: Sequence[FileVersion]) -> None:
        """Show the session's files after the event; an empty list removes the lane."""
        if list(files) != self._files:
            self._files = list(files)
            self._show_again()

    def _show_again(self) -> None:
        self._root.set_children([lane for lane in self._root.children if lane.lane not in (UNCOMMITTED, FILES)])
        self._show(self._root, self._headings)

    def _show(self, root: ValueNode, headings: tuple[str, ...]) -> None:
        if self._files:
            root.set_children([*root.children, _files_lane(root, self._files)])
        if self._uncommitted:
            lane = ValueNode(
                root, len(root.children), "not committed yet", None, "state", note=f"{len(self._uncommitted):,}", lane=UNCOMMITTED
            )
            nodes = [
                ValueNode(lane, row, key, value, f"state[{key!r}]", mark="changed")
                for row, (key, value) in enumerate(sorted(self._uncommitted.items()))
            ]
            lane.set_children(nodes)
            root.set_children([*root.children, lane])
        super()._show(root, headings)

    def set_state(
        self,
        state: StateByScope | None,
        changes: Sequence[Change],
        title: str = "State",
        writers: Mapping[str, tuple[int, str]] | None = None,
        changed_since: Collection[str] = (),
        *,
        unread: bool = False,
    ) -> None:
        """Show the state after another event.

        Args:
            state: None leaves the lanes empty.
            changes: the event's changes.
            title: title of the key column, such as `State at 142`.
            writers: key → position and author of the last writer, with a negative position for another session; None hides the column.
            changed_since: keys that another session has written since.
            unread: unknown values are being read.
        """
        self._moment = _Moment(state, changes, title, writers, changed_since, unread)
        self._rebuild()

    def _rebuild(self) -> None:
        moment = self._moment
        root = ValueNode(None, 0, "", None, "state")
        lanes = [_lane(root, row, scope, moment) for row, scope in enumerate(SCOPES)]
        if self._wanted:
            for lane in lanes:
                _keep(lane, self._wanted)
        elif self._pinned and moment.state is not None:
            lanes.insert(0, _pinned_lane(root, self._pinned, moment))
            for row, lane in enumerate(lanes):
                lane.row = row
        root.set_children(lanes)
        self._show(root, (moment.title, "Value") if moment.writers is None else (moment.title, "Value", "Written by"))


def _tell_writer(node: ValueNode, scope: str, writer: tuple[int, str] | None) -> None:
    if writer is None:
        node.writer = AT_CREATION if scope == "session" and node.mark != "unknown" else BEFORE_THE_RECORD
    elif writer[0] < 0:
        node.writer = OTHER_SESSION
    else:
        node.writer_index = writer[0]
        node.writer = f"#{writer[0] + 1:,} {writer[1]}".rstrip()


def _lane(root: ValueNode, row: int, scope: Scope, moment: _Moment) -> ValueNode:
    lane = ValueNode(root, row, LANE_TITLES[scope], None, "state", note="", lane=scope)
    children = _nodes(lane, scope, moment)
    if moment.writers is not None:
        for node in children:
            _tell_writer(node, scope, moment.writers.get(node.key))
            if node.key in moment.changed_since:
                node.writer += CHANGED_SINCE
    lane.set_children(children)
    lane.note = f"{len(children):,}"
    return lane


def _files_lane(root: ValueNode, files: Sequence[FileVersion]) -> ValueNode:
    lane = ValueNode(root, len(root.children), FILES, None, "artifacts", note=f"{len(files):,}", lane=FILES)
    nodes = []
    for row, file in enumerate(files):
        unconfirmed = file.place is None
        note = f"version {file.version}" + (" · unconfirmed: no event refers to it" if unconfirmed else "")
        path = f"artifacts[{file.name!r}]"
        node = ValueNode(lane, row, file.name, file.version, path, note=note, mark="unknown" if unconfirmed else "")
        if file.place is not None:
            node.writer_index, node.writer = file.place, f"#{file.place + 1:,} {file.author}"
        nodes.append(node)
    lane.set_children(nodes)
    return lane


def _pinned_lane(root: ValueNode, keys: Sequence[str], moment: _Moment) -> ValueNode:
    """Return a lane with these keys; keys without a value show *not set*."""
    lane = ValueNode(root, 0, "pinned", None, "state", note=f"{len(keys):,}", lane=PINNED)
    there = {node.key: node for scope in dict.fromkeys(map(scope_of, keys)) for node in _lane(root, 0, scope, moment).children}
    children = []
    for row, key in enumerate(keys):
        node = there.get(key) or ValueNode(lane, row, key, None, f"state[{key!r}]", note="not set", mark="unknown")
        node.parent, node.row = lane, row
        children.append(node)
    lane.set_children(children)
    return lane


def _keep(lane: ValueNode, wanted: str) -> None:
    """Keep only the keys of a lane whose name or value contains a text."""
    count = len(lane.children)
    kept = [node for node in lane.children if wanted in node.key.casefold() or wanted in _plain(node.value).casefold()]
    for row, node in enumerate(kept):
        node.row = row
    lane.set_children(kept)
    lane.note = f"{len(kept):,} of {count:,}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _nodes(lane: ValueNode, scope: Scope, moment: _Moment) -> list[ValueNode]:
    changes = {change.key: change for change in moment.changes}
    values: dict[str, Any] = getattr(moment.state, scope) if moment.state is not None else {}
    unknown = {key for key in (moment.state.unknown if moment.state is not None else []) if scope_of(key) == scope}
    children: list[ValueNode] = []
    for key in sorted(values.keys() | unknown):
        path = f"state[{key!r}]"
        if key in unknown:
            children.append(
                ValueNode(
                    lane, len(children), key, None, path, note=READING if moment.unread else "earlier value not recorded", mark="unknown"
                )
            )
        else:
            children.append(_key_node(lane, len(children), key, values[key], path, changes.get(key)))
    for key, change in changes.items():
        if change.kind == "removed" and change.scope == scope and key not in values:
            note = f"{preview(change.before, 80)} → removed"
            children.append(ValueNode(lane, len(children), key, None, f"state[{key!r}]", note=note, mark="cleared"))
    return children


def _key_node(lane: ValueNode, row: int, key: str, value: Any, path: str, change: Change | None) -> ValueNode:
    if change is None:
        cleared = value is None
        return ValueNode(lane, row, key, value, path, note="cleared (null)" if cleared else None, mark="null" if cleared else "")
    after = "cleared (null)" if value is None else preview(value, 120)
    if change.kind == "changed" and same_value(change.before, value):
        return ValueNode(lane, row, key, value, path, note=after if value is None else None)
    mark = "cleared" if value is None else "changed" if change.kind == "written" else change.kind
    note = after
    if change.kind == "changed" and len(both := f"{preview(change.before, 80)} → {after}") <= _BOTH_FIT:
        note = both
    return ValueNode(lane, row, key, value, path, note=note, mark=mark)
