"""The status bar: database, session, position, tokens and engine; on the right, live state and following."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStatusBar, QWidget

from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.steady_label import SteadyLabel
from inspector_app.widgets.tooltips import set_tooltip

_MOST_OF_BAR = 0.2  # share of the bar for a text, in a bar that is _ROOMY; less in a narrower one
_ROOMY = 1280  # pixels at a scale of 100 %
_LEFT = ("database", "session", "position", "tokens", "engine")
_RIGHT = ("tail", "live")
_OF_SESSION = ("database", "session", "position", "tokens", "tail", "live")

# What other processes do with the database → icon, colour role and text.
TAIL_MARKS = {
    "live": ("tower-broadcast", "ok", "live"),
    "watching": ("eye", "dim", "watching"),
    "lost": ("plug-circle-xmark", "bad", "cannot be read"),
}


class StatusBar(QStatusBar):
    """Shows facts about the session in named parts, which `text` returns.

    Signals:
        engine_requested: the engine was clicked, to choose another one.
    """

    engine_requested = Signal()

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
        self._parts["engine"].clicked.connect(self.engine_requested)
        self._parts["engine"].setCursor(Qt.CursorShape.PointingHandCursor)
        theme.current().changed.connect(self._limit_parts)
        self.show_live(None)
        self.show_tail(None)

    def minimumSizeHint(self) -> QSize:
        """Return a width of zero: long texts are elided, and never make the window wider."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share out the new width."""
        super().resizeEvent(event)
        self._limit_parts()

    def _limit_parts(self) -> None:
        width = self.width()
        for name in _LEFT:  # those on the right are a word or two
            self._parts[name].limit(int(width * _MOST_OF_BAR * min(1, width / theme.px(_ROOMY))))

    def text(self, part: str) -> str:
        """Return the text of a part: database, session, position, tokens, engine, tail or live."""
        return self._parts[part].text

    def show_session_parts(self, shown: bool) -> None:
        """Show or hide the parts about the open session."""
        for name in _OF_SESSION:
            self._parts[name].set_allowed(shown)

    def show_database(self, title: str, badge: str) -> None:
        """Show the session's database and its badge, such as "v1 · read-only"."""
        self._parts["database"].say(" · ".join(filter(None, (title, badge))))

    def show_session(self, title: str, names: str = "") -> None:
        """Show the session's title, and its names in the tooltip."""
        self._parts["session"].say(title, tooltip=names)

    def show_position(self, index: int | None, count: int, shown: int | None = None) -> None:
        """Show the position of the selected event.

        Args:
            index: the event's number, from 0; None if none is selected.
            count: the number of events in the session.
            shown: the number of events that match the filter; None without a filter.
        """
        place = f"{'–' if index is None else f'{index + 1:,}'}/{count:,}"
        self._parts["position"].say("" if not count else place if shown is None else f"{place} ({shown:,} shown)")

    def show_tokens(self, tokens: int, cost: str = "", prices: str = "") -> None:
        """Show the number of tokens that the session used, and what they cost.

        Args:
            tokens: the number; nothing is shown for 0.
            cost: the costs in words; empty while they are not known.
            prices: where the prices are from, for the tooltip.
        """
        words = f"cost {cost}" if cost == "unknown" else cost
        self._parts["tokens"].say(" · ".join(filter(None, (f"{tokens:,} tokens", words))) if tokens else "", tooltip=prices)

    def show_engine(self, text: str) -> None:
        """Show the engine that drives the agent."""
        self._parts["engine"].say(text, tooltip="Click to choose the engine that runs the agent")

    def show_live(self, following: bool | None) -> None:
        """Show whether the stream follows the newest event; None shows nothing."""
        words = "" if following is None else "following" if following else "not following"
        self._parts["live"].say(words, "circle", "ok" if following else "dim")

    def show_tail(self, mark: str | None, explained: str = "") -> None:
        """Show whether other processes commit to the database.

        Args:
            mark: a key of `TAIL_MARKS`; None if no other process can write to the database.
            explained: the tooltip.
        """
        icon, role, word = TAIL_MARKS[mark] if mark else ("", "dim", "")
        self._parts["tail"].say(word, icon, role, tooltip=explained)


class _Part(QWidget):
    """An icon and a text; hidden while the text is empty.

    Signals:
        clicked: it was clicked with the left button.
    """

    clicked = Signal()

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._allowed = True
        self._icon = IconLabel(12, self)
        self._label = SteadyLabel(self)
        self._label.setObjectName(f"status_{name}")
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setProperty("role", "secondary")
        line = QHBoxLayout(self)
        line.setContentsMargins(6, 0, 6, 0)
        line.setSpacing(6)
        line.addWidget(self._icon)
        line.addWidget(self._label)
        self.say("")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Report a click."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()

    @property
    def text(self) -> str:
        """The whole text."""
        return self._label.text()

    def limit(self, width: int) -> None:
        """Elide a text that is longer than a width in pixels."""
        self._label.limit(width)

    def say(self, text: str, icon: str = "", role: str = "dim", *, tooltip: str = "") -> None:
        """Show another text."""
        self._icon.show_icon(icon, role)
        self._label.show_words(visible(text))
        set_tooltip(self._label, tooltip or text)
        self._show_or_hide()

    def set_allowed(self, allowed: bool) -> None:
        """Show the part if it has a text, or hide it in any case."""
        self._allowed = allowed
        self._show_or_hide()

    def _show_or_hide(self) -> None:
        self.setHidden(not self.text or not self._allowed)
