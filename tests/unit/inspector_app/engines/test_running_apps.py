"""The list of running apps, and what it shares with the plugin's file."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest

from inspector_app.engines import child_process, running_apps
from inspector_app.engines.running_apps import PLUGIN, AttachError, RunningApp, choose


@pytest.fixture(scope="module")
def plugin() -> ModuleType:
    spec = importlib.util.spec_from_file_location("plugin_of_test", PLUGIN)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["plugin_of_test"] = module
    spec.loader.exec_module(module)
    return module


def app(pid: int, *apps: str, place: str = "/home/ana/shop/agent.py") -> RunningApp:
    return RunningApp(pid, 1, "t", apps, place, "google-adk 2.13.0")


def test_both_sides_agree(plugin: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plugin.PROTOCOL == running_apps.PROTOCOL
    assert plugin.ENGINE_VARIABLE == child_process.ENGINE_VARIABLE
    for given in (str(tmp_path), "/does/not/exist", ""):
        monkeypatch.setenv("XDG_RUNTIME_DIR", given)
        assert plugin.runtime_folder() == running_apps.runtime_folder()


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_an_app_is_read_from_where_each_system_keeps_it(
    plugin: ModuleType, tmp_path: Path, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    expected = {"linux": f"{plugin.FOLDER}-{os.getuid()}", "darwin": plugin.FOLDER, "win32": f"Local/{plugin.FOLDER}/running"}
    assert plugin._make_folder() == running_apps.runtime_folder() == tmp_path / expected[platform]
    file = running_apps.runtime_folder() / "7.json"
    file.write_text(json.dumps({"pid": 7, "port": 1, "token": "t", "apps": [], "place": "/x/agent.py", "runtime": "google-adk 2.13.0"}))
    file.chmod(0o644)  # others may read it, which counts on Windows for nothing
    assert (running_apps._read(file) is not None) == (platform == "win32")
    file.chmod(0o600)
    assert running_apps._read(file) is not None


def test_agents_that_an_engine_runs_do_not_listen(plugin: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv(plugin.ENGINE_VARIABLE, "1")
    plugin.InspectorPlugin()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place, name", [("/x/shop/agent.py", "shop"), ("/x/serve.py", "serve"), ("/x/shop", "shop")])
def test_an_app_that_has_not_run_is_named_after_its_place(place: str, name: str) -> None:
    assert app(7, place=place).name == name
    assert app(7, "store", place=place).name == "store"


def test_an_app_is_chosen_by_its_name_or_process() -> None:
    apps = [app(11, "shop"), app(12, "shop"), app(13, "bank", "post")]
    assert choose("12", apps) is apps[1]
    assert choose("post", apps) is apps[2]
    with pytest.raises(AttachError, match=r"2 running apps are named shop. Name one by its process: 11, 12\."):
        choose("shop", apps)
    with pytest.raises(AttachError, match="No app is running"):
        choose("shop", [])
    assert "token" not in repr(apps[0])
