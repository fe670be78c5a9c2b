from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector_app.support.editor import NoEditorError, editor_command, open_in_editor

FILE = "/home/ada/agent.py"


def command(*programs: str, chosen: str = "", **environ: str) -> list[str]:
    return editor_command(FILE, 7, chosen, environ, lambda name: f"/bin/{name}" if name in programs else None)


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("code", ["--goto", f"{FILE}:7"]),
        ("pycharm", ["--line", "7", FILE]),
        ("subl", [f"{FILE}:7"]),
        ("kate", ["--line", "7", FILE]),
        ("gedit", ["+7", FILE]),
        ("xdg-open", [FILE]),
    ],
)
def test_each_known_editor_opens_the_line(program: str, arguments: list[str]) -> None:
    assert command(program) == [f"/bin/{program}", *arguments]


def test_the_chosen_editor_comes_before_the_variables_and_these_before_what_is_installed() -> None:
    assert command("code", "subl", "gedit", "kate", chosen="kate", VISUAL="gedit", EDITOR="subl")[0] == "/bin/kate"
    assert command("code", "subl", "gedit", VISUAL="gedit -s", EDITOR="subl") == ["/bin/gedit", "-s", "+7", FILE]
    assert command("code", "subl", VISUAL="missing", EDITOR="subl")[0] == "/bin/subl"
    assert command("code", "xdg-open")[0] == "/bin/code"


def test_a_command_with_places_is_filled_in_without_a_shell() -> None:
    assert command("my-editor", chosen="my-editor -n '{file}' at={line}") == ["/bin/my-editor", "-n", FILE, "at=7"]


def test_an_editor_for_a_terminal_is_opened_in_one() -> None:
    assert command("vim", "xterm", EDITOR="vim") == ["/bin/xterm", "-e", "/bin/vim", "+7", FILE]
    assert command("vim", "code", EDITOR="vim")[0] == "/bin/code", "there is no terminal"


def test_a_missing_editor_says_what_to_do() -> None:
    with pytest.raises(NoEditorError, match="No editor was found"):
        command()
    with pytest.raises(NoEditorError, match="The editor missing was not found"):
        command("code", chosen="missing")


def test_only_text_files_that_exist_are_opened(tmp_path: Path) -> None:
    for file in (tmp_path / "agent.py", tmp_path / "run.desktop", Path("agent.py")):
        (tmp_path / "run.desktop").touch()
        with pytest.raises(NoEditorError, match="is not a file that can be opened"):
            open_in_editor(str(file), 1)


def test_the_editor_is_started_with_the_file(tmp_path: Path) -> None:
    file, seen = tmp_path / "agent.py", tmp_path / "seen"
    file.touch()
    script = f"import sys; open({str(seen)!r}, 'w').write(' '.join(sys.argv[1:]))"
    process = open_in_editor(str(file), 3, f'{sys.executable} -c "{script}" {{file}} {{line}}')
    process.wait(30)
    assert seen.read_text() == f"{file} 3"
