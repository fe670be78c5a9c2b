"""The dialog that asks for the command of the user's editor."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QWidget

_QUESTION = (
    "Command of your editor, such as code or vim. {file} and {line} in it are replaced.\nEmpty: $VISUAL, $EDITOR, or one that is installed."
)


class EditorDialog(QInputDialog):
    """Asks for a command; `textValueSelected` has the answer.

    Args:
        command: the present one; empty for none.
        parent: the window.
    """

    def __init__(self, command: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("editor_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Editor for code")
        self.setLabelText(_QUESTION)
        self.setTextValue(command)
