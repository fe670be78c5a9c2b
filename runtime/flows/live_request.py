"""Construction of the request that opens a live connection."""

from __future__ import annotations

import logging

from google.genai import types

from runtime.contexts.invocation_context import InvocationContext
from runtime.contexts.run_config import RunConfig
from runtime.flows.request import build_request
from runtime.flows.turn_agent import TurnAgent
from runtime.models.base_llm import BaseLlm
from runtime.models.llm_request import LlmRequest
from runtime.tools.function_tool import FunctionTool

logger = logging.getLogger(__name__)

TASK_COMPLETED = "task_completed"

_SAMPLING = ("temperature", "top_p", "top_k", "max_output_tokens", "seed", "media_resolution")

_OF_RUN = (
    "response_modalities",
    "speech_config",
    "output_audio_transcription",
    "input_audio_transcription",
    "realtime_input_config",
    "explicit_vad_signal",
    "translation_config",
    "enable_affective_dialog",
    "proactivity",
    "session_resumption",
    "history_config",
    "context_window_compression",
    "avatar_config",
)


def task_completed() -> str:
    """Signals that the agent has completed the user's question or task."""
    return "Task completion signaled."


async def build_live_request(
    agent: TurnAgent, ctx: InvocationContext, llm: BaseLlm, handle: str | None, *, in_sequence: bool
) -> LlmRequest:
    """Build the request that opens a live connection: an ordinary one, and the settings of live audio.

    Args:
        agent: the calling agent.
        ctx: the invocation.
        llm: the model to be connected to.
        handle: by which the server knows the conversation; None for a new one.
        in_sequence: whether the agent is given `task_completed`, with which it ends its part.

    Raises:
        MissingStateKeyError: an instruction refers to a state key that does not exist.
    """
    request = await build_request(agent, ctx, llm, is_live=True)
    if in_sequence:
        request.append_instructions(
            [f"When you have finished what your description says, call `{TASK_COMPLETED}`, and write nothing besides the call."]
        )
        request.append_tools([FunctionTool(task_completed)])
    if agent.output_schema is not None:
        logger.warning("Agent %s has an output_schema, which live conversations ignore. Give it a tool that stores the answer.", agent.name)
    config = _settings(ctx.run_config or RunConfig(), request.config)
    if handle is not None:
        resumption = config.session_resumption or types.SessionResumptionConfig()
        config.session_resumption = resumption.model_copy(update={"handle": handle})
    elif request.contents and config.history_config is None:
        # Without it the server would answer the model's past turns once more.
        config.history_config = types.HistoryConfig(initial_history_in_client_content=True)
    request.live_connect_config = config
    return request


def _settings(run: RunConfig, config: types.GenerateContentConfig) -> types.LiveConnectConfig:
    values = {name: getattr(config, name) for name in _SAMPLING} | {name: getattr(run, name) for name in _OF_RUN}
    known = types.LiveConnectConfig.model_fields
    return types.LiveConnectConfig(**{name: value for name, value in values.items() if name in known and value is not None})
