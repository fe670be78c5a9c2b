"""The text of Word documents (.docx)."""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.parsers import expat

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_MAX_XML = 10 * 1024 * 1024  # bytes; a small archive can hold a file of any size
_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main "


class _TextReader:
    """Collects the paragraphs while a document's XML is read."""

    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        self._paragraph: list[str] = []
        self._is_in_text = False

    def refuse_types(self, *_: object) -> None:
        """Refuse document type declarations: their entities can expand to any size. Word writes none."""
        raise ValueError("a Word document declares no document type")

    def begin(self, name: str, _: dict[str, str]) -> None:
        match name.removeprefix(_NAMESPACE):
            case "t":
                self._is_in_text = True
            case "tab":
                self._paragraph.append("\t")
            case "br":
                self._paragraph.append("\n")

    def read(self, text: str) -> None:
        if self._is_in_text:
            self._paragraph.append(text)

    def end(self, name: str) -> None:
        match name.removeprefix(_NAMESPACE):
            case "t":
                self._is_in_text = False
            case "p":
                if text := "".join(self._paragraph).strip("\n"):
                    self.paragraphs.append(text)
                self._paragraph = []


def word_text(data: bytes) -> str | None:
    """Return the text of a Word document.

    Returns:
        One line for each paragraph that has text; None if the bytes are no Word document, or if its text takes more than 10 MB.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open("word/document.xml") as file:
            xml = file.read(_MAX_XML + 1)
        if len(xml) > _MAX_XML:
            return None
        reader = _TextReader()
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = reader.refuse_types
        parser.StartElementHandler = reader.begin
        parser.CharacterDataHandler = reader.read
        parser.EndElementHandler = reader.end
        parser.Parse(xml, True)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError, expat.ExpatError):
        return None
    return "\n".join(reader.paragraphs)
