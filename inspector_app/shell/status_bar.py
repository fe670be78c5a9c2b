"""One quiet line: run state · database · session · position · tokens · what drives the agent, and whether the stream follows."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStatusBar, QWidget

from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.icon_label import IconLabel

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

_LEFT = ("run", "database", "session", "position", "tokens", "engine")
_RIGHT = ("tail", "live")
_OF_SESSION = ("database", "session", "position", "tokens", "tail", "live")

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
        self.setContentsMargins(0, 0, 2, 0)
        self._parts = {name: _Part(name, self) for name in (*_LEFT, *_RIGHT)}
        for name in _LEFT:
            self.addWidget(self._parts[name])
        for name in _RIGHT:
            self.addPermanentWidget(self._parts[name])
        self.show_run("idle", "idle")
        self.show_live(None)
        self.show_tail(None)

    def text(self, part: str) -> str:
        """Return what a part says: run, database, session, position, tokens, engine, tail or live."""
        return self._parts[part].text

    def show_session_parts(self, shown: bool) -> None:
        """Say something about the open session, or, while it is not in sight, nothing."""
        for name in _OF_SESSION:
            self._parts[name].set_allowed(shown)

    def show_run(self, phase: str, text: str) -> None:
        """Show the run state."""
        cut = text if len(text) <= MAX_RUN_TEXT else f"{text[: MAX_RUN_TEXT - 1]}…"
        self._parts["run"].say(cut, *RUN_ICONS[phase], tooltip=text)

    def show_database(self, title: str, badge: str) -> None:
        """Show which database the session is in, and what may be done to it."""
        self._parts["database"].say(" · ".join(filter(None, (title, badge))))

    def show_session(self, session_id: str) -> None:
        """Show the session's id."""
        self._parts["session"].say(session_id)

    def show_position(self, index: int | None, count: int, shown: int | None = None) -> None:
        """Show the selected event's place.

        Args:
            index: from 0, or None.
            count: events of the session.
            shown: how many of them a filter lets through, if there is one.
        """
        place = f"{'–' if index is None else f'{index + 1:,}'}/{count:,}"
        self._parts["position"].say("" if not count else place if shown is None else f"{place} ({shown:,} shown)")

    def show_tokens(self, tokens: int) -> None:
        """Show the tokens of the session."""
        self._parts["tokens"].say(f"{tokens:,} tokens" if tokens else "")

    def show_engine(self, text: str) -> None:
        """Show what drives the agent."""
        self._parts["engine"].say(text)

    def show_live(self, following: bool | None) -> None:
        """Show whether the newest event is followed; None: nothing to follow."""
        words = "" if following is None else "following" if following else "not following"
        self._parts["live"].say(words, "circle", "ok" if following else "dim")

    def show_tail(self, mark: str | None, explained: str = "") -> None:
        """Show whether other processes commit to the database.

        Args:
            mark: one of `TAIL_MARKS`, or None: no database that others could write to.
            explained: more about it, for a tooltip.
        """
        icon, role, word = TAIL_MARKS[mark] if mark else ("", "dim", "")
        self._parts["tail"].say(word, icon, role, tooltip=explained)


class _Part(QWidget):
    """Some words, with an icon close before them; nothing, and no gap, where there is nothing to say."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._allowed = True
        self._icon = IconLabel(12, self)
        self._label = _Words(self)
        self._label.setObjectName(f"status_{name}")
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setProperty("role", "secondary")
        line = QHBoxLayout(self)
        line.setContentsMargins(6, 0, 6, 0)
        line.setSpacing(6)
        line.addWidget(self._icon)
        line.addWidget(self._label)
        self.say("")

    @property
    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def say(self, text: str, icon: str = "", role: str = "dim", *, tooltip: str = "") -> None:
        """Say something else."""
        self._icon.show_icon(icon, role)
        self._label.show_words(visible(text))
        self._label.setToolTip(plain_tooltip(tooltip))
        self.setVisible(bool(text) and self._allowed)

    def set_allowed(self, allowed: bool) -> None:
        """Be seen if there is something to say, or not at all."""
        self._allowed = allowed
        self.setVisible(bool(self.text) and allowed)


class _Words(QLabel):
    """As wide as its words, and no wider with other digits: a live stream counts many times a second, and a label that lets its layout ask
    how large it wants to be has the whole window laid out anew each time."""

    _shape = ""

    def show_words(self, words: str) -> None:
        """Say something else."""
        if words != self.text():
            shape = theme.with_widest_digits(words)
            if shape != self._shape:
                self._shape = shape
                self._fit()
            self.setText(words)

    def changeEvent(self, event: QEvent) -> None:
        """Take the room that another font needs."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setFixedSize(self.fontMetrics().size(0, self._shape))
