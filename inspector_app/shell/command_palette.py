"""The command palette: finds any command of the menu by parts of its name."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.shell.focus_home import FocusLoan
from inspector_app.widgets import theme
from inspector_app.widgets.actions import BLOCKED
from inspector_app.widgets.announcements import announce

_ACTION = Qt.ItemDataRole.UserRole
_KEY = Qt.ItemDataRole.UserRole + 1
_REASON = Qt.ItemDataRole.UserRole + 2
_ROW_HEIGHT = 30
_MOST_ROWS = 12
_WIDTH = 560
_MARGIN = 12


class CommandPalette(QFrame):
    """A card at the top of the window. Escape, a click elsewhere or choosing a command closes it.

    Attributes:
        field: the search field. A command matches if its name contains every word.
        commands: the matching commands, the best first. Disabled ones are at the end, each with the reason.

    Args:
        menu: the menu whose commands are listed.
        window: the parent; the card keeps its place when the window is resized.
    """

    def __init__(self, menu: QMenu, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("command_palette")
        self.setProperty("card", "true")
        self.setAccessibleName("Command palette")
        self._menu = menu
        self._keyboard = FocusLoan()
        self.field = QLineEdit()
        self.field.setObjectName("command_search")
        self.field.setAccessibleName("Find a command")
        self.field.setPlaceholderText("What do you want to do?")
        self.commands = QListView()
        self.commands.setObjectName("command_list")
        self.commands.setAccessibleName("Commands")
        self.commands.setProperty("bare", "true")
        self.commands.setUniformItemSizes(True)
        theme.keep_icon_size(self.commands, 14)
        self.commands.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.commands.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.commands.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.commands.setItemDelegate(_CommandDelegate(self.commands))
        self._rows = QStandardItemModel(self)
        self.commands.setModel(self._rows)
        column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        column.setSpacing(8)
        column.addWidget(self.field)
        column.addWidget(self.commands)
        self.field.textChanged.connect(self._fill)
        self.field.installEventFilter(self)
        self.commands.clicked.connect(self._choose)
        window.installEventFilter(self)
        self.hide()

    def ask(self) -> None:
        """Show the palette with an empty field and give it the focus."""
        self.field.clear()
        self._fill()
        self.show()
        self.raise_()
        self._keyboard.take(self.field, (self,))

    @property
    def names(self) -> list[str]:
        """The listed names, from top to bottom."""
        return [self._rows.index(row, 0).data() for row in range(self._rows.rowCount())]

    @property
    def reasons(self) -> list[str]:
        """Why each listed command is disabled; empty for an enabled one."""
        return [self._rows.index(row, 0).data(_REASON) for row in range(self._rows.rowCount())]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Use the field's keys to move in the list, hide when the field loses the focus, and follow the window's size."""
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._take_key(event.key())
        if watched is self.field and event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        elif event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _take_key(self, key: int) -> bool:
        moves = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _MOST_ROWS, Qt.Key.Key_PageUp: -_MOST_ROWS}
        if key in moves:
            last = self._rows.rowCount() - 1
            self._select(max(0, min(last, self.commands.currentIndex().row() + moves[Qt.Key(key)])))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.commands.currentIndex())
        elif key == Qt.Key.Key_Escape:
            self._leave()
        else:
            return False
        return True

    def _choose(self, index: QModelIndex) -> None:
        action: QAction | None = index.data(_ACTION)
        if action is not None and action.isEnabled():
            self._leave()
            action.trigger()

    def _leave(self) -> None:
        self.hide()
        self._keyboard.give_back()

    def _fill(self, _text: str = "") -> None:
        words = self.field.text().casefold().split()
        fitting = [(name, action) for name, action in _actions(self._menu) if all(word in name.casefold() for word in words)]
        fitting.sort(key=lambda entry: (not entry[1].isEnabled(), not _begins(entry[1].text(), words)))
        self._rows.clear()
        for name, action in fitting:
            self._rows.appendRow(_row(name, action))
        if not fitting:
            self._rows.appendRow(_nothing())
        self._select(0)
        self._place()

    def _select(self, row: int) -> None:
        index = self._rows.index(row, 0)
        self.commands.setCurrentIndex(index)
        if self.isVisible():
            announce(self.commands, index.data(Qt.ItemDataRole.AccessibleTextRole))  # the focus stays in the field

    def _place(self) -> None:
        window = self.parentWidget()  # not an attribute: the reference cycle would crash Python at exit
        assert window is not None
        width = min(_WIDTH, window.width() - 2 * _MARGIN)
        height = 2 * _MARGIN + 8 + self.field.sizeHint().height() + min(self._rows.rowCount(), _MOST_ROWS) * theme.px(_ROW_HEIGHT) + 8
        self.setGeometry((window.width() - width) // 2, 52, width, min(height, window.height() - 60))


class _CommandDelegate(QStyledItemDelegate):
    """A delegate that paints a command's icon and name, and on the right its shortcut, or why it is disabled."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Paint one row."""
        self.initStyleOption(option, index)
        name, reason = option.text, index.data(_REASON)
        option.text = ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        painter.save()
        text = QRect(option.rect.adjusted(30, 0, -10, 0))
        painter.setPen(theme.color("dim" if reason else "text"))
        painter.drawText(text, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), name)
        room = text.width() - option.fontMetrics.horizontalAdvance(name) - 24
        right = option.fontMetrics.elidedText(reason or index.data(_KEY), Qt.TextElideMode.ElideRight, max(0, room))
        painter.setPen(theme.color("dim"))
        painter.drawText(text, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), right)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the size of a row; all rows have the same height."""
        return QSize(option.rect.width(), theme.px(_ROW_HEIGHT))


def _actions(menu: QMenu, path: str = "") -> Iterator[tuple[str, QAction]]:
    """Yield each action of a menu and its submenus, named by its path, such as "Run: Step"."""
    for action in menu.actions():
        if (inner := action.menu()) is not None and isinstance(inner, QMenu):
            yield from _actions(inner, f"{path}{_plain(action)}: ")
        elif not action.isSeparator() and action.isVisible():
            name = _plain(action)
            yield name if path == f"{name}: " else f"{path}{name}", action


def _row(name: str, action: QAction) -> QStandardItem:
    row = QStandardItem(action.icon(), name)
    reason = "" if action.isEnabled() else action.property(BLOCKED) or "not now"
    key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    row.setData(action, _ACTION)
    row.setData(key, _KEY)
    row.setData(reason, _REASON)
    row.setAccessibleText(", ".join(filter(None, (name, reason or key))))
    row.setToolTip(action.toolTip())
    return row


def _nothing() -> QStandardItem:
    row = QStandardItem("No command has these words in its name")
    row.setAccessibleText(row.text())
    row.setEnabled(False)
    row.setData("", _KEY)
    row.setData("", _REASON)
    return row


def _plain(action: QAction) -> str:
    return action.text().replace("&", "").rstrip("…")


def _begins(name: str, words: list[str]) -> bool:
    return bool(words) and name.casefold().startswith(words[0])
