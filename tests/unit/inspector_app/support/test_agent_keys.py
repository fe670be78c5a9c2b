"""Keys in the system's keyring: here a keyring in a file."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest
from keyring import core
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from keyrings.alt.file import PlaintextKeyring

from inspector_app.support.agent_keys import MAX_LENGTH, SERVICE, AgentKeys, KeyringError
from inspector_app.support.preferences import Preferences
from tests.keyrings import KeyringInFile

SECRET = "planted-sk-0123456789"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "preferences.json"


@pytest.fixture
def keys(file: Path, keyring_in_file: KeyringInFile) -> AgentKeys:
    return AgentKeys(Preferences(file))


def test_a_key_is_stored_replaced_and_removed(keys: AgentKeys, file: Path, keyring_in_file: KeyringInFile) -> None:
    keys.store("MY_KEY", f" {SECRET}\n")
    assert (keys.names(), keys.values()) == (["MY_KEY"], {"MY_KEY": SECRET})
    assert keyring_in_file.get_password(SERVICE, "MY_KEY") == SECRET
    AgentKeys(Preferences(file)).store("MY_KEY", "second")
    assert keys.values() == {"MY_KEY": "second"}
    assert SECRET not in file.read_text() and list(json.loads(file.read_text())["kept_keys"]) == ["MY_KEY"]
    keys.remove("MY_KEY")
    assert (keys.names(), keys.values(), keyring_in_file.get_password(SERVICE, "MY_KEY")) == ([], {}, None)


def test_a_key_that_another_inspector_has_replaced_is_read_again(keys: AgentKeys, file: Path, keyring_in_file: KeyringInFile) -> None:
    keys.store("MY_KEY", SECRET)
    keyring_in_file.set_password(SERVICE, "MY_KEY", "second")
    assert keys.values() == {"MY_KEY": SECRET}  # read once
    Preferences(file).keep_key("MY_KEY", "later")
    assert keys.values() == {"MY_KEY": "second"}


def test_without_keys_the_library_is_not_imported(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring.core", None)  # an import of it fails
    keys = AgentKeys(Preferences(file))
    assert keys.values() == {}
    assert "cannot be used" in (keys.why_not() or "")


@pytest.mark.parametrize(
    ("name", "key"),
    [("", "k"), ("1A", "k"), ("A B", "k"), ("A=B", "k"), ("A", " "), ("A", "a\0b"), ("A", "a\nb"), ("A", "a" * (MAX_LENGTH + 1))],
)
def test_a_name_or_key_that_cannot_be_a_variable_is_refused(keys: AgentKeys, name: str, key: str) -> None:
    with pytest.raises(KeyringError) as refused:
        keys.store(name, key)
    assert keys.names() == [] and "\n" not in str(refused.value)


@pytest.mark.parametrize("backend", [NoKeyring(), PlaintextKeyring()])
def test_where_keys_are_not_safe_a_sentence_says_what_to_do(
    keys: AgentKeys, monkeypatch: pytest.MonkeyPatch, backend: KeyringBackend
) -> None:
    monkeypatch.setattr(core, "_keyring_backend", backend)
    assert keys.why_not() == (
        "This system has no keyring that keeps keys safe. Set the key as an environment variable, or in the .env of the agent's folder."
    )
    with pytest.raises(KeyringError):
        keys.store("MY_KEY", SECRET)
    assert keys.names() == []


def test_a_keyring_that_refuses_is_quoted_without_the_key(keys: AgentKeys, keyring_in_file: KeyringInFile) -> None:
    keyring_in_file.refuses = True
    with pytest.raises(KeyringError) as refused:
        keys.store("MY_KEY", SECRET)
    assert "is locked" in str(refused.value) and SECRET not in str(refused.value)
    assert refused.value.__cause__ is None and refused.value.__suppress_context__


def test_agents_run_without_a_key_that_cannot_be_read(
    keys: AgentKeys, keyring_in_file: KeyringInFile, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Preferences(file).keep_key("LOST_KEY", "once")
    Preferences(file).keep_key("LOCKED_KEY", "once")
    keyring_in_file.refuses = True
    with caplog.at_level(logging.WARNING):
        assert keys.values() == {} == keys.values()
    assert [record.getMessage().split(":")[0] for record in caplog.records] == [
        "Agents run without LOST_KEY",
        "Agents run without LOCKED_KEY",
    ]
