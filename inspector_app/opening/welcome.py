"""The start page: open something, return to a recent item, or try a sample; and the most important shortcuts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from inspector_app.opening.tile import Tile
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip

_WIDTH = 1160
_GAP = 28
_TWO_COLUMNS = 900  # pixels; below this width the samples are placed under the other tiles
_MOST_RECENT = 8  # recent items listed; as many as fit beside the other column
_LONGEST_NAME = 44  # characters of a recent item's name; the tooltip has the full name


@dataclass(frozen=True, slots=True)
class SampleCard:
    """A bundled sample: its name, title, description and icon."""

    name: str
    title: str
    text: str
    icon: str


class WelcomePage(QScrollArea):
    """The start page.

    Signals:
        item_chosen (str): the user chose a recent path or URL.
        sample_chosen (str): the user chose the bundled sample of this name.
    """

    item_chosen = Signal(str)
    sample_chosen = Signal(str)

    def __init__(self, samples: list[SampleCard], openers: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome_page")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # otherwise an invisible tab stop; the tiles scroll the page
        body = named(QWidget(self), "welcome_body")
        column = QWidget(body, maximumWidth=_WIDTH)
        self._halves = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._halves.setSpacing(_GAP)
        for half in (self._to_open(openers, column), self._to_try(samples, column)):
            half.addStretch(1)
            self._halves.addLayout(half, 1)
        self._drop = _drop_zone(column)
        laid_out(QVBoxLayout(column), _head(column), self._halves, self._drop, margins=0, spacing=_GAP)
        outer = QGridLayout(body)
        outer.setContentsMargins(32, 16, 32, 16)
        outer.setColumnStretch(0, 1)
        outer.addWidget(column, 1, 1)
        outer.setColumnStretch(1, 20)
        outer.setColumnStretch(2, 1)
        outer.setRowStretch(0, 2)
        outer.setRowStretch(2, 3)
        self.setWidget(body)

    def show_keys(self, commands: Sequence[tuple[QAction, str]]) -> None:
        """List commands with their keys, each with what it does."""
        self._keys.addLayout(_keys(commands, self))

    def focus(self) -> None:
        """Focus the first tile."""
        self._first.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the two columns side by side, or below each other in a narrow window."""
        super().resizeEvent(event)
        beside = event.size().width() >= _TWO_COLUMNS
        self._halves.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)

    def show_drop(self, able: bool) -> None:
        """Highlight the drop zone while something that can be dropped is dragged over the window."""
        self._drop.setProperty("drop", "able" if able else "none")
        theme.restyle(self._drop)

    def set_recent(self, items: Sequence[str], titles: Mapping[str, str] | None = None) -> None:
        """Show the recent items.

        Args:
            items: paths and URLs, the newest first.
            titles: what to show in place of the names of items that the user has not named: unsaved sessions.
        """
        while (old := self._recent.takeAt(0)) is not None:
            if (row := old.widget()) is not None:
                row.deleteLater()
        rows = [self._recent_row(item, (titles or {}).get(item, "")) for item in items[:_MOST_RECENT]]
        for row in rows:
            self._recent.addWidget(row)
        if not rows:
            self._recent.addWidget(_nothing())
        for before, after in pairwise([self._last_opener, *rows]):
            self.setTabOrder(before, after)

    def _to_open(self, actions: Sequence[QAction], parent: QWidget) -> QVBoxLayout:
        rows, openers = _section("Open", parent), []
        tiles = (
            ("agent", "robot", "A folder with agent.py: run it, hold it at any event, inspect its state."),
            ("database", "database", "Sessions of google-adk, adk web or LangGraph in a file, and traces of any framework."),
            ("url", "server", "PostgreSQL, adk api_server or adk web, by URL."),
            ("attach", "plug", "Watch, hold and step your own app while it runs."),
        )
        for action, (name, icon, text) in zip(actions, tiles, strict=True):
            tile = Tile(f"welcome_open_{name}", icon, action.text(), text, key=_key(action), parent=parent)
            tile.clicked.connect(action.trigger)
            rows.addWidget(tile)
            openers.append(tile)
        self._first, self._last_opener = openers[0], openers[-1]
        rows.addSpacing(20)
        rows.addWidget(plain_label("Recent", role="title", parent=parent))
        card, self._recent = _card(parent)
        self._recent.setContentsMargins(4, 4, 4, 4)
        self._recent.setSpacing(0)
        rows.addWidget(card)
        return rows

    def _to_try(self, samples: list[SampleCard], parent: QWidget) -> QVBoxLayout:
        rows = _section("Samples: no API key needed", parent)
        for sample in samples:
            tile = Tile(f"sample_{sample.name}", sample.icon, sample.title, sample.text, parent=parent)
            tile.clicked.connect(partial(self.sample_chosen.emit, sample.name))
            rows.addWidget(tile)
        rows.addSpacing(20)
        rows.addWidget(plain_label("Keys to know", role="title", parent=parent))
        card, self._keys = _card(parent)
        rows.addWidget(card)
        return rows

    def _recent_row(self, item: str, title: str) -> Tile:
        path = Path(item)
        is_url = "://" in item
        is_server = is_url and not item.startswith("sqlite")
        is_agent = not is_url and (path.is_dir() or path.suffix in (".py", ".yaml"))
        is_set = path.name.lower().endswith((".evalset.json", ".test.json"))
        icon = "list-check" if is_set else "robot" if is_agent else "server" if is_server else "database"
        place, name = item.rsplit("/", 1) if is_url else (_short(path.parent), path.name)
        row = Tile("recent_item", icon, _cut(visible(title or name)), aside="of an earlier window" if title else visible(place))
        row.setAccessibleName(f"Open {title or item}")
        set_tooltip(row, item)
        row.clicked.connect(partial(self.item_chosen.emit, item))
        return row


def _head(parent: QWidget) -> QHBoxLayout:
    words = laid_out(
        QVBoxLayout(),
        plain_label("Agent Inspector", role="heading", parent=parent),
        plain_label("Watch an agent live, stop it anywhere, see its state, resume after a crash.", role="dim", parent=parent),
        spacing=4,
    )
    return laid_out(QHBoxLayout(), IconLabel(32, parent, name="magnifying-glass-chart", role="accent"), (words, 1), spacing=12)


def _section(title: str, parent: QWidget) -> QVBoxLayout:
    rows = laid_out(QVBoxLayout(), plain_label(title, role="title", parent=parent), spacing=8)
    return rows


def _card(parent: QWidget) -> tuple[QFrame, QVBoxLayout]:
    card = QFrame(parent)
    card.setProperty("card", True)
    rows = laid_out(QVBoxLayout(card), margins=(14, 12, 14, 12))
    return card, rows


def _nothing() -> QLabel:
    label = plain_label("Nothing yet. Items that you open are listed here.", role="dim")
    label.setContentsMargins(10, 8, 10, 8)
    return label


def _keys(known: Iterable[tuple[QAction, str]], parent: QWidget) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(8)
    grid.setColumnStretch(1, 1)
    for row, (action, text) in enumerate(known):
        grid.addWidget(plain_label(_key(action), role="key", parent=parent), row, 0, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(plain_label(text, role="dim", parent=parent), row, 1)
    return grid


def _drop_zone(parent: QWidget) -> QFrame:
    zone = named(QFrame(parent), "drop_zone")
    what = "a session database, a file of traces, an agent's folder, an eval set or a capsule"
    text = plain_label(f"Or drop {what} anywhere in this window", role="dim", parent=zone)
    laid_out(QHBoxLayout(zone), 1, IconLabel(16, zone, name="file-import", role="dim"), text, 1, margins=(16, 14, 16, 14), spacing=10)
    return zone


def _key(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 13]}…{name[-12:]}"


def _short(folder: Path) -> str:
    """Return a folder with the home directory abbreviated to `~`."""
    home = Path.home()
    return str(Path("~") / folder.relative_to(home)) if folder.is_relative_to(home) else str(folder)
