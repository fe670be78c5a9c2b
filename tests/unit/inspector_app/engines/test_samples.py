from __future__ import annotations

from pathlib import Path

from inspector_app.engines.samples import is_bundled, samples


def test_each_sample_has_a_folder_a_text_and_an_example() -> None:
    found = samples()
    assert [sample.name for sample in found] == ["story", "orders"]
    for sample in found:
        assert (sample.folder / "agent.py").is_file()
        assert sample.text.endswith(".") and "\n" not in sample.text
        assert sample.example
        assert is_bundled(sample.folder)


def test_other_folders_are_not_bundled(tmp_path: Path) -> None:
    assert not is_bundled(tmp_path)
    assert not is_bundled(samples()[0].folder.parents[1])
