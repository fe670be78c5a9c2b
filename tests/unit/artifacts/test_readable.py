"""Files as text for language models."""

from __future__ import annotations

import io
import zipfile

import pytest
from google.genai import types

from runtime.artifacts.readable import text_of
from runtime.artifacts.word_documents import MEDIA_TYPE, word_text

NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word(body: str, before: str = "", *, file: str = "word/document.xml") -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(file, f'{before}<x:document xmlns:x="{NAMESPACE}" xmlns:y="other"><x:body>{body}</x:body></x:document>')
    return written.getvalue()


LETTER = word(
    "<x:p><x:pPr>no text</x:pPr><x:r><x:t>Fish &amp; </x:t></x:r><x:r><x:t>chips</x:t><x:tab/><x:t>5</x:t></x:r></x:p><x:p/>"
    "<x:p><x:t>below</x:t><y:t>of another kind</y:t></x:p>"
)


@pytest.mark.parametrize("kind", [MEDIA_TYPE, "application/octet-stream"])
def test_the_text_of_a_word_document_is_shown(kind: str) -> None:
    assert text_of(types.Part.from_bytes(data=LETTER, mime_type=kind)) == "Fish & chips\t5\nbelow"


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    "data",
    [
        b"no archive",
        LETTER[:-20],
        LETTER[:60] + b"?" * 40 + LETTER[100:],
        word("", file="other.xml"),
        word("<x:p>"),
        word("<x:p><x:t>&b;</x:t></x:p>", ENTITIES),
        word("<x:p>" + " " * (10 * 1024 * 1024) + "</x:p>"),
    ],
    ids=["bytes", "cut", "damaged", "other archive", "broken XML", "entities", "too large"],
)
def test_damaged_and_harmful_documents_are_only_described(data: bytes) -> None:
    assert word_text(data) is None
    assert text_of(types.Part.from_bytes(data=data, mime_type=MEDIA_TYPE)).startswith(f"[{len(data)} bytes of {MEDIA_TYPE}")


@pytest.mark.parametrize("kind", ["image/svg", "image/svg+xml", "image/xml", "text/markdown; charset=utf-8"])
def test_pictures_written_as_text_are_shown_as_text(kind: str) -> None:
    assert text_of(types.Part.from_bytes(data=b"<svg/>", mime_type=kind)) == "<svg/>"
