"""The page shown when something could not be opened: why it failed, and what to do."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QSizePolicy, QWidget

from inspector_app.opening.page_card import PageCard
from inspector_app.presentation.code_link import CodeLink
from inspector_app.widgets import theme
from inspector_app.widgets.code_button import CodeButton
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out, named

_WIDTH = 860
_MOST_LINES = 24  # lines of the details visible at once


class ProblemPage(QWidget):
    """An error page: a sentence, *Retry*, and details that can be copied.

    Attributes:
        code: opens the place in the agent's code.
        install: offers to install google-adk; hidden until it is of use for the problem.

    Signals:
        retry: the user asked to try again.
        another_requested: the user asked to open something else.
        given_up: the user closed the page.
    """

    retry = Signal()
    another_requested = Signal()
    given_up = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        column = PageCard(self, _WIDTH)
        rows = column.rows
        rows.addWidget(IconLabel(32, column, name="triangle-exclamation", role="bad"))
        self._title = plain_label(name="problem_title", role="heading", parent=column)
        self._text = plain_label(name="problem_text", parent=column)
        for label in (self._title, self._text):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            rows.addWidget(label)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self._details = named(_Details(column), "problem_details", "Details")
        self._details.setReadOnly(True)
        self._details.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        theme.use_mono(self._details)
        rows.addWidget(self._details)
        rows.addLayout(self._buttons(column))

    def show_problem(
        self, title: str, text: str, details: str | None = None, *, offers_another: bool = False, code: CodeLink | None = None
    ) -> None:
        """Show an error.

        Args:
            title: what was attempted.
            text: why it failed, and what to do.
            details: for example a traceback; None for none.
            code: the place in the agent's code, if that failed.
            offers_another: whether to offer *Open another…* first, because a retry would fail again.
        """
        self._title.setText(title)
        self._text.setText(text)
        self._details.setPlainText(details or "")
        self._details.updateGeometry()
        self._details.setVisible(bool(details))
        self._another.setVisible(offers_another)
        self.install.hide()
        self.code.set_links([code] if code is not None else [])
        self._lead(self._another if offers_another else self._retry)

    def offer_install(self) -> None:
        """Offer to install google-adk, as a retry would fail again."""
        self.install.show()
        self._lead(self.install)

    @property
    def text(self) -> str:
        """The error sentence as displayed."""
        return self._text.text()

    def _lead(self, first: QPushButton) -> None:
        for button in (self._another, self._retry, self.install):
            button.setProperty("primary", button is first)
            theme.restyle(button)
        first.setFocus()

    def _buttons(self, parent: QWidget) -> QHBoxLayout:
        self._another = push_button("Open another…", "problem_another", self.another_requested, parent=parent)
        self._another.hide()  # seldom offered; while visible it widens the window
        self._retry = push_button("Retry", "problem_retry", self.retry, parent=parent)
        copy = push_button("Copy", "problem_copy", self._on_copy, parent=parent)
        leave = push_button("Close", "problem_close", self.given_up, parent=parent)
        self.install = push_button("Install google-adk…", "problem_install", parent=parent)
        self.install.hide()
        self.code = CodeButton("problem_code", parent)
        return laid_out(QHBoxLayout(), self._another, self._retry, self.install, copy, leave, self.code, 1)

    def _on_copy(self) -> None:
        parts = (self._title.text(), self._text.text(), self._details.toPlainText())
        QGuiApplication.clipboard().setText("\n\n".join(filter(None, parts)))


class _Details(QPlainTextEdit):
    """A text box as high as its lines, between a minimum and a maximum."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        """Return the height of the lines and a scroll bar."""
        lines = min(self.document().blockCount() + 1, _MOST_LINES)
        return QSize(super().sizeHint().width(), lines * self.fontMetrics().lineSpacing() + 24)

    def minimumSizeHint(self) -> QSize:
        """Return the height that remains in a low window."""
        return QSize(super().minimumSizeHint().width(), 4 * self.fontMetrics().lineSpacing())
