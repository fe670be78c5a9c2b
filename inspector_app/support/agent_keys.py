"""Keys of models in the system's keyring, such as GOOGLE_API_KEY: they become environment variables of agents.

The keyring is the system's own: the Keychain of macOS, the Credential Manager of Windows, the Secret Service or KWallet of a Linux desktop.
The preferences have only the names. While they have none, `keyring` is not imported.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import threading
from datetime import UTC, datetime
from typing import Any

from inspector_app.support.preferences import Preferences
from runtime.errors import KnownError

SERVICE = "agent-inspector"  # under which the keyring lists the keys
MAX_LENGTH = 1_200  # characters; the Credential Manager of Windows takes 2,560 bytes of UTF-16

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INSTEAD = "Set the key as an environment variable, or in the .env of the agent's folder."

_guard = threading.Lock()
_read: dict[str, tuple[str, str | None]] = {}  # name → when it was stored, and the key; None: it cannot be read

_log = logging.getLogger(__name__)


class KeyringError(KnownError):
    """The keyring cannot be used, or refuses a key. The message never has the key."""


class AgentKeys:
    """The keys of this user. All methods but `names` may wait for the keyring, which may ask the user to unlock it.

    Args:
        preferences: has the names; None means the user's own.
    """

    def __init__(self, preferences: Preferences | None = None) -> None:
        self._preferences = preferences or Preferences()

    def names(self) -> list[str]:
        """Return the variables whose keys are in the keyring."""
        return list(self._preferences.kept_keys)

    def why_not(self) -> str | None:
        """Return a sentence that says why there is no keyring, and what to do instead; None if there is one."""
        try:
            _keyring()
        except KeyringError as error:
            return str(error)
        return None

    def store(self, name: str, key: str) -> None:
        """Store a key, in place of the one before it.

        Args:
            name: the environment variable.
            key: without space around it.

        Raises:
            KeyringError: the name or the key is unusable, or the keyring refuses it.
        """
        key = key.strip()
        if not _NAME.fullmatch(name):
            raise KeyringError("A name has letters, digits and _ only, such as GOOGLE_API_KEY.")
        if not key or not key.isprintable():
            raise KeyringError("A key has at least one character, and is one line of text.")
        if len(key) > MAX_LENGTH:
            raise KeyringError(f"The key is longer than {MAX_LENGTH:,} characters, which not every keyring can store. {_INSTEAD}")
        try:
            _keyring().set_password(SERVICE, name, key)
        except Exception as error:
            raise _refused("stored", error, key) from None
        stored = datetime.now(UTC).isoformat(timespec="microseconds")
        with _guard:
            _read[name] = stored, key
        self._preferences.keep_key(name, stored)

    def remove(self, name: str) -> None:
        """Remove a key; one that is not in the keyring any more is forgotten.

        Raises:
            KeyringError: the keyring cannot be used.
        """
        try:
            keyring = _keyring()
            if keyring.get_password(SERVICE, name) is not None:
                keyring.delete_password(SERVICE, name)
        except Exception as error:
            raise _refused("removed", error) from None
        with _guard:
            _read.pop(name, None)
        self._preferences.keep_key(name, None)

    def values(self) -> dict[str, str]:
        """Return the keys by name. Each is read once, and again after it was replaced; one that cannot be read is reported and left out."""
        found: dict[str, str] = {}
        for name, stored in self._preferences.kept_keys.items():
            with _guard:
                known = _read.get(name)
                if known is None or known[0] != stored:
                    known = _read[name] = stored, _password(name)
            if known[1]:
                found[name] = known[1]
        return found


def _password(name: str) -> str | None:
    try:
        key: str | None = _keyring().get_password(SERVICE, name)
    except Exception as error:
        _log.warning("Agents run without %s: %s", name, _refused("read", error))
        return None
    if key is None:
        _log.warning("Agents run without %s: it is not in the system's keyring any more. Set it again in the settings.", name)
    return key


def _keyring() -> Any:
    """Return the keyring; import it first.

    Raises:
        KeyringError: there is none that keeps keys safe.
    """
    try:
        core = importlib.import_module("keyring.core")
        found = core.get_keyring()
        is_chosen = bool(os.environ.get("PYTHON_KEYRING_BACKEND")) or core.load_config() is not None
        priority = found.priority
    except Exception as error:  # a backend that the user has named, and that is not installed
        raise KeyringError(f"The system's keyring cannot be used: {error}. {_INSTEAD}") from None
    # Without a keyring, `keyring` chooses a backend that refuses everything; a file in plain text must be the user's own choice.
    if priority <= 0 or (priority < 1 and not is_chosen):
        raise KeyringError(f"This system has no keyring that keeps keys safe. {_INSTEAD}")
    return found


def _refused(what: str, error: Exception, key: str = "") -> KeyringError:
    if isinstance(error, KeyringError):
        return error
    text = str(error) or type(error).__name__
    if key:
        text = text.replace(key, "…")
    return KeyringError(f"The key cannot be {what}: {text.rstrip('.')}. Unlock the keyring and try again. {_INSTEAD}")
