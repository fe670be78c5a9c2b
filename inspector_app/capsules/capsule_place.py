"""The file dialog of a capsule."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget


def ask_where_to_write(name: str, chosen: Callable[[str], None], parent: QWidget) -> None:
    """Ask for the file of a capsule.

    Args:
        name: the proposed name.
        chosen: receives the path.
        parent: the window.
    """
    dialog = QFileDialog(parent, "Write the capsule")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter("Capsules (*.capsule)")
    dialog.setDefaultSuffix("capsule")
    dialog.selectFile("".join(letter if letter not in '/\\:*?"<>|' else "-" for letter in name))
    dialog.fileSelected.connect(chosen)
    dialog.open()
