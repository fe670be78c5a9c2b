"""One quiet line: run state · database · session · position · tokens · what drives the agent, and whether the stream follows."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStatusBar, QWidget

from inspector_app.values import plain_tooltip, visible
from inspector_app.views.icon_label import IconLabel

MAX_RUN_TEXT = 64
"""Longer texts are cut: the bar must not make the window wider. The tooltip has the whole."""

RUN_ICONS = {
    "idle": ("", "dim"),
    "interrupted": ("triangle-exclamation", "bad"),
    "waiting": ("hourglass-half", "warn"),
    "running": ("circle-play", "ok"),
    "paused": ("pause", "warn"),
    "stopping": ("stop", "warn"),
}
"""What the run is doing, or how the session was left → icon and colour role; the tool bar shows the same."""


TAIL_MARKS = {
    "live": ("tower-broadcast", "ok", "live"),
    "watching": ("eye", "dim", "watching"),
    "lost": ("plug-circle-xmark", "bad", "cannot be read"),
}
"""What other processes do with the database → icon, colour role and word."""


class StatusBar(QStatusBar):
    """Shows what it is told; every part can be read by name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status_bar")
        self.setSizeGripEnabled(False)
        self.setContentsMargins(6, 0, 2, 0)
        self._run_icon = IconLabel(13, self)
        self.addWidget(self._run_icon)
        self._parts = {name: self._label(name) for name in ("run", "database", "session", "position", "tokens", "engine")}
        for label in self._parts.values():
            self.addWidget(label)
        self._tail_icon = IconLabel(12, self)
        self._tail = self._label("tail")
        self.addPermanentWidget(self._tail_icon)
        self.addPermanentWidget(self._tail)
        self._live_icon = IconLabel(11, self)
        self._live = self._label("live")
        self.addPermanentWidget(self._live_icon)
        self.addPermanentWidget(self._live)
        for name in self._parts:
            self._set(name, "")  # what says nothing yet takes no room
        self.show_run("idle", "idle")
        self.show_live(None)
        self.show_tail(None)

    def text(self, part: str) -> str:
        """Return what a part says: run, database, session, position, tokens, engine, tail or live."""
        return {"live": self._live, "tail": self._tail, **self._parts}[part].text()

    def show_run(self, phase: str, text: str) -> None:
        """Show the run state."""
        self._run_icon.show_icon(*RUN_ICONS[phase])
        cut = text if len(text) <= MAX_RUN_TEXT else f"{text[: MAX_RUN_TEXT - 1]}…"
        self._set("run", cut)
        self._parts["run"].setToolTip(plain_tooltip(text))

    def show_database(self, title: str, badge: str) -> None:
        """Show which database the session is in, and what may be done to it."""
        self._set("database", " · ".join(filter(None, (title, badge))))

    def show_session(self, session_id: str) -> None:
        """Show the session's id."""
        self._set("session", session_id)

    def show_position(self, index: int | None, count: int, shown: int | None = None) -> None:
        """Show the selected event's place.

        Args:
            index: from 0, or None.
            count: events of the session.
            shown: how many of them a filter lets through, if there is one.
        """
        place = f"{'–' if index is None else f'{index + 1:,}'}/{count:,}"
        self._set("position", "" if not count else place if shown is None else f"{place} ({shown:,} shown)")

    def show_tokens(self, tokens: int) -> None:
        """Show the tokens of the session."""
        self._set("tokens", f"{tokens:,} tokens" if tokens else "")

    def show_engine(self, text: str) -> None:
        """Show what drives the agent."""
        self._set("engine", text)

    def show_live(self, following: bool | None) -> None:
        """Show whether the newest event is followed; None: nothing to follow."""
        self._live_icon.show_icon("" if following is None else "circle", "ok" if following else "dim")
        self._live.setText("" if following is None else "following" if following else "not following")

    def show_tail(self, mark: str | None, explained: str = "") -> None:
        """Show whether other processes commit to the database.

        Args:
            mark: one of `TAIL_MARKS`, or None: no database that others could write to.
            explained: more about it, for a tooltip.
        """
        icon, role, word = TAIL_MARKS[mark] if mark else ("", "dim", "")
        self._tail_icon.show_icon(icon, role)
        self._tail.setText(word)
        self._tail.setVisible(bool(word))
        self._tail.setToolTip(plain_tooltip(explained))

    def _set(self, part: str, text: str) -> None:
        label = self._parts[part]
        label.setText(visible(text))
        label.setVisible(bool(text))

    def _label(self, name: str) -> QLabel:
        label = QLabel(self)
        label.setObjectName(f"status_{name}")
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setProperty("role", "secondary")
        return label
