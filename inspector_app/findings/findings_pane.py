"""The findings of the doctor: a list, and why the selected one matters and what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QPlainTextEdit,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.analysis.finding import Finding
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import push_button
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from runtime.sessions.session_key import SessionKey

_ICONS = {"error": ("circle-xmark", "bad"), "warning": ("triangle-exclamation", "warn"), "note": ("circle-info", "dim")}
_FINDING = Qt.ItemDataRole.UserRole
_WIDEST = 240  # pixels of a column with kinds or titles, at a scale of 100 %


class FindingsPane(QWidget):
    """A list of findings, with the details of the selected one beside it.

    Signals:
        wanted: the pane came to the front.
        again_requested: the user asked to examine everything again.
        finding_chosen(Finding): the user selected a finding.
    """

    wanted = Signal()
    again_requested = Signal()
    finding_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findings_pane")
        self._is_displayed = False
        self._title = named(ElidedLabel(), "findings_title")
        self._title.setProperty("role", "secondary")
        self._again = push_button("Examine again", "examine_again", self.again_requested.emit, parent=self)
        self.tree = self._make_tree()
        self._details = named(QPlainTextEdit(self, readOnly=True), "finding_details", "Why the finding matters, and what to do")
        self._copy = push_button("Copy command", "copy_fix", self._on_copy, parent=self)
        self._empty = EmptyState("Nothing examined", "Open a database to find out what is wrong with it.")
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._make_lists())
        self._stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)  # allows the height of an empty Pending pane
        head = laid_out(QHBoxLayout(), (self._title, 1), self._copy, self._again)
        laid_out(QVBoxLayout(self), head, (self._stack, 1), margins=(0, 4, 0, 0), spacing=4)
        self.say("Nothing examined", "Open a database to find out what is wrong with it.", can_examine=False)

    @property
    def title(self) -> str:
        """What was examined, and when."""
        return self._title.text()

    @property
    def text(self) -> tuple[str, str]:
        """The text in place of the list; empty texts while the list is displayed."""
        return self._empty.text if self._stack.currentWidget() is self._empty else ("", "")

    @property
    def details(self) -> str:
        """The text about the selected finding."""
        return self._details.toPlainText()

    @property
    def findings(self) -> list[Finding]:
        """The listed findings."""
        items = (self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount()))
        return [item.data(0, _FINDING) for item in items if item is not None]

    def say(self, title: str, hint: str = "", *, can_examine: bool = True) -> None:
        """Show a text in place of the list.

        Args:
            title: what is happening, or why there is no list.
            hint: what to do.
            can_examine: whether examining again makes sense.
        """
        self._title.clear()
        self.tree.clear()
        self._again.setEnabled(can_examine)
        self._empty.set_text(title, hint)
        self._stack.setCurrentWidget(self._empty)

    def show_findings(self, title: str, button: str, findings: Sequence[Finding], titles: Mapping[SessionKey, str]) -> None:
        """Show findings.

        Args:
            title: what was examined, and when.
            button: what examining again does.
            findings: in the order to list them.
            titles: of the sessions, as far as they are known.
        """
        self._title.setText(visible(title))
        self._again.setText(button)
        self._again.setAccessibleName(button)
        self._again.setEnabled(True)
        self.tree.clear()
        self.tree.addTopLevelItems([_item(finding, titles) for finding in findings])
        header = self.tree.header()
        for column in (0, 1):  # Qt's own fitting leaves no gap between two columns
            width = max(self.tree.sizeHintForColumn(column), header.sectionSizeHint(column)) + theme.px(14)
            header.resizeSection(column, min(width, theme.px(_WIDEST)))
        self._on_current_changed(None)
        if findings:
            self._stack.setCurrentIndex(1)
        else:
            self._empty.set_text("No findings", "The checks that were made found nothing.")
            self._stack.setCurrentWidget(self._empty)

    @property
    def is_displayed(self) -> bool:
        """Whether the pane is in front of the other tabs."""
        return self._is_displayed

    def set_displayed(self, displayed: bool) -> None:
        """Note whether the pane is in front; Qt reports the tabs behind as visible, too."""
        self._is_displayed = displayed
        if displayed:
            self.wanted.emit()

    def _make_tree(self) -> QTreeWidget:
        tree = named(QTreeWidget(self), "findings_list", "Findings")
        tree.setHeaderLabels(["Finding", "Session", "What"])
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        theme.keep_icon_size(tree, 14)
        tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        tree.header().setStretchLastSection(True)
        tree.setMinimumHeight(2 * tree.fontMetrics().lineSpacing())
        tree.currentItemChanged.connect(self._on_current_changed)
        return tree

    def _make_lists(self) -> QWidget:
        split = QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False)
        split.addWidget(self.tree)
        split.addWidget(self._details)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        return split

    def _on_current_changed(self, item: QTreeWidgetItem | None, _before: object = None) -> None:
        finding: Finding | None = item.data(0, _FINDING) if item is not None else None
        self._copy.setVisible(finding is not None and finding.fix is not None)
        self._details.setPlainText(visible_details(finding) if finding else "Select a finding to see why it matters, and what to do.")
        if finding is not None:
            self.finding_chosen.emit(finding)

    def _on_copy(self) -> None:
        item = self.tree.currentItem()
        finding: Finding | None = item.data(0, _FINDING) if item is not None else None
        if finding is not None and finding.fix is not None:
            QGuiApplication.clipboard().setText(shlex.join(finding.fix))


def visible_details(finding: Finding) -> str:
    """Return a finding as text: what, why, what to do, and the command."""
    command = f"\n{visible(shlex.join(finding.fix))}" if finding.fix else ""
    return f"{visible(finding.what)}\n{finding.why}\n{finding.advice}{command}"


def _item(finding: Finding, titles: Mapping[SessionKey, str]) -> QTreeWidgetItem:
    session = titles.get(finding.key) or short_id(finding.key.session_id) if finding.key else "whole database"
    item = QTreeWidgetItem([finding.kind, visible(session), visible(finding.what)])
    item.setIcon(0, theme.icon(*_ICONS[finding.level]))
    item.setToolTip(0, plain_tooltip(finding.level))
    item.setToolTip(1, plain_tooltip(f"Session {finding.key.session_id} of {finding.key.app_name}" if finding.key else "All sessions"))
    item.setToolTip(2, plain_tooltip(finding.what))
    item.setData(0, _FINDING, finding)
    return item
