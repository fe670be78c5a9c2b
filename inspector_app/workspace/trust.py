"""Trust in agents' folders: what was trusted, and whether it is still the same."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileInfo

from inspector_app.engines.code_files import code_digest, code_files
from inspector_app.engines.env_file import AgentEnvironment, EnvFileError, sentence_of
from inspector_app.presentation.trust_question import FolderCode, Reason
from inspector_app.support.preferences import Preferences


def read_code(folder: Path) -> FolderCode:
    """Read a folder's code; on a worker thread, as it may be large. No code runs."""
    info = QFileInfo(str(folder.resolve()))
    identity = f"{folder.stat().st_ino}:{info.birthTime().toMSecsSinceEpoch() if info.birthTime().isValid() else ''}"
    return FolderCode(folder, code_digest(folder), identity, code_files(folder).files, _env_sentence(folder))


class Trust:
    """The trusted folders.

    Args:
        preferences: where they are remembered, for all windows.
    """

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences

    def doubt(self, code: FolderCode) -> Reason | None:
        """Return why to ask about a folder's code; None if it is trusted."""
        known = self._preferences.trusted_code(code.folder)
        if not known:
            return "new"
        if known.get("identity") != code.identity:
            return "replaced"
        if known.get("changes") is True or (code.digest is not None and known.get("digest") == code.digest):
            return None
        return "changed"

    def remember(self, code: FolderCode, *, changes: bool = False) -> None:
        """Remember that a folder's code may run.

        Args:
            code: as it was shown to the user.
            changes: also after it changes.
        """
        self._preferences.keep_trusted_code(code.folder, {"digest": code.digest, "identity": code.identity, "changes": changes})


def _env_sentence(folder: Path) -> str:
    environment = AgentEnvironment(folder)
    try:
        names = environment.names
    except EnvFileError as error:
        return str(error)
    return sentence_of(environment.file, names) if environment.file is not None and names else ""
