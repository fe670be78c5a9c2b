"""Pictures in an event: thumbnails, and no access to other files."""

from __future__ import annotations

import pytest
from google.genai import types
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.pictures import Pictures
from runtime.events import Event


def picture(kind: str, width: int, height: int) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(0x3366CC)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert image.save(buffer, kind)
    return data.data()


def words(pictures: Pictures) -> list[str]:
    return [label.text() for label in pictures.findChildren(QLabel) if label.text()]


def shown(pictures: Pictures) -> list[QImage]:
    return [label.pixmap().toImage() for label in pictures.findChildren(QLabel) if not label.pixmap().isNull()]


@pytest.fixture
def pictures(qtbot: QtBot) -> Pictures:
    pictures = Pictures()
    qtbot.addWidget(pictures)
    return pictures


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_a_large_picture_is_scaled_down_and_its_size_stated(pictures: Pictures, kind: str) -> None:
    data = picture(kind, 1000, 500)
    pictures.set_pictures([types.Blob(data=data, mime_type=f"image/{kind}")])
    (image,) = shown(pictures)
    assert (image.width(), image.height()) == (420, 210)
    assert words(pictures) == [f"1,000 × 500 · image/{kind} · {len(data):,} bytes"]


def test_data_that_is_not_a_picture_shows_why(pictures: Pictures) -> None:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/hostname"/></svg>'
    pictures.set_pictures(
        [
            types.Blob(data=svg, mime_type="image/svg+xml"),
            types.Blob(data=svg, mime_type="image/png"),
            types.Blob(data=picture("png", 9, 9)[:40], mime_type="image/png"),
            types.Blob(data=b"", mime_type="image/gif"),
            types.Blob(data=b"RIFF", mime_type="audio/wav"),
        ]
    )
    assert shown(pictures) == []
    assert [text.rpartition(" · ")[2] for text in words(pictures)] == ["not shown", "damaged", "damaged", "damaged"]


def test_a_picture_too_large_for_memory_is_not_decoded(pictures: Pictures) -> None:
    header = picture("png", 8, 8)
    huge = header[:16] + (60_000).to_bytes(4, "big") * 2 + header[24:]
    pictures.set_pictures([types.Blob(data=huge, mime_type="image/png")])
    assert shown(pictures) == []


def test_pictures_are_shown_beside_the_text_and_hidden_for_other_events(qtbot: QtBot) -> None:
    detail = EventDetail()
    qtbot.addWidget(detail)
    detail.show()
    detail.tabs.setCurrentIndex(0)
    blob = types.Blob(data=picture("png", 30, 20), mime_type="image/png")
    parts = [types.Part(text="A chart"), types.Part(inline_data=blob)]
    detail.show_event(0, Event(author="a", content=types.Content(parts=parts)))
    assert detail.cards.pictures.isVisible()
    assert [image.size().width() for image in shown(detail.cards.pictures)] == [30]
    assert detail.cards.browser.toPlainText() == "A chart"
    detail.show_event(1, Event(author="a", content=types.Content(parts=[types.Part(text="No chart")])))
    assert not detail.cards.pictures.isVisible()
