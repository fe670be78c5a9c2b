"""`make check` runs the tests nearest to what changed."""

from __future__ import annotations

import pytest

from tests.of_changes import BUDGET, SLOW, nearest


@pytest.mark.parametrize(
    ("source", "first"),
    [
        ("runtime/history/key_writers.py", "tests/unit/history/test_key_writers.py"),
        ("runtime/runners.py", "tests/unit/test_runners.py"),
        ("inspector_app/running/composer.py", "tests/gui/running/test_composer.py"),
        ("tests/seeds/test_import_paths.py", "tests/seeds/test_import_paths.py"),
    ],
)
def test_the_mirrored_or_changed_test_comes_first(source: str, first: str) -> None:
    assert nearest([source])[0] == first


@pytest.mark.parametrize("source", ["runtime/history/agent_tree.py", "inspector_app/shell/main_window.py", "tests/recorder.py"])
def test_a_module_without_a_test_of_its_name_has_those_that_import_it(source: str) -> None:
    assert len(nearest([source])) >= 5


def test_a_program_that_is_run_by_its_name_has_the_tests_that_name_it() -> None:
    assert "tests/interop/attach/test_attach.py" in nearest(
        ["resources/plugins/inspector_plugin.py"], {"tests/interop/attach/test_attach.py::a": 1.0}
    )


def test_the_nearest_are_run_until_the_time_is_spent() -> None:
    free = dict.fromkeys((f"{test}::a" for test in nearest(["runtime/runners.py"])), 0.0)
    slow = {"tests/unit/test_runners.py::slow": SLOW * 100, "tests/unit/test_runners.py::quick": BUDGET - 1}
    assert len(nearest(["runtime/runners.py"], free | slow)) > 20
    assert (
        nearest(["runtime/runners.py"], {f"{test}{part}": SLOW for test in free for part in range(20)})[0] == "tests/unit/test_runners.py"
    )
    assert len(nearest(["runtime/runners.py"], {f"{test}{part}": SLOW for test in free for part in range(20)})) < len(free)


def test_a_feature_s_tests_in_the_whole_window_are_among_the_first() -> None:
    for source, test in (
        ("evals/eval_controller", "test_evals"),
        ("timeline/timeline_pane", "test_timeline"),
        ("graph/graph_pane", "test_graph"),
    ):
        window = [name for name in nearest([f"inspector_app/{source}.py"]) if name.startswith("tests/gui/window/")]
        assert f"tests/gui/window/{test}.py" in window


def test_a_document_needs_none() -> None:
    assert nearest(["README.md"]) == []
