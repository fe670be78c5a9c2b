"""State as four lanes (session, user, app, temp), with what one event changed marked in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from PySide6.QtCore import QObject

from inspector_app.qt_models.value_tree import ValueNode, ValueTreeModel
from inspector_app.values import preview
from runtime.sessions.state import SCOPES, Change, Scope, same_value, scope_of

LANE_TITLES: dict[Scope, str] = {"session": "session", "user": "user:", "app": "app:", "temp": "temp:"}

UNCOMMITTED = "uncommitted"
"""The `lane` of what is not committed yet; no scope."""


OTHER_SESSION = "another session"
BEFORE_THE_RECORD = "before the record"
AT_CREATION = "at creation"


class StateByScope(Protocol):
    """State sorted by scope, as `runtime.history` gives it.

    Attributes:
        session, user, app, temp: keys with their prefixes → values.
        unknown: keys whose value at that moment is not recorded.
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


class StateTreeModel(ValueTreeModel):
    """The state at one moment."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._uncommitted: dict[str, Any] = {}
        self.set_state(None, [])

    def set_uncommitted(self, values: Mapping[str, Any]) -> None:
        """Show apart what a held agent has written and no event has carried yet.

        Args:
            values: key with prefix → value; empty takes the lane away.
        """
        if values != self._uncommitted:
            self._uncommitted = dict(values)
            self._root.set_children([lane for lane in self._root.children if lane.lane != UNCOMMITTED])
            self._show(self._root, self._headings)

    def _show(self, root: ValueNode, headings: tuple[str, ...]) -> None:
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
        title: str = "state",
        writers: Mapping[str, tuple[int, str]] | None = None,
    ) -> None:
        """Show the state at another moment.

        Args:
            state: None leaves the lanes empty.
            changes: what the event of that moment changed.
            title: heading of the key column, such as `state at 142`.
            writers: key → place and name of who wrote it last, a negative place for another session; None: that is not told.
        """
        by_key = {change.key: change for change in changes}
        root = ValueNode(None, 0, "", None, "state")
        lanes = []
        for row, scope in enumerate(SCOPES):
            values: dict[str, Any] = getattr(state, scope) if state is not None else {}
            unknown = [key for key in (state.unknown if state is not None else []) if scope_of(key) == scope]
            lanes.append(_lane(root, row, scope, values, unknown, by_key))
        root.set_children(lanes)
        if writers is not None:
            for lane in lanes:
                for node in lane.children:
                    _tell_writer(node, lane.lane, writers.get(node.key))
        self._show(root, (title, "value") if writers is None else (title, "value", "written by"))


def _tell_writer(node: ValueNode, scope: str, writer: tuple[int, str] | None) -> None:
    if writer is None:
        node.writer = AT_CREATION if scope == "session" and node.mark != "unknown" else BEFORE_THE_RECORD
    elif writer[0] < 0:
        node.writer = OTHER_SESSION
    else:
        node.writer_index = writer[0]
        node.writer = f"#{writer[0] + 1:,} {writer[1]}".rstrip()


def _lane(root: ValueNode, row: int, scope: Scope, values: dict[str, Any], unknown: list[str], changes: dict[str, Change]) -> ValueNode:
    lane = ValueNode(root, row, LANE_TITLES[scope], None, "state", note="", lane=scope)
    children: list[ValueNode] = []
    for key in sorted(values.keys() | set(unknown)):
        path = f"state[{key!r}]"
        if key in unknown:
            children.append(ValueNode(lane, len(children), key, None, path, note="earlier value not recorded", mark="unknown"))
        else:
            children.append(_key_node(lane, len(children), key, values[key], path, changes.get(key)))
    for key, change in changes.items():
        if change.kind == "removed" and change.scope == scope and key not in values:
            note = f"{preview(change.before, 80)} → removed"
            children.append(ValueNode(lane, len(children), key, None, f"state[{key!r}]", note=note, mark="cleared"))
    lane.set_children(children)
    lane.note = f"{len(children):,}"
    return lane


def _key_node(lane: ValueNode, row: int, key: str, value: Any, path: str, change: Change | None) -> ValueNode:
    if change is None:
        cleared = value is None
        return ValueNode(lane, row, key, value, path, note="cleared (null)" if cleared else None, mark="null" if cleared else "")
    after = "cleared (null)" if value is None else preview(value, 120)
    if change.kind == "changed" and same_value(change.before, value):
        return ValueNode(lane, row, key, value, path, note=after if value is None else None)
    mark = "cleared" if value is None else "changed" if change.kind == "written" else change.kind
    note = f"{preview(change.before, 80)} → {after}" if change.kind == "changed" else after
    return ValueNode(lane, row, key, value, path, note=note, mark=mark)
