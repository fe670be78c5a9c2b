"""The first page: open something, go on with something, or try a sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from inspector_app import theme
from inspector_app.values import plain_tooltip, visible
from inspector_app.views.icon_label import IconLabel

_WIDTH = 860


@dataclass(frozen=True, slots=True)
class SampleCard:
    """A bundled sample: what to call it, what it shows, what to open."""

    name: str
    title: str
    text: str
    icon: str


class WelcomePage(QScrollArea):
    """Says what the program is for, and offers the ways in.

    Signals:
        open_agent_asked, open_database_asked: choose one.
        item_chosen(str): a recent path or URL.
        sample_chosen(str): a bundled sample, by name.
    """

    open_agent_asked = Signal()
    open_database_asked = Signal()
    item_chosen = Signal(str)
    sample_chosen = Signal(str)

    def __init__(self, samples: list[SampleCard], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome_page")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        body = QWidget(self)
        body.setObjectName("welcome_body")
        column = QWidget(body)
        column.setMaximumWidth(_WIDTH)
        rows = QVBoxLayout(column)
        rows.setSpacing(10)
        rows.addWidget(_label("Agent Inspector", "heading", column))
        rows.addWidget(_label("Watch an agent live, stop it anywhere, see what it knew, resume what crashed.", "", column))
        rows.addSpacing(8)
        rows.addLayout(self._openers(column))
        rows.addSpacing(16)
        rows.addWidget(_label("Samples: they run at once, with no API key", "title", column))
        rows.addLayout(self._sample_cards(samples, column))
        rows.addSpacing(16)
        self._recent_title = _label("Recent", "title", column)
        rows.addWidget(self._recent_title)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        rows.addLayout(self._recent)
        rows.addStretch(1)
        rows.addWidget(_label("You can also drop a session database or an agent folder onto this window.", "secondary", column))
        outer = QHBoxLayout(body)
        outer.setContentsMargins(24, 40, 24, 16)
        outer.addStretch(1)
        outer.addWidget(column, 20)
        outer.addStretch(1)
        self.setWidget(body)

    def focus(self) -> None:
        """Take the keyboard to the first button."""
        self._first.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_recent(self, items: list[str]) -> None:
        """Show what was opened last."""
        while (old := self._recent.takeAt(0)) is not None:
            if (row := old.widget()) is not None:
                row.deleteLater()
        for item in items:
            self._recent.addWidget(self._recent_row(item))
        self._recent_title.setVisible(bool(items))

    def _openers(self, parent: QWidget) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(8)
        agent = QPushButton(theme.icon("robot", "on_accent"), "Open agent…", parent)
        agent.setObjectName("welcome_open_agent")
        agent.setProperty("primary", True)
        self._first = agent
        agent.setToolTip("A folder with agent.py that defines app or root_agent (Ctrl+O)")
        agent.clicked.connect(self.open_agent_asked)
        database = QPushButton(theme.icon("database", "text"), "Open database…", parent)
        database.setObjectName("welcome_open_database")
        database.setToolTip("A session database of google-adk or of this program (Ctrl+Shift+O)")
        database.clicked.connect(self.open_database_asked)
        for button in (agent, database):
            button.setAccessibleName(button.text())
            line.addWidget(button)
        line.addStretch(1)
        return line

    def _sample_cards(self, samples: list[SampleCard], parent: QWidget) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(10)
        for sample in samples:
            card = _Card(sample, parent)
            card.chosen.connect(self.sample_chosen)
            line.addWidget(card, 1)
        return line

    def _recent_row(self, item: str) -> QPushButton:
        is_database = "://" in item or (Path(item).is_file() and not item.endswith(".py"))
        path = Path(item)
        text = visible(item) if "://" in item else visible(f"{path.name}   {path.parent}")
        row = QPushButton(theme.icon("database" if is_database else "robot", "dim"), text)
        row.setObjectName("recent_item")
        row.setAccessibleName(f"Open {item}")
        row.setToolTip(plain_tooltip(item))
        row.setFlat(True)
        row.setProperty("row", True)
        row.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row.clicked.connect(partial(self.item_chosen.emit, item))
        return row


class _Card(QFrame):
    """A sample as something to press.

    Signals:
        chosen(str): it was pressed; the sample's name.
    """

    chosen = Signal(str)

    def __init__(self, sample: SampleCard, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = sample.name
        self.setObjectName(f"sample_{sample.name}")
        self.setAccessibleName(f"Sample {sample.title}: {sample.text}")
        self.setProperty("card", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(14, 12, 14, 12)
        rows.setSpacing(6)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(IconLabel(16, self, name=sample.icon, role="accent"))
        title = _label(sample.title, "", self)
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        head.addWidget(title, 1)
        rows.addLayout(head)
        text = _label(sample.text, "secondary", self)
        text.setAlignment(Qt.AlignmentFlag.AlignTop)
        rows.addWidget(text, 1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click chooses the sample."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self._name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """So do Enter and Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self._name)
        else:
            super().keyPressEvent(event)


def _label(text: str, role: str, parent: QWidget) -> QLabel:
    label = QLabel(text, parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    if role:
        label.setProperty("role", role)
    return label
