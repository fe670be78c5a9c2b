"""The installation of google-adk for an agent: what is planned, and what is left when it fails, is cancelled or is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from inspector_app.engines import installation
from inspector_app.engines.engine_choice import EngineChoice, plan_engine
from inspector_app.engines.environments import find_environment, is_unfinished
from inspector_app.engines.installation import Installation, InstallError, InstallPlan, plan_installation
from tests.unit.inspector_app.engines.test_engine_choice import ADK, OURS, agent, environment
from tests.wheels import install_from, make_wheel

PACKAGES = "google-adk 'sqlalchemy[asyncio]<3'"
BASE = getattr(sys, "_base_executable", sys.executable)
MAKES_ENVIRONMENT = f"{BASE} -m venv"


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the only packages that can be installed."""
    folder = tmp_path / "wheels"
    install_from(folder, monkeypatch)
    return folder


@pytest.fixture
def clerk(tmp_path: Path) -> Path:
    """Return the folder of an agent without requirements and without an environment."""
    (tmp_path / "project").mkdir()
    return agent(tmp_path / "project" / "clerk", ADK)


def planned(folder: Path) -> InstallPlan:
    return plan_installation(find_environment(folder))


def with_script(plan: InstallPlan, script: str) -> InstallPlan:
    """Return the plan with a Python script in place of the installers."""
    return replace(plan, commands=((sys.executable, "-c", script),))


def snapshot(folder: Path) -> dict[str, bytes | str]:
    """Return what is in a folder: the content of files, the target of links."""
    return {
        place.relative_to(folder).as_posix(): str(place.readlink()) if place.is_symlink() else place.read_bytes() if place.is_file() else ""
        for place in sorted(folder.rglob("*"))
    }


def started(plan: InstallPlan) -> tuple[Installation, threading.Thread, list[InstallError]]:
    """Run an installation on a thread, and return once its script has printed `begun`."""
    begun, errors = threading.Event(), []

    def run() -> None:
        try:
            running.run()
        except InstallError as error:
            errors.append(error)

    running = Installation(plan, lambda line: begun.set() if line == "begun" else None)
    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(30)
    return running, thread, errors


SPOILS = """
import pathlib, sys, time
prefix = pathlib.Path(".venv")
for file in sorted(prefix.rglob("*")):
    if file.is_file() and file.name != "agent-inspector-unfinished":
        file.unlink()
        file.write_text("another")
(prefix / "new").write_text("new")
print("begun", flush=True)
"""


def test_a_new_environment_gets_google_adk_and_what_the_folder_requires(clerk: Path, wheels: Path) -> None:
    make_wheel(wheels, "google-adk", "2.13.0")
    make_wheel(wheels, "google-adk", "2.14.0")
    make_wheel(wheels, "sqlalchemy", "2.0.1", None, "Provides-Extra: asyncio")
    make_wheel(wheels, "colours", "1.0")
    (clerk / "requirements.txt").write_text("google-adk<2.14\ncolours\n")
    before = sorted(clerk.iterdir())
    plan = planned(clerk)
    assert plan.lines() == [
        f"cd {clerk}",
        f"{MAKES_ENVIRONMENT} {clerk}/.venv",
        f"{clerk}/.venv/bin/python -m pip install {PACKAGES} -r requirements.txt",
    ]
    assert plan.text == "requirements.txt:\ngoogle-adk<2.14\ncolours\n"
    lines: list[str] = []
    making, installing = plan.commands
    quick = (  # the same without a pip of its own, which takes seconds
        (*making, "--without-pip"),
        (sys.executable, "-m", "pip", "--python", *(word for word in installing if word not in ("-m", "pip"))),
    )
    made = Installation(replace(plan, commands=quick), lines.append).run()
    assert (made.prefix, made.adk_version) == (clerk / ".venv", "2.13.0")
    assert f"$ {MAKES_ENVIRONMENT} {clerk}/.venv --without-pip" in lines
    assert any(line.startswith("Successfully installed") for line in lines)
    assert list((clerk / ".venv").glob("lib/*/site-packages/colours.py"))
    assert sorted(clerk.iterdir()) == sorted([*before, clerk / ".venv"])
    assert not is_unfinished(clerk / ".venv")
    assert plan_engine(clerk, EngineChoice()).kind == "adk"


@pytest.mark.parametrize(
    ("place", "text", "expected"),
    [
        ("clerk/requirements.txt", "colours\n", f"clerk: {PACKAGES} -r requirements.txt"),
        ("requirements.txt", "colours\n", f": {PACKAGES} -r requirements.txt"),
        ("pyproject.toml", "[project]\ndependencies = ['google-adk>=2', 'b[c]']", f": {PACKAGES} 'google-adk>=2' 'b[c]'"),
        ("clerk/pyproject.toml", "[project]\nname = 'clerk'", f"clerk: {PACKAGES}"),
        ("clerk/pyproject.toml", "[project]\ndynamic = ['dependencies']", f"clerk: {PACKAGES} -e ."),
        ("clerk/pyproject.toml", "[tool.poetry.dependencies]\ncolours = '1'", f"clerk: {PACKAGES} -e ."),
        ("clerk/pyproject.toml", "no toml", f"clerk: {PACKAGES}"),
        ("other/requirements.txt", "colours\n", f"clerk: {PACKAGES}"),
    ],
)  # fmt: skip
def test_what_is_required_is_found_beside_the_agent(place: str, text: str, expected: str, clerk: Path) -> None:
    project = clerk.parent
    (project / place).parent.mkdir(exist_ok=True)
    (project / place).write_text(text)
    where, _, names = expected.partition(": ")
    plan = planned(clerk / "agent.py")
    assert plan.lines()[-1] == f"{plan.prefix}/bin/python -m pip install {names}"
    assert plan.folder == project / where
    assert plan.prefix == project / where / ".venv"


@pytest.mark.parametrize("named", ["['--index-url=http://evil']", "['-r/etc/passwd']", "'colours'", "[1]", "['']", "['./x']"])
def test_dependencies_are_no_options_of_the_installer(named: str, clerk: Path) -> None:
    (clerk / "pyproject.toml").write_text(f"[project]\ndependencies = {named}\n")
    with pytest.raises(InstallError, match="are not requirements"):
        planned(clerk)


def test_uv_is_used_where_it_is(clerk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(uv.parent))
    assert planned(clerk).lines()[1:] == [
        f"{uv} venv --allow-existing --python {BASE} {clerk}/.venv",
        f"{uv} pip install --python {clerk}/.venv/bin/python {PACKAGES}",
    ]
    (clerk / "pyproject.toml").write_text("[project]\nrequires-python = '>=3.99'\n")
    assert planned(clerk).lines()[1] == f"{uv} venv --allow-existing --python '>=3.99' {clerk}/.venv", "uv brings it"


@pytest.mark.parametrize(
    ("needs", "fits"),
    [(">=3.10", True), (">=3.11,<4", True), ("~=3.10", True), (">=3", True), (">=3.99", False), ("<3.11", False), (">=3.10,<3.11", False)],
)
def test_the_python_that_the_project_needs(needs: str, fits: bool, clerk: Path) -> None:
    (clerk.parent / "pyproject.toml").write_text(f"[project]\nrequires-python = '{needs}'\n")
    if fits:
        assert planned(clerk).lines()[1] == f"{MAKES_ENVIRONMENT} {clerk.parent}/.venv"
        return
    with pytest.raises(InstallError, match=f"The agent needs Python {needs}, and this is"):
        planned(clerk)


def test_an_environment_that_exists_is_changed_and_not_replaced(clerk: Path) -> None:
    prefix = environment(clerk.parent / ".venv", adk=None)
    plan = planned(clerk)
    assert plan.changes
    assert plan.sentence.startswith(f"{prefix} exists, without google-adk.")
    assert plan.lines() == [f"cd {clerk}", f"{prefix}/bin/python -m pip install {PACKAGES}"]


def test_an_environment_behind_a_link_is_named_by_its_own_place(clerk: Path, tmp_path: Path) -> None:
    shared = environment(tmp_path / "shared", adk=None)
    (clerk / ".venv").symlink_to(shared)
    assert planned(clerk).prefix == shared


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_what_has_the_name_and_no_python_stays(kind: str, clerk: Path) -> None:
    place = clerk / ".venv"
    place.mkdir() if kind == "folder" else place.touch() if kind == "file" else place.symlink_to("nowhere")
    with pytest.raises(InstallError, match=f"{place} exists, and has no Python. Move it away"):
        planned(clerk)


def test_an_environment_with_an_old_python_is_refused(clerk: Path) -> None:
    (environment(clerk / ".venv", adk=None) / "pyvenv.cfg").write_text("version = 3.9.2\n")
    with pytest.raises(InstallError, match=r"has Python 3.9.2, and >=3.10 is needed. Move it away"):
        planned(clerk)


def test_an_environment_that_is_merely_active_is_not_changed(clerk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(environment(tmp_path / "active", adk=None)))
    assert planned(clerk).prefix == clerk / ".venv"
    monkeypatch.setenv("VIRTUAL_ENV", str(environment(clerk / "env", adk=None)))
    assert planned(clerk).prefix == clerk / "env", "it is in the agent's folder"


def test_the_environment_of_the_inspector_is_not_changed(clerk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = environment(clerk / ".venv", adk=None)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    with pytest.raises(InstallError, match="runs Agent Inspector itself"):
        planned(clerk)


def test_on_windows_there_is_nothing_to_install(clerk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(InstallError, match="On Windows"):
        planned(clerk)
    monkeypatch.undo()
    assert not plan_engine(agent(clerk.parent / "ours", OURS), EngineChoice()).lacks_adk


@pytest.mark.rule("N7")
@pytest.mark.parametrize("ending", ["raise SystemExit(3)", "pass"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_failure_leaves_what_was_there(ending: str, exists: bool, clerk: Path) -> None:
    if exists:
        environment(clerk / ".venv", adk=None)
    before = snapshot(clerk)
    with pytest.raises(InstallError, match=r"has no google-adk|exit status 3: begun") as raised:
        Installation(with_script(planned(clerk), SPOILS + ending), lambda line: None).run()
    assert ("is as it was before." if exists else "Nothing was left behind.") in str(raised.value)
    assert snapshot(clerk) == before


@pytest.mark.parametrize("exists", [False, True])
def test_cancel_ends_all_processes_and_undoes_what_they_did(exists: bool, clerk: Path) -> None:
    if exists:
        environment(clerk / ".venv", adk=None)
    before = snapshot(clerk)
    child = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); time.sleep(600)"
    running, thread, errors = started(with_script(planned(clerk), SPOILS + child))
    assert running._process is not None
    running.cancel()
    assert snapshot(clerk) == before
    thread.join(30)
    assert [str(error).partition(".")[0] for error in errors] == ["The installation was cancelled"]
    with pytest.raises(ProcessLookupError):
        while True:  # until the system has collected the killed ones
            os.killpg(running._process.pid, 0)


def test_one_installation_at_a_time(clerk: Path) -> None:
    running, thread, _ = started(with_script(planned(clerk), SPOILS + "time.sleep(600)"))
    with pytest.raises(InstallError, match="already"):
        Installation(with_script(planned(clerk), ""), lambda line: None).run()
    running.cancel()
    thread.join(30)


KILLED = """
import sys
from pathlib import Path
from inspector_app.engines.installation import Installation, InstallPlan
folder, changes, script = Path(sys.argv[1]), sys.argv[2] == "True", sys.argv[3]
plan = InstallPlan(folder, folder / ".venv", changes, ((sys.executable, "-c", script),), None, "")
Installation(plan, lambda line: print(line, flush=True)).run()
"""


@pytest.mark.rule("N7")
@pytest.mark.parametrize("exists", [False, True])
def test_after_a_kill_the_environment_is_unfinished_and_the_next_installation_begins_as_the_first(exists: bool, clerk: Path) -> None:
    if exists:
        environment(clerk / ".venv", adk=None)
    before = snapshot(clerk)
    waits = f"{SPOILS}print(__import__('os').getpid(), flush=True)\ntime.sleep(600)"
    command = [sys.executable, "-c", KILLED, str(clerk), str(exists), waits]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        while killed.stdout.readline() != "begun\n":
            pass
        installer = int(killed.stdout.readline())
        killed.kill()
    environment_there = find_environment(clerk).steps[0]
    assert f"{clerk / '.venv'} is unfinished" in environment_there.found
    plan = planned(clerk)
    assert plan.changes == exists
    assert plan.lines()[1] == f"rm -rf {clerk / '.venv'}"
    try:
        with pytest.raises(InstallError, match="already"):
            Installation(plan, lambda line: None).run()
    finally:
        os.kill(installer, signal.SIGKILL)
    seen = "import json, os; print(json.dumps([*os.listdir('.'), *os.listdir('.venv')])); 1 / 0"
    lines: list[str] = []
    with pytest.raises(InstallError):
        _until_unlocked(lambda: Installation(with_script(plan, seen), lines.append).run())
    listed = {name for name in json.loads(lines[1]) if "agent-inspector" not in name}
    assert listed == {"agent.py", ".venv", *({"bin", "lib", "pyvenv.cfg"} if exists else ())}
    assert snapshot(clerk) == before


def _until_unlocked(install: Callable[[], object]) -> None:
    """Try until the killed installer has released its lock."""
    while True:
        try:
            install()
        except InstallError as error:
            if "already" not in str(error):
                raise


def test_a_kill_before_the_copy_is_complete_leaves_the_environment(clerk: Path) -> None:
    prefix = environment(clerk / ".venv", adk=None)
    before = snapshot(clerk)
    half = installation.beside(prefix, "part")
    half.mkdir()
    assert not is_unfinished(prefix)
    with pytest.raises(InstallError):
        Installation(with_script(planned(clerk), "1/0"), lambda line: None).run()
    assert snapshot(clerk) == before


def test_an_environment_made_meanwhile_is_not_touched(clerk: Path) -> None:
    plan = planned(clerk)
    environment(clerk / ".venv", adk=None)
    before = snapshot(clerk)
    with pytest.raises(InstallError, match="File exists"):
        Installation(plan, lambda line: None).run()
    assert snapshot(clerk) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(clerk: Path) -> None:
    clerk.chmod(0o555)
    with pytest.raises(InstallError, match="Permission denied"):
        Installation(planned(clerk), lambda line: None).run()
    clerk.chmod(0o755)


@pytest.mark.parametrize(
    ("printed", "sentence"),
    [
        ("connection broken by 'NewConnectionError('<pip._vendor", "The package index could not be reached."),
        ("  cause: dns error", "The package index could not be reached."),
        ("ERROR: Package 'x' requires a different Python: 3.11.7 not in '>=3.12'", "A package needs another Python"),
        ("ERROR: No matching distribution found for x", "exit status 1: ERROR: No matching distribution found for x."),
        ("error: metadata-generation-failed\n\nhint: See above for details.", "exit status 1: error: metadata-generation-failed."),
        ("", "The installer failed with exit status 1: ."),
    ],
)
def test_why_an_installer_failed_is_a_sentence(printed: str, sentence: str, clerk: Path) -> None:
    with pytest.raises(InstallError) as raised:
        Installation(with_script(planned(clerk), f"print({printed!r}); raise SystemExit(1)"), lambda line: None).run()
    assert sentence in str(raised.value)


def test_real_pip_without_an_index(clerk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PIP_NO_INDEX", "0"), ("PIP_INDEX_URL", "http://127.0.0.1:9/simple"), ("PIP_RETRIES", "1")):
        monkeypatch.setenv(name, value)
    plan = replace(planned(clerk), commands=((sys.executable, "-m", "pip", "install", "--target", "t", "google-adk"),))
    with pytest.raises(InstallError, match="The package index could not be reached"):
        Installation(plan, lambda line: None).run()
