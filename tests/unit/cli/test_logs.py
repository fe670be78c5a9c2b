"""Logging for scripts that run agents."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.cli.utils import logs


@pytest.fixture(autouse=True)
def root_logger_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("runtime").setLevel(logging.NOTSET)


@pytest.mark.rule("R11")
def test_a_script_logs_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = Path(logs.log_to_tmp_folder(log_file_prefix="mine", log_file_timestamp="1"))
    assert file == tmp_path / "agents_log" / "mine.1.log"
    logging.getLogger("runtime.any").info("hello")
    latest = tmp_path / "agents_log" / "mine.latest.log"
    assert "test_logs.py" in latest.read_text()
    assert "hello" in file.read_text()
    assert str(latest) in capsys.readouterr().out
    logs.setup_adk_logger(logging.DEBUG)
    assert logging.getLogger("runtime.any").isEnabledFor(logging.DEBUG)
