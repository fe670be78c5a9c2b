"""Markdown from models and other untrusted sources, shown without loading anything it refers to."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QByteArray, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
    QTextTable,
)
from PySide6.QtWidgets import QMessageBox, QTextBrowser, QWidget

from inspector_app.presentation.values import visible, visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import copy_text
from inspector_app.widgets.text_dialog import broken_lines

_OPENABLE = ("http", "https", "mailto")
_LINE_HEIGHT = 118  # per cent of the font's


class SafeBrowser(QTextBrowser):
    """A read-only text view that loads no file and no URL, and opens links only after asking."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setProperty("bare", "true")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.document().setDocumentMargin(10)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._nothing_to_see = QImage(1, 1, QImage.Format.Format_ARGB32)
        self._nothing_to_see.fill(Qt.GlobalColor.transparent)
        self.anchorClicked.connect(self._on_anchor_clicked)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Return an empty picture, or empty data, for every resource.

        If this returned nothing, or data that is not a picture, Qt would read the named file itself.
        """
        if kind == QTextDocument.ResourceType.ImageResource.value:
            return self._nothing_to_see
        return QByteArray(b" ")

    def set_markdown(self, text: str) -> None:
        """Show Markdown; HTML in it appears as text. Paragraphs have space between them, and code is wrapped."""
        features = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
        document, font = self.document(), self.font()
        font.setPointSizeF(font.pixelSize() * 72 / self.logicalDpiY())  # Qt makes margins of points: none, of a size in pixels
        if font != document.defaultFont():  # it lays out what is displayed
            document.setDefaultFont(font)
        document.setMarkdown(visible_lines(text), features)
        _set_typography(document)

    def set_plain(self, text: str) -> None:
        """Show plain text."""
        self.setPlainText(broken_lines(text))

    def _on_anchor_clicked(self, url: QUrl) -> None:
        self.ask_about_link(url)

    def ask_about_link(self, url: QUrl) -> QMessageBox:
        """Ask whether to open a link of the text; return the message box."""
        return ask_about_link(self, url, "This text links to")


def _set_typography(document: QTextDocument) -> None:
    """Give lines air, headings a modest size, wrapped code a ground, and tables thin lines."""
    whole = QTextCursor(document)
    whole.beginEditBlock()
    whole.select(QTextCursor.SelectionType.Document)
    airy, flat, code, heading = QTextBlockFormat(), QTextBlockFormat(), QTextBlockFormat(), QTextCharFormat()
    airy.setLineHeight(_LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    whole.mergeBlockFormat(airy)
    flat.setTopMargin(0)
    flat.setBottomMargin(0)
    code.setNonBreakableLines(False)
    code.setBackground(theme.color("raised"))
    block = document.begin()
    while block.isValid():
        form, place = block.blockFormat(), QTextCursor(block)
        if form.nonBreakableLines():
            place.mergeBlockFormat(code)
        elif form.headingLevel():
            heading.setProperty(QTextFormat.Property.FontSizeAdjustment.value, 1 if form.headingLevel() < 3 else 0)
            place.select(QTextCursor.SelectionType.BlockUnderCursor)
            place.mergeCharFormat(heading)
        elif place.currentTable() is not None:
            place.mergeBlockFormat(flat)
        block = block.next()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            table = frame.format().toTableFormat()
            table.setBorderBrush(theme.color("line"))
            table.setBorderCollapse(True)
            table.setCellPadding(4)
            frame.setFormat(table)
    whole.endEditBlock()


def ask_about_link(parent: QWidget, url: QUrl, what: str) -> QMessageBox:
    """Show where a link leads and open it only after confirmation; return the message box.

    Args:
        parent: parent of the message box.
        url: the link.
        what: what contains the link, such as "This text links to".
    """
    target = url.toString()
    box = QMessageBox(parent)
    box.setObjectName("link_question")
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle("Open link?")
    can_open = url.scheme() in _OPENABLE
    box.setText(f"{what}:" if can_open else f"{what} an address that cannot be opened here:")
    box.setInformativeText(visible(target[:1000]))
    copy = box.addButton("Copy link", QMessageBox.ButtonRole.ActionRole)
    copy.clicked.connect(lambda: copy_text(target))
    if can_open:
        box.addButton("Open in browser", QMessageBox.ButtonRole.AcceptRole).clicked.connect(lambda: QDesktopServices.openUrl(url))
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    box.open()
    return box
