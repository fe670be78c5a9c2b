"""Sounds, films, documents and sources in an event: opened on a click only, and nothing else is."""

from __future__ import annotations

import asyncio
import builtins
import io
import os
import socket
import wave
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import pytest
from google.genai import types
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.media_files import media_file
from runtime.events import Event
from runtime.sessions import DatabaseSessionService

HOSTILE_URI = "file:///dev/zero"


def event_of(*parts: types.Part, **more: Any) -> Event:
    return Event(author="singer", content=types.Content(role="model", parts=list(parts)), **more)


def blob(kind: str, data: bytes = b"\0\1" * 50) -> types.Part:
    return types.Part(inline_data=types.Blob(mime_type=kind, data=data))


def words(detail: EventDetail) -> list[str]:
    media = detail.cards.media
    return [shown.text() for kind in (QPushButton, QLabel) for shown in media.findChildren(kind) if not shown.isHidden()]


def descriptors() -> int:
    """Return the number of open files of this process; 0 where that is not known."""
    folder = Path("/proc/self/fd")
    return sum(1 for _ in folder.iterdir()) if folder.is_dir() else 0


@pytest.fixture
def detail(qtbot: QtBot) -> EventDetail:
    detail = EventDetail()
    qtbot.addWidget(detail)
    detail.tabs.setCurrentIndex(0)
    return detail


class Opened(QObject):
    """Takes what would be opened by the system."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[QUrl] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.urls.append(url)


@pytest.fixture
def opened_urls() -> Iterator[list[QUrl]]:
    taker = Opened()
    for scheme in ("file", "http", "https"):
        QDesktopServices.setUrlHandler(scheme, taker, "take")
    yield taker.urls
    for scheme in ("file", "http", "https"):
        QDesktopServices.unsetUrlHandler(scheme)


def test_each_sound_and_document_has_a_button(detail: EventDetail) -> None:
    event = event_of(blob("audio/wav"), blob("application/pdf"), blob("application/x-sh", b"rm"), blob("image/png"))
    detail.show_event(0, event)
    assert words(detail) == [
        "Play audio/wav · 100 bytes",
        "Open application/pdf · 100 bytes",
        "application/x-sh · 2 bytes · not opened: no known type",
    ]
    detail.show_event(1, event_of(types.Part(text="silence")))
    assert words(detail) == [] and detail.cards.media.isHidden()


def test_speech_without_a_header_gets_one() -> None:
    suffix, data = media_file(types.Blob(mime_type="audio/L16;codec=pcm;rate=16000", data=b"\0\1" * 8))
    with wave.open(io.BytesIO(data)) as file:
        assert (suffix, file.getframerate(), file.getnchannels(), file.getnframes()) == (".wav", 16_000, 1, 8)
    _, usual = media_file(types.Blob(mime_type="audio/pcm;rate=999999999999", data=b""))
    with wave.open(io.BytesIO(usual)) as file:
        assert file.getframerate() == 24_000


@pytest.mark.parametrize("kind", ["application/x-sh", "audio/../../x.sh", "text/html", "", "application/x-desktop", "audio/midi"])
def test_other_types_are_never_files(kind: str) -> None:
    with pytest.raises(ValueError, match="not opened"):
        media_file(types.Blob(mime_type=kind, data=b"#!/bin/sh"))


def test_a_click_opens_a_temporary_copy(inspector: Inspector, opened_urls: list[QUrl], qtbot: QtBot) -> None:
    detail = inspector.window.parts.detail
    detail.tabs.setCurrentIndex(0)
    detail.show_event(0, event_of(blob("audio/mpeg", b"ID3 sound")))
    (button,) = detail.cards.media.findChildren(QPushButton)
    button.click()
    qtbot.waitUntil(lambda: bool(opened_urls) and not inspector.tasks.running, timeout=10_000)
    (url,) = opened_urls
    file = Path(url.toLocalFile())
    assert (file.suffix, file.read_bytes()) == (".mp3", b"ID3 sound")
    detail.show_event(0, event_of(blob("audio/mpeg", b"another")))  # the file stays until the window is closed
    assert file.is_file()
    assert os.name == "nt" or file.parent.stat().st_mode & 0o77 == 0


def test_sources_and_citations_are_text(detail: EventDetail) -> None:
    grounding = types.GroundingMetadata(
        web_search_queries=["harbour times"],
        grounding_chunks=[
            types.GroundingChunk(web=types.GroundingChunkWeb(title="Harbour", uri="https://harbour.example/times")),
            types.GroundingChunk(retrieved_context=types.GroundingChunkRetrievedContext(title="Rules", uri=HOSTILE_URI)),
        ],
        grounding_supports=[
            types.GroundingSupport(segment=types.Segment(text="It is closed."), grounding_chunk_indices=[0, 7], confidence_scores=[0.5])
        ],
    )
    cited = types.CitationMetadata(citations=[types.Citation(title="A book", uri="https://b.example", start_index=3, end_index=9)])
    event = event_of(types.Part(text="It is closed."), grounding_metadata=grounding, citation_metadata=cited)
    detail.show_event(0, event)
    detail.cards.show_tree(True)
    values = {node.key: node.value for node in detail.cards.model.node(detail.cards.tree.rootIndex()).children}
    assert values["searched for"] == ["harbour times"]
    assert values["sources"] == {"[1]": "Harbour · https://harbour.example/times", "[2]": f"Rules · {HOSTILE_URI}"}
    assert values["grounded text"] == [{"text": "It is closed.", "sources": "[1]", "confidence": [0.5]}]
    assert values["citations"] == [{"title": "A book", "address": "https://b.example", "characters": "3 to 9"}]


def test_hostile_content_opens_nothing(detail: EventDetail, opened_urls: list[QUrl], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("something was opened")

    text = f"![x]({HOSTILE_URI}) <img src='{HOSTILE_URI}'> [y](https://evil.example) <script>1</script> \u202egpj.exe"
    web = types.GroundingChunkWeb(title=f"<img src='{HOSTILE_URI}'>", uri="https://evil.example/x.png")
    event = event_of(
        types.Part(text=text),
        types.Part(text=text, thought=True),
        types.Part(executable_code=types.ExecutableCode(code=text, language=types.Language.PYTHON)),
        types.Part(code_execution_result=types.CodeExecutionResult(output=text, outcome=types.Outcome.OUTCOME_OK)),
        types.Part(file_data=types.FileData(file_uri=HOSTILE_URI, mime_type="image/png")),
        blob("image/svg+xml", f"<svg><image href='{HOSTILE_URI}'/></svg>".encode()),
        blob("audio/wav<img src='file:///dev/zero'>"),
        grounding_metadata=types.GroundingMetadata(grounding_chunks=[types.GroundingChunk(web=web)]),
    )
    detail.resize(600, 800)
    detail.show()
    qtbot.waitExposed(detail)
    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    before = descriptors()
    detail.show_event(0, event)
    detail.grab()
    after = descriptors()
    monkeypatch.undo()
    assert after <= before and opened_urls == []


async def store_a_sound(file: Path) -> None:
    service = DatabaseSessionService(db_url=f"sqlite:///{file}")
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    web = types.GroundingChunkWeb(title="Harbour", uri="https://harbour.example")
    grounding = types.GroundingMetadata(grounding_chunks=[types.GroundingChunk(web=web)])
    event = event_of(types.Part(text="Listen."), blob("audio/wav", b"RIFF sound"), invocation_id="i", grounding_metadata=grounding)
    await service.append_event(session, event)
    await service.close()


def test_what_another_program_stored_is_offered_and_opened(
    inspector: Inspector, opened: Callable[..., None], opened_urls: list[QUrl], tmp_path: Path, qtbot: QtBot
) -> None:
    with ThreadPoolExecutor(1) as thread:  # the window's loop belongs to this one
        thread.submit(lambda: asyncio.run(store_a_sound(tmp_path / "songs.db"))).result()
    opened(tmp_path / "songs.db")
    detail = inspector.window.parts.detail
    inspector.window.parts.stream.select_event(0)
    detail.tabs.setCurrentIndex(0)
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    assert words(detail) == ["Play audio/wav · 10 bytes"]
    detail.cards.show_tree(True)
    assert "sources" in [node.key for node in detail.cards.model.node(detail.cards.tree.rootIndex()).children]
    assert opened_urls == []
    detail.cards.media.findChildren(QPushButton)[0].click()
    qtbot.waitUntil(lambda: bool(opened_urls) and not inspector.tasks.running, timeout=10_000)
    assert Path(opened_urls[0].toLocalFile()).read_bytes() == b"RIFF sound"
