"""Sounds, films and documents in events, as files that the system's programs can open. No Qt.

A model's output names its own media type and may lie. Only types of this list become files, with the suffix of the list, so nothing that a
system would run is ever made.
"""

from __future__ import annotations

import io
import re
import wave
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.genai import types

SUFFIXES = {
    "audio/wav": ".wav",
    "audio/wave": ".wav",
    "audio/x-wav": ".wav",
    "audio/mpeg": ".mp3",
    "audio/mp3": ".mp3",
    "audio/ogg": ".ogg",
    "audio/flac": ".flac",
    "audio/aac": ".aac",
    "audio/mp4": ".m4a",
    "audio/webm": ".webm",
    "video/mp4": ".mp4",
    "video/webm": ".webm",
    "video/quicktime": ".mov",
    "application/pdf": ".pdf",
}
RAW_SOUND = ("audio/l16", "audio/pcm")  # samples without a header, as speech models send them
USUAL_RATE = 24_000  # samples a second, of Gemini's speech
MAX_RATE = 384_000
MAX_FILE = 500_000_000  # bytes


def media_type(blob: types.Blob) -> str:
    """Return a media type without its parameters, in lower case."""
    return (blob.mime_type or "").split(";", 1)[0].strip().lower()


def is_openable(blob: types.Blob) -> bool:
    """Return whether `media_file` makes a file of it."""
    return media_type(blob) in SUFFIXES or media_type(blob) in RAW_SOUND


def is_played(blob: types.Blob) -> bool:
    """Return whether it is a sound or a film."""
    return media_type(blob).startswith(("audio/", "video/"))


def media_file(blob: types.Blob) -> tuple[str, bytes]:
    """Return the suffix and the bytes of a file; samples without a header get one.

    Raises:
        ValueError: the type is not in the list, or the data is too large; the message is a sentence.
    """
    data, kind = blob.data or b"", media_type(blob)
    if len(data) > MAX_FILE:
        raise ValueError(f"It has {len(data):,} bytes, more than the {MAX_FILE:,} that are opened.")
    if kind in RAW_SOUND:
        return ".wav", _with_header(data, _rate(blob.mime_type or ""))
    if kind not in SUFFIXES:
        raise ValueError("Files of this type are not opened.")
    return SUFFIXES[kind], data


def _rate(text: str) -> int:
    found = re.search(r"rate=(\d{1,6})\b", text)
    rate = int(found[1]) if found else USUAL_RATE
    return rate if 0 < rate <= MAX_RATE else USUAL_RATE


def _with_header(samples: bytes, rate: int) -> bytes:
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples)
    return made.getvalue()
