"""The `.env` of an agent's folder: which file is read, what wins, and that nothing of it remains."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from inspector_app.engines.agent_loader import AgentLoadError, files_of_agent, load_agent
from inspector_app.engines.env_file import AgentEnvironment, find_env_file, own_variables, sentence_of
from inspector_app.engines.environments import child_variables, own_environment
from inspector_app.support.agent_keys import AgentKeys
from tests.agent_folders import write_agent

AGENT = """
import os
from runtime.agents import LlmAgent
root_agent = LlmAgent(name="helper", description=os.environ.get("FROM_ENV_FILE", "nothing"))
"""


@pytest.fixture(autouse=True)
def no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FROM_ENV_FILE", "SECOND", "ADK_DISABLE_LOAD_DOTENV"):
        monkeypatch.delenv(name, raising=False)


def agent_with(folder: Path, env: str) -> str:
    agent = write_agent(folder, AGENT)
    (folder / ".env").write_text(env, "utf-8")
    return agent


@pytest.mark.rule("I5")
def test_the_code_of_an_agent_sees_its_env_file_and_the_process_keeps_nothing_of_it(tmp_path: Path) -> None:
    loaded = load_agent(agent_with(tmp_path / "shop", "FROM_ENV_FILE=inside\n"))
    assert loaded.app.root_agent.description == "inside"
    assert "FROM_ENV_FILE" not in os.environ
    with loaded.environment.active():
        assert os.environ["FROM_ENV_FILE"] == "inside"
    assert "FROM_ENV_FILE" not in os.environ


@pytest.mark.rule("I5")
def test_another_agent_sees_nothing_of_it(tmp_path: Path) -> None:
    load_agent(agent_with(tmp_path / "shop", "FROM_ENV_FILE=inside\n"))
    assert load_agent(write_agent(tmp_path / "other", AGENT)).app.root_agent.description == "nothing"


def test_nothing_remains_after_code_that_fails(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    agent_with(folder, "FROM_ENV_FILE=inside\n")
    (folder / "agent.py").write_text("1 / 0")
    with pytest.raises(AgentLoadError):
        load_agent(str(folder))
    assert "FROM_ENV_FILE" not in os.environ


def test_the_nearest_file_on_the_way_to_the_root_is_read_alone(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_ENV_FILE=far\nSECOND=far\n")
    (tmp_path / "near").mkdir()
    assert find_env_file(tmp_path / "near" / "shop") == tmp_path / ".env"
    agent_with(tmp_path / "near" / "shop", "FROM_ENV_FILE=near\n")
    assert AgentEnvironment(tmp_path / "near" / "shop").names == ["FROM_ENV_FILE"]


def test_a_folder_named_like_the_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SECOND=far\n")
    (tmp_path / "shop" / ".env").mkdir(parents=True)
    assert find_env_file(tmp_path / "shop") == tmp_path / ".env"


def test_the_environment_of_the_process_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_ENV_FILE", "explicit")
    loaded = load_agent(agent_with(tmp_path / "shop", "FROM_ENV_FILE=inside\nSECOND=${FROM_ENV_FILE}-more\n"))
    assert loaded.app.root_agent.description == "explicit"
    with loaded.environment.active():
        assert os.environ["FROM_ENV_FILE"] == "explicit"
    assert os.environ["FROM_ENV_FILE"] == "explicit"


def test_what_the_process_has_already_is_not_said_to_be_set_by_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "1")
    file = tmp_path / ".env"
    assert sentence_of(file, ["THEIRS", "OURS"]) == f"{file} sets THEIRS. OURS is set already and stays."


@pytest.mark.parametrize("value", ["1", "true", "TRUE"])
def test_reading_can_be_switched_off_as_in_google_adk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("ADK_DISABLE_LOAD_DOTENV", value)
    loaded = load_agent(agent_with(tmp_path / "shop", "FROM_ENV_FILE=inside\n"))
    assert loaded.app.root_agent.description == "nothing"


def test_a_value_that_the_agents_code_changed_is_the_agents_own(tmp_path: Path) -> None:
    agent = agent_with(tmp_path / "shop", "FROM_ENV_FILE=inside\nSECOND=2\n")
    with (tmp_path / "shop" / "agent.py").open("a") as code:
        code.write('os.environ["FROM_ENV_FILE"] = "changed"\ndel os.environ["SECOND"]\n')
    environment = load_agent(agent).environment
    assert not {"FROM_ENV_FILE", "SECOND"} & set(os.environ)
    with environment.active():
        assert os.environ["FROM_ENV_FILE"] == "changed"
        assert "SECOND" not in os.environ


def test_a_key_that_is_added_later_counts_in_the_next_run(tmp_path: Path) -> None:
    agent = agent_with(tmp_path / "shop", "SECOND=2\n")
    environment = load_agent(agent).environment
    (tmp_path / "shop" / ".env").write_text("FROM_ENV_FILE=added\n")
    with environment.active():
        assert os.environ["FROM_ENV_FILE"] == "added"


def test_overlapping_uses_end_in_any_order_and_leave_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        agent_with(tmp_path / name, f"FROM_ENV_FILE={name}\n")
    first, second = AgentEnvironment(tmp_path / "a").active(), AgentEnvironment(tmp_path / "b").active()
    first.__enter__()
    second.__enter__()
    assert os.environ["FROM_ENV_FILE"] == "b"
    first.__exit__(None, None, None)
    assert os.environ["FROM_ENV_FILE"] == "b"
    second.__exit__(None, None, None)
    assert "FROM_ENV_FILE" not in os.environ


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    agent = agent_with(tmp_path / "shop", "\ufeffFROM_ENV_FILE=inside\n")
    assert load_agent(agent).app.root_agent.description == "inside"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"NAME=\xff\xfe", "not UTF-8"), (b"NAME=a\0b\n", "contains NUL"), (b"NAME='" + b"x" * 1_100_000, "larger than")],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    agent = agent_with(tmp_path / "shop", "")
    (tmp_path / "shop" / ".env").write_bytes(content)
    with pytest.raises(AgentLoadError, match=reason) as caught:
        load_agent(agent)
    assert str(tmp_path / "shop" / ".env") in str(caught.value)


def test_the_file_is_watched_with_the_agents_code(tmp_path: Path) -> None:
    agent = agent_with(tmp_path / "shop", "SECOND=2\n")
    load_agent(agent)
    assert tmp_path / "shop" / ".env" in files_of_agent(agent)


def test_the_samples_read_no_env_file_of_the_project_they_are_installed_in() -> None:
    from inspector_app.engines.samples import samples

    assert AgentEnvironment(samples()[0].folder).names == []


KEYS = """
import os
from runtime.agents import LlmAgent
root_agent = LlmAgent(name="helper", description="/".join(os.environ.get(name, "-") for name in ("SECOND", "GOOGLE_API_KEY")))
"""


@pytest.fixture
def kept(keyring_in_file: object, monkeypatch: pytest.MonkeyPatch) -> AgentKeys:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    keys = AgentKeys()
    keys.store("SECOND", "kept")
    keys.store("GOOGLE_API_KEY", "kept-too")
    return keys


@pytest.mark.rule("I5")
def test_an_agent_gets_the_keys_of_the_keyring_while_it_runs(kept: AgentKeys, tmp_path: Path) -> None:
    loaded = load_agent(write_agent(tmp_path / "shop", KEYS))
    assert loaded.app.root_agent.description == "kept/kept-too"
    with loaded.environment.active():
        assert os.environ["SECOND"] == "kept"
        with AgentEnvironment(tmp_path / "other").active():
            pass
        assert os.environ["SECOND"] == "kept"
        assert not own_variables() & {"SECOND", "GOOGLE_API_KEY"}
    assert "SECOND" not in os.environ
    kept.store("SECOND", "replaced")
    with loaded.environment.active():
        assert os.environ["SECOND"] == "replaced"


def test_two_agents_that_overlap_both_have_the_key(kept: AgentKeys, tmp_path: Path) -> None:
    with ExitStack() as first, AgentEnvironment(tmp_path / "a").active():
        first.enter_context(AgentEnvironment(tmp_path / "b").active())
        first.close()
        assert os.environ["SECOND"] == "kept"
    first.enter_context(AgentEnvironment(tmp_path / "a").active())
    with AgentEnvironment(tmp_path / "b").active():
        first.close()
        assert os.environ["SECOND"] == "kept"
    assert "SECOND" not in os.environ


@pytest.mark.parametrize(
    ("env", "seen"), [("SECOND=file", "file/kept-too"), ("GEMINI_API_KEY=file", "kept/-"), ("GOOGLE_API_KEY=", "kept/")]
)
def test_the_env_file_wins_over_the_keyring(kept: AgentKeys, tmp_path: Path, env: str, seen: str) -> None:
    agent = write_agent(tmp_path / "shop", KEYS)
    (tmp_path / "shop" / ".env").write_text(env)
    assert load_agent(agent).app.root_agent.description == seen


def test_the_process_wins_over_the_keyring_also_in_a_child(kept: AgentKeys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Path(write_agent(tmp_path / "shop", KEYS))
    (agent / ".env").write_text("GOOGLE_API_KEY=file")
    assert child_variables(own_environment(), agent)["SECOND"] == "kept"
    monkeypatch.setenv("SECOND", "process")
    assert child_variables(own_environment(), agent / "agent.py")["SECOND"] == "process"
    assert "GOOGLE_API_KEY" not in child_variables(own_environment(), agent)  # the child reads the file
    assert load_agent(str(agent)).app.root_agent.description == "process/file"
