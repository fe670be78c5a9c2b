from __future__ import annotations

from contextlib import closing
from pathlib import Path

from inspector_app.engines.recorder_file import recorder_module
from runtime.storage.connections.open_files import open_files


def test_the_inspectors_own_recorder_opens_its_file_through_the_door(tmp_path: Path) -> None:
    recording = recorder_module().Recording(tmp_path / "run.rec.db")
    with closing(recording._open()):
        assert tmp_path / "run.rec.db" in open_files
    assert tmp_path / "run.rec.db" not in open_files
