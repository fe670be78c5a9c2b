"""Saved filters: a button in the filter bar with a menu that applies, saves and removes them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QToolButton, QWidget

from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.layouts import named
from inspector_app.widgets.tooltips import set_action_tooltip, set_tooltip

_SHOWN_NAME = 60
_SHOWN_FILTER = 50


class SavedFilters(QToolButton):
    """The button and its menu.

    Signals:
        chosen (str): a filter was chosen.
        save_requested (str, str): the user wants to save a filter: name and filter.
        remove_requested (str): the user wants to remove the filter of this name.
    """

    chosen = Signal(str)
    save_requested = Signal(str, str)
    remove_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._filters: dict[str, str] | None = None
        self._offered = ""
        named(self, "saved_filters", "Saved filters")
        set_tooltip(self, "Saved filters (Ctrl+D)")
        self.setIcon(theme.icon("bookmark", "dim"))
        theme.keep_icon_size(self, 16)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.clicked.connect(self.ask)

    @property
    def filters(self) -> dict[str, str]:
        """Name → filter."""
        return dict(self._filters or {})

    def set_filters(self, filters: dict[str, str] | None) -> None:
        """Offer these filters.

        Args:
            filters: name → filter; None: no session is selected, so there is no app to save filters for.
        """
        self._filters = dict(filters) if filters is not None else None

    def offer(self, text: str) -> None:
        """Offer to save a filter; an empty text offers nothing."""
        self._offered = text

    def ask(self) -> None:
        """Open the menu below the button."""
        self.menu_of_filters().popup(self.mapToGlobal(QPoint(0, self.height())))

    def menu_of_filters(self) -> QMenu:
        """Return the menu: the filters, then the commands."""
        menu = named(QMenu(self), "saved_filters_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for name, text in (self._filters or {}).items():
            shown = f"{_plain(name, _SHOWN_NAME)}\t{_plain(text, _SHOWN_FILTER)}"
            _entry(menu, "bookmark", shown, name).triggered.connect(self._on_chosen)
        if not self._filters:
            why = "No filter is saved for this app" if self._filters is not None else "No session is selected"
            _entry(menu, "bookmark", why, "").setEnabled(False)
        menu.addSeparator()
        save = _entry(menu, "plus", "Save this filter…", self._offered)
        save.setEnabled(bool(self._offered) and self._filters is not None)
        set_action_tooltip(save, self._offered or "Write a filter first")
        save.triggered.connect(self._on_save)
        if self._filters:
            removing = menu.addMenu(theme.icon("trash-can", "dim"), "Remove")
            for name in self._filters:
                _entry(removing, "trash-can", _plain(name, _SHOWN_NAME), name).triggered.connect(self._on_removed)
        return menu

    def _on_chosen(self) -> None:
        self.chosen.emit((self._filters or {}).get(_data_of(self.sender()), ""))

    def _on_removed(self) -> None:
        self.remove_requested.emit(_data_of(self.sender()))

    def _on_save(self) -> None:
        """Ask for a name; a filter of that name is replaced."""
        dialog = named(QInputDialog(self), "save_filter")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Save this filter")
        dialog.setLabelText(f"Name of the filter  {_plain(self._offered, _SHOWN_FILTER)}")
        dialog.setTextValue(self._offered[:_SHOWN_NAME])
        field = dialog.findChild(QLineEdit)
        if field is not None:
            field.setAccessibleName("Name of the filter")
            field.selectAll()
        dialog.textValueSelected.connect(partial(self._on_named, self._offered))
        dialog.open()

    def _on_named(self, text: str, name: str) -> None:
        if name.strip():
            self.save_requested.emit(name.strip(), text)


def _entry(menu: QMenu, icon: str, words: str, data: str) -> QAction:
    action = menu.addAction(theme.icon(icon, "dim"), words)
    action.setData(data)
    return action


def _data_of(action: object) -> str:
    assert isinstance(action, QAction)
    return str(action.data())


def _plain(text: str, limit: int) -> str:
    """Return a text for a menu entry: cut to a limit, with `&` doubled, which would underline a letter."""
    return (visible(text[:limit]) + ("…" if len(text) > limit else "")).replace("&", "&&")
