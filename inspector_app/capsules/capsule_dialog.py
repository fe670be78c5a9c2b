"""A dialog that shows what a capsule would hold, and what is replaced in it, before it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.presentation.values import counted, plain_tooltip, visible, visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog
from inspector_app.widgets.tooltips import set_tooltip

_PLACE = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class CapsuleChoice:
    """What the user chose.

    Attributes:
        first, last: the places of the first and the last event, from 0.
        kept: the places in which nothing is replaced.
        test: whether a test of the agent is written, too.
    """

    first: int
    last: int
    kept: frozenset[str]
    test: bool


class CapsuleDialog(QDialog):
    """A dialog with the events of the slice, and a list of what is replaced. Open it with `open()`.

    Attributes:
        first, last: the numbers of the first and the last event, from 1.
        places: what is replaced, with a check box each.
        test: write a test, too.

    Signals:
        slice_changed(int, int): the user chose other events; their places from 0.
        write_requested(CapsuleChoice): the user confirmed.

    Args:
        title: what is exported.
        events: how many events the session has.
        agent: a sentence about the agent's description.
        no_test: why no test can be written; empty if it can.
    """

    slice_changed = Signal(int, int)
    write_requested = Signal(object)

    def __init__(self, title: str, events: int, agent: str, no_test: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up_dialog(self, "capsule_dialog", "Export as a capsule", 680, 520)
        self._title = plain_label(visible_lines(title), name="capsule_title", role="name", wraps=True)
        self._agent = plain_label(visible_lines(agent), "capsule_agent", wraps=True)
        self._holds = plain_label("reading…", "capsule_holds", wraps=True)
        self._what = plain_label(name="capsule_what", wraps=True)
        self.first, self.last = self._number("first", 1, events), self._number("last", events, events)
        self.places = self._make_list()
        self.test = named(QCheckBox("Also write a test (pytest) that fails when the agent no longer does this", self), "capsule_test")
        self.test.setAccessibleName(self.test.text())
        self.test.setEnabled(not no_test)
        set_tooltip(self.test, no_test or "It is run once when it is written, and so are the agent's tools.")
        self._cancel = push_button("Cancel", "capsule_cancel", self.reject, parent=self)
        self._write = push_button(
            "Write the capsule…",
            "capsule_write",
            icon=theme.icon("file-export", "on_accent"),
            does="Write the capsule",
            primary=True,
            parent=self,
        )
        self._write.setEnabled(False)
        self._write.setDefault(True)
        self._write.clicked.connect(self._on_write)
        self._lay_out(events)
        for number in (self.first, self.last):
            number.valueChanged.connect(self._on_slice_changed)

    @property
    def holds(self) -> str:
        """What the capsule would hold, as a sentence."""
        return self._holds.text()

    @property
    def choice(self) -> CapsuleChoice:
        """What is chosen now."""
        items = [self.places.topLevelItem(row) for row in range(self.places.topLevelItemCount())]
        kept = {str(item.data(0, _PLACE)) for item in items if item is not None and item.checkState(0) == Qt.CheckState.Unchecked}
        return CapsuleChoice(self.first.value() - 1, self.last.value() - 1, frozenset(kept), self.test.isChecked())

    def show_content(self, holds: str, replaced: Sequence[tuple[str, str]]) -> None:
        """Show what the capsule would hold.

        Args:
            holds: a sentence.
            replaced: each place where something is replaced, and what is there then.
        """
        kept = self.choice.kept
        self._holds.setText(visible_lines(holds))
        self.places.clear()
        for place, text in replaced:
            item = QTreeWidgetItem([visible(place), visible(text)])
            item.setData(0, _PLACE, place)
            item.setCheckState(0, Qt.CheckState.Unchecked if place in kept else Qt.CheckState.Checked)
            for column, words in ((0, place), (1, text)):
                item.setToolTip(column, plain_tooltip(words))
            self.places.addTopLevelItem(item)
        self.places.setVisible(bool(replaced))
        self._show_kept()
        self._write.setEnabled(True)

    def say(self, text: str) -> None:
        """Show a text in place of the content; nothing can be written meanwhile."""
        self._holds.setText(visible_lines(text))
        self._write.setEnabled(False)

    def _make_list(self) -> QTreeWidget:
        tree = named(QTreeWidget(self), "capsule_places", "What is replaced")
        tree.setHeaderLabels(["Replaced", "What is there then"])
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setColumnWidth(0, 330)
        tree.header().setStretchLastSection(True)
        tree.itemChanged.connect(self._on_item_changed)
        return tree

    def _number(self, name: str, value: int, most: int) -> QSpinBox:
        field = named(QSpinBox(self), f"capsule_{name}", f"{name.capitalize()} event")
        field.setRange(1, most)
        field.setValue(value)
        theme.pad(field)
        return field

    def _lay_out(self, events: int) -> None:
        line = QHBoxLayout()
        for part in (QLabel("Events"), self.first, QLabel("to"), self.last, QLabel(f"of {events:,}")):
            line.addWidget(part)
        line.addStretch(1)
        buttons = laid_out(QHBoxLayout(), 1, self._cancel, self._write)
        laid_out(
            QVBoxLayout(self),
            self._title,
            line,
            self._holds,
            self._agent,
            self._what,
            (self.places, 1),
            0,
            self.test,
            buttons,
            margins=(14, 14, 14, 12),
            spacing=10,
        )

    def _show_kept(self) -> None:
        count, kept = self.places.topLevelItemCount(), len(self.choice.kept)
        if not count:
            self._what.setText("Nothing looks like a password, a key or a token. Look through the events if the file leaves your hands.")
        elif kept:
            self._what.setText(f"{counted(kept, 'place')} of {count:,} are written as they are. Check a place to replace what is there.")
        else:
            places = f"{counted(count, 'place')} {'looks' if count == 1 else 'look'} like a password, a key or a token"
            self._what.setText(f"{places}, and will be replaced. Uncheck one to keep what is there.")
        self._what.setProperty("role", "warn" if kept else "")
        theme.restyle(self._what)

    def _on_item_changed(self, _item: QTreeWidgetItem, _column: int) -> None:
        self._show_kept()

    def _on_slice_changed(self) -> None:
        self.first.setMaximum(self.last.value())
        self.last.setMinimum(self.first.value())
        self.say("reading…")
        self.slice_changed.emit(self.first.value() - 1, self.last.value() - 1)

    def _on_write(self) -> None:
        self.write_requested.emit(self.choice)
        self.accept()
