"""A help page in its own window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument, QTextFormat
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from inspector_app.widgets.controls import push_button
from inspector_app.widgets.safe_browser import SafeBrowser

_SPACE = 8


class HelpDialog(QDialog):
    """A dialog that shows a Markdown text. Open it with `open()`.

    Args:
        title: the title of the window.
        markdown: the text.
    """

    def __init__(self, title: str, markdown: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("help_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(1140, 680)  # as wide as the lines of the grammar
        text = SafeBrowser()
        text.setObjectName("help_text")
        text.setAccessibleName(title)
        text.set_markdown(markdown)
        _space_out(text.document())
        text.moveCursor(QTextCursor.MoveOperation.Start)
        close = push_button("Close", "close_help")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 10, 10, 10)
        layout.addWidget(text, 1)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)


def _space_out(document: QTextDocument) -> None:
    """Add space between paragraphs, and around lists and code."""

    def kind(block: QTextBlock) -> str:
        is_code = block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeLanguage)
        return "code" if is_code else "list" if block.textList() is not None else "paragraph"

    block = document.begin()
    while block.isValid():
        following = block.next()
        if following.isValid() and (kind(block) == "paragraph" or kind(block) != kind(following)):
            spaced = block.blockFormat()
            spaced.setBottomMargin(_SPACE)
            QTextCursor(block).setBlockFormat(spaced)
        block = following
