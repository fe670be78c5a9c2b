"""A keyring that keeps passwords in a file, in place of the system's: what the tests store must not reach it."""

from __future__ import annotations

import json
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringError, PasswordDeleteError


class KeyringInFile(KeyringBackend):
    """A keyring of the tests. While it `refuses`, it says what locked ones say, with the password in its message."""

    priority = 1  # type: ignore[assignment]  # the library declares a property of the class

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file
        self.refuses = False

    def get_password(self, service: str, username: str) -> str | None:
        self._check("")
        return self._kept().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check(password)
        self.file.write_text(json.dumps({**self._kept(), f"{service}/{username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        if kept.pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError("not found")
        self.file.write_text(json.dumps(kept))

    def _kept(self) -> dict[str, str]:
        return json.loads(self.file.read_text()) if self.file.exists() else {}

    def _check(self, password: str) -> None:
        if self.refuses:
            raise KeyringError(f"the collection is locked {password}")
