"""The page that shows how google-adk would be installed for an agent, and then the installation."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QProgressBar, QWidget

from inspector_app.opening.page_card import PageCard
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import named

_WIDTH = 860
_LINES = 14  # of the commands and the installer's output visible at once
_MOST_LINES = 5_000  # of the installer's output that are kept
_RUNS = "Installers run code of the packages, which can do everything your account can do."


class InstallPage(QWidget):
    """A page that asks before it installs.

    Signals:
        accepted: the user wants the installation.
        cancelled: the user wants to stop it.
        declined: the user does not want it.
    """

    accepted = Signal()
    cancelled = Signal()
    declined = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("install_page")
        column = PageCard(self, _WIDTH)
        rows = column.rows
        rows.addWidget(IconLabel(32, column, name="download", role="accent"))
        self._title = plain_label(name="install_title", role="heading", wraps=True, parent=column)
        rows.addWidget(self._title)
        self._text = plain_label(name="install_text", wraps=True, parent=column)
        rows.addWidget(self._text)
        self._log = named(QPlainTextEdit(column, readOnly=True), "install_log", "Commands and output of the installation")
        self._log.setMaximumBlockCount(_MOST_LINES)
        self._log.setMinimumHeight(_LINES * self._log.fontMetrics().lineSpacing())
        theme.use_mono(self._log)
        rows.addWidget(self._log)
        self._progress = QProgressBar(column)
        self._progress.setRange(0, 0)
        self._progress.setAccessibleName("The installation is running")
        rows.addWidget(self._progress)
        line = QHBoxLayout()
        self._accept = push_button("Install", "install_accept", self.accepted, primary=True, parent=column)
        self._cancel = push_button("Cancel", "install_cancel", self.cancelled, parent=column)
        self._decline = push_button("Back", "install_decline", self.declined, parent=column)
        for button in (self._accept, self._cancel, self._decline):
            line.addWidget(button)
        line.addStretch(1)
        rows.addLayout(line)

    def ask(self, name: str, text: str, commands: Sequence[str], required: str, decline: str) -> None:
        """Show what would be done.

        Args:
            name: the agent's name.
            text: what would be done; or, without commands, why it cannot be.
            commands: the commands.
            required: the text of the file with the agent's requirements.
            decline: what the button says that leaves the page.
        """
        self._title.setText(f"Install google-adk for {visible(name)}")
        self._log.setPlainText("\n".join(map(visible, [*commands, *(("", *required.splitlines()) if required else ())])))
        self._decline.setText(decline)
        self._decline.setAccessibleName(decline)
        self.show_end(f"{text} {_RUNS}" if commands else text, can_install=bool(commands))
        self._log.setVisible(bool(commands))

    def show_running(self) -> None:
        """Show that the installation runs, and what it prints."""
        self._log.clear()
        self._show("Installing. The agent is loaded when it is done.", is_running=True)
        self._cancel.setFocus()

    def add_line(self, line: str) -> None:
        """Show a line that the installation has printed."""
        self._log.appendPlainText(visible(line))

    def show_cancelling(self) -> None:
        """Show that what the installation did is being undone."""
        self._show("Undoing what was done…", is_running=True)
        self._cancel.setEnabled(False)

    def show_end(self, text: str, *, can_install: bool = True) -> None:
        """Show that nothing runs.

        Args:
            text: why, and what to do.
            can_install: whether the installation can be started.
        """
        self._show(text, is_running=False)
        self._accept.setVisible(can_install)
        self._decline.setFocus()  # so that Enter gives the safe answer

    def _show(self, text: str, *, is_running: bool) -> None:
        self._text.setText(visible(text))
        self._cancel.setEnabled(True)
        for part in (self._progress, self._cancel):
            part.setVisible(is_running)
        for button in (self._accept, self._decline):
            button.setVisible(not is_running)
