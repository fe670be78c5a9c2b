"""The question whether to connect to a server on another machine."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from inspector_app.widgets.layouts import named


class HostDialog(QMessageBox):
    """Asks before anything is sent to another machine. Open it with `open()`.

    Attributes:
        connect_button: allows the connection.

    Args:
        host: the machine.
        parent: the window.
    """

    def __init__(self, host: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("host_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Connect to another machine?")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(f"{host} is another machine. Connect to it?")
        self.setInformativeText(
            "It decides what you see, and receives the messages, tokens and answers that you send. Your answer is remembered for this host."
        )
        self.connect_button = named(self.addButton("Connect", QMessageBox.ButtonRole.AcceptRole), "host_dialog_connect")
        cancel = named(self.addButton("Cancel", QMessageBox.ButtonRole.RejectRole), "host_dialog_cancel")
        self.setDefaultButton(cancel)
        self.setEscapeButton(cancel)
