"""Bug capsules: one file with all that is known of a session, for another machine without the agent's code.

A capsule is a ZIP file of JSON parts: `capsule.json` (what it is of), `session.jsonl` (the session, as `export` writes it), `requests.json`
(what models were asked), `artifacts.json` (the files). Nothing in it is unpacked by its name, and nothing in it is code.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.errors import KnownError
from runtime.storage.connections.companions import real_file
from runtime.storage.connections.open_files import open_files

Json = dict[str, Any]
FORMAT = 1
SUFFIX = ".capsule"
MOST_BYTES = 500_000_000  # of a part when unpacked
PARTS = ("capsule.json", "session.jsonl", "requests.json", "artifacts.json")


class CapsuleError(KnownError):
    """A file that is no capsule, or not a whole one."""


@dataclass(slots=True)
class Capsule:
    """The content of a capsule.

    Attributes:
        about: `format`, `made_by`, `app_name`, `user_id`, `session_id`, `agent` (its description; None if it is not known),
            `replaced` (where secrets were), `source` (the database's name).
        session: JSON lines.
        requests: what models were asked: for each event that is an answer, its `event_id` and the `request`.
        artifacts: the files: `filename`, `version`, `part`.
        samples: place → what is there in place of a secret, of a capsule that was not read from a file.
    """

    about: Json
    session: str
    requests: list[Json] = field(default_factory=list)
    artifacts: list[Json] = field(default_factory=list)
    samples: dict[str, str] = field(default_factory=dict)

    @property
    def events(self) -> list[Json]:
        """The events as google-adk's event JSON."""
        return [json.loads(line) for line in self.session.splitlines()[1:]]

    @property
    def first_state(self) -> Json:
        """The session's own state before its first event; empty if it is not recorded."""
        found: Json = json.loads(self.session.splitlines()[0])["session"].get("initial_state") or {}
        return found


def write_capsule(capsule: Capsule, out: Path) -> None:
    """Write a capsule into a file, which exists and is empty.

    Args:
        capsule: the content.
        out: the file.
    """
    texts = (json.dumps(capsule.about), capsule.session, json.dumps(capsule.requests), json.dumps(capsule.artifacts))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in zip(PARTS, texts, strict=True):
            file.writestr(name, text)


def is_capsule(path: str) -> bool:
    """Return whether a path names a capsule: by its name, and by how the file begins."""
    if "://" in path or not path.endswith(SUFFIX):
        return False
    try:
        with open_files.reading(real_file(Path(path).expanduser())) as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def read_capsule(path: Path) -> Capsule:
    """Return a capsule's content.

    Raises:
        CapsuleError: it is no capsule, damaged, too large, or of a later version.
    """
    try:
        with zipfile.ZipFile(path) as file:
            about, session, requests, artifacts = (_part(file, path, name) for name in PARTS)
        found = Capsule(json.loads(about), session, json.loads(requests), json.loads(artifacts))
        events = found.events
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError, NotImplementedError, RuntimeError, EOFError) as error:
        raise CapsuleError(f"{path} is no capsule, or a damaged one: {error}.") from None
    except FileNotFoundError:
        raise CapsuleError(f"There is no file {path}.") from None
    except OSError as error:
        raise CapsuleError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not isinstance(found.about, dict) or found.about.get("format") != FORMAT:
        raise CapsuleError(f"{path} is no capsule of format {FORMAT}, which is what this version reads.")
    lists = (found.requests, found.artifacts, events)
    if not all(isinstance(one, list) and all(isinstance(item, Mapping) for item in one) for one in lists):
        raise CapsuleError(f"{path} is a damaged capsule: its parts are not lists of objects.")
    return found


def _part(file: zipfile.ZipFile, path: Path, name: str) -> str:
    if file.getinfo(name).file_size > MOST_BYTES:
        raise CapsuleError(f"{path}: {name} would be larger than {MOST_BYTES:,} bytes.")
    with file.open(name) as part:
        data = part.read(MOST_BYTES + 1)  # the size that a file declares may be wrong
    if len(data) > MOST_BYTES:
        raise CapsuleError(f"{path}: {name} is larger than {MOST_BYTES:,} bytes.")
    return data.decode("utf-8")
