"""google-adk 2's marks of workflow graphs and web interfaces in events."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from runtime.events import Event
from runtime.events.event import NodeInfo
from runtime.events.event_actions import EventActions
from runtime.events.kinds import node_path
from runtime.events.ui_widget import UiWidget
from runtime.sessions.event_codec import encode_event
from tests.unit.tools.tool_contexts import tool_context


def test_an_event_outside_graphs_stores_none_of_it() -> None:
    event = Event(author="agent", message="Hi.")
    assert (event.node_info, event.node_name, event.isolation_scope) == (NodeInfo(), "", None)
    assert not {"node_info", "isolation_scope", "interaction_id"} & json.loads(encode_event(event)).keys()


@pytest.mark.parametrize(
    "given",
    [
        {"node_info": NodeInfo(path="shop@1/cart@2", output_for=["shop@1"])},
        {"nodeInfo": {"path": "shop@1/cart@2", "outputFor": ["shop@1"]}},
        {"node_info": {"path": "other", "output_for": ["shop@1"]}, "node_path": "shop@1/cart@2"},
    ],
)
def test_the_node_survives_storing(given: dict[str, object]) -> None:
    again = Event.model_validate_json(encode_event(Event(author="a", **given)))
    info = again.node_info
    assert (info.name, info.run_id, info.parent_run_id, info.output_for) == ("cart", "2", "1", ["shop@1"])
    assert again.node_name == "cart" and node_path(again) == ("shop", "cart")


def test_a_route_is_an_action() -> None:
    assert Event(author="a", route="next", state={"k": 1}).actions == EventActions(route="next", state_delta={"k": 1})
    assert Event(author="a", route="next", actions=EventActions(escalate=True)).actions == EventActions(escalate=True, route="next")


def test_widgets_are_asked_for_once_each() -> None:
    context = tool_context()
    context.render_ui_widget(UiWidget(id="map", provider="mcp", payload={"resource_uri": "ui://map"}))
    context.render_ui_widget(UiWidget(id="list", provider="mcp"))
    with pytest.raises(ValueError, match="ID 'map' already exists"):
        context.render_ui_widget(UiWidget(id="map", provider="mcp"))

    event = Event.model_validate_json(encode_event(Event(author="agent", actions=context.actions)))
    assert [widget.id for widget in event.actions.render_ui_widgets or []] == ["map", "list"]
    with pytest.raises(ValidationError):
        UiWidget.model_validate({"id": "a", "provider": "b", "more": 1})
