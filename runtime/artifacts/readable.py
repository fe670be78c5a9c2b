"""Files as text for language models."""

from __future__ import annotations

from typing import Any

from google.genai import types

from runtime.artifacts.word_documents import MEDIA_TYPE as WORD
from runtime.artifacts.word_documents import word_text

_TEXT_TYPES = (
    "text/",
    "application/csv",
    "application/javascript",
    "application/json",
    "application/sql",
    "application/toml",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
    "image/svg",
    "image/xml",
)
_TEXT_SUFFIXES = ("+json", "+xml", "+yaml")  # such as image/svg+xml


def kind_of_bytes(blob: types.Blob) -> str:
    """Return the media type of bytes in lower case, without its parameters."""
    return (blob.mime_type or "application/octet-stream").lower().partition(";")[0].strip()


def is_text(kind: str) -> bool:
    """Return whether bytes of a media type are text."""
    return kind.startswith(_TEXT_TYPES) or kind.endswith(_TEXT_SUFFIXES)


def text_of(artifact: Any) -> str:
    """Return an artifact as text, from any form in which services return it.

    Args:
        artifact: a part, its JSON object, a text, or bytes.

    Returns:
        Its text, decoded if it is kept as bytes; also a Word document's. Bytes of no text type are described, unless they have no type
        and are UTF-8.
    """
    if isinstance(artifact, str):
        return artifact
    if isinstance(artifact, bytes):
        artifact = types.Part(inline_data=types.Blob(data=artifact))
    elif isinstance(artifact, dict):
        artifact = types.Part.model_validate(artifact)
    if artifact.text is not None:
        return str(artifact.text)
    blob = artifact.inline_data
    if blob is None or blob.data is None:
        return str(artifact)
    kind = kind_of_bytes(blob)
    if is_text(kind):
        return str(blob.data.decode(errors="replace"))
    if kind in (WORD, "application/octet-stream") and (text := word_text(blob.data)) is not None:
        return text
    if kind == "application/octet-stream":
        try:
            return str(blob.data.decode())
        except UnicodeDecodeError:
            pass
    return described(blob)


def described(blob: types.Blob) -> str:
    """Return a sentence in place of bytes that are not text."""
    return f"[{len(blob.data or b'')} bytes of {kind_of_bytes(blob)}, which cannot be shown]"
