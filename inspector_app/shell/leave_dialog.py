"""The question before sessions are deleted with the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget


class LeaveDialog(QMessageBox):
    """Asks what becomes of sessions that have no database. Open it with `open()`.

    Attributes:
        save_button: stores them first.
        delete_button: closes the window, which deletes them.

    Args:
        count: the number of sessions.
        parent: the window.
    """

    def __init__(self, count: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        what, it, they = ("1 session is", "it", "it") if count == 1 else (f"{count:,} sessions are", "them", "they")
        self.setObjectName("leave_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Close without saving?")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(f"{what} not saved.")
        self.setInformativeText(f"Closing the window deletes {it}. Saved in a database, {they} can be opened and resumed later.")
        self.save_button = self.addButton("Save and close…", QMessageBox.ButtonRole.AcceptRole)
        self.save_button.setObjectName("leave_dialog_save")
        self.delete_button = self.addButton("Delete and close", QMessageBox.ButtonRole.DestructiveRole)
        self.delete_button.setObjectName("leave_dialog_delete")
        cancel = self.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        cancel.setObjectName("leave_dialog_cancel")
        self.setDefaultButton(self.save_button)
        self.setEscapeButton(cancel)
