"""Where in a workflow graph an event comes from."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class NodeInfo(BaseModel):
    """The node of a workflow graph that emitted an event. Graphs run on the google-adk engine; stored events have it here too.

    Attributes:
        path: the names of the graph and the nodes in it, with their runs, such as `graph/node@1`; empty outside graphs.
        output_for: paths of other nodes whose output the event has too.
        message_as_output: whether the event's content is the node's output.
    """

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True)

    path: str = ""
    output_for: list[str] | None = None
    message_as_output: bool | None = None

    @property
    def name(self) -> str:
        """The node's name, without its run."""
        return _step(self.path, 0)[0]

    @property
    def run_id(self) -> str:
        """The node's run; empty if the path names none."""
        return _step(self.path, 0)[1]

    @property
    def parent_run_id(self) -> str | None:
        """The run of the node above; None at the top."""
        return _step(self.path, 1)[1] or None


def _step(path: str, above: int) -> tuple[str, str]:
    steps = path.split("/")
    name, _, run = (steps[-1 - above] if above < len(steps) else "").partition("@")
    return name, run
