"""The border of the embedded runtime: google-adk's public names that only google-adk has.

A program imports such a name without an error, as if it were here. Its use raises `EngineNeededError`: a call, a subclass, or a member
of it. A name that google-adk does not have either is an ImportError.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn, cast

from runtime.errors.engine_needed_error import EngineNeededError

if TYPE_CHECKING:
    from importlib.abc import Loader  # which imports much

# Modules without `google.adk.`, with all that is in and below them.
MODULES = frozenset(
    """
    a2a agents.active_streaming_tool agents.agent_config agents.common_configs agents.config_agent_utils agents.langgraph_agent
    agents.llm_agent_config agents.loop_agent_config agents.parallel_agent_config agents.remote_a2a_agent agents.sequential_agent_config
    agents.transcription_entry artifacts.artifact_util auth.auth_provider_registry auth.base_auth_provider auth.exchanger
    auth.oauth2_credential_util auth.oauth2_discovery auth.refresher cli.adk_web_server cli.agent_graph cli.agent_test_runner cli.api_server
    cli.built_in_agents cli.cli cli.cli_create cli.cli_deploy cli.cli_eval cli.cli_tools_click cli.conformance cli.deployers cli.dev_server
    cli.fast_api cli.plugins cli.service_registry cli.trigger_routes cli.utils.agent_change_handler cli.utils.agent_loader
    cli.utils.base_agent_loader cli.utils.cleanup cli.utils.common cli.utils.dot_adk_folder cli.utils.envs cli.utils.evals
    cli.utils.gcp_utils cli.utils.graph_serialization cli.utils.graph_visualization cli.utils.local_storage cli.utils.service_factory
    cli.utils.shared_value cli.utils.state code_executors environment errors.tool_execution_error evaluation examples features
    flows.llm_flows.agent_transfer flows.llm_flows.audio_cache_manager flows.llm_flows.audio_transcriber flows.llm_flows.auto_flow
    flows.llm_flows.base_llm_flow flows.llm_flows.compaction flows.llm_flows.contents flows.llm_flows.context_cache_processor
    flows.llm_flows.identity flows.llm_flows.instructions flows.llm_flows.interactions_processor flows.llm_flows.prompt
    flows.llm_flows.single_flow flows.llm_flows.transcription_manager integrations labs live memory.vertex_ai_memory_bank_service
    memory.vertex_ai_rag_memory_service models.anthropic_llm models.apigee_llm models.cache_metadata models.gemini_context_cache_manager
    models.gemini_llm_connection models.gemma_llm models.interactions_utils optimization platform plugins.auto_tracing_helpers
    plugins.auto_tracing_plugin plugins.bigquery_agent_analytics_plugin plugins.debug_logging_plugin plugins.multimodal_tool_results_plugin
    plugins.reflect_retry_tool_plugin plugins.save_files_as_artifacts_plugin sessions.migration sessions.schemas skills telemetry
    tools.agent_simulator tools.api_registry tools.apihub_tool tools.application_integration_tool tools.bash_tool tools.bigquery
    tools.bigtable tools.computer_use tools.crewai_tool tools.data_agent tools.discovery_engine_search_tool tools.environment
    tools.environment_simulation tools.example_tool tools.google_api_tool tools.google_tool tools.langchain_tool tools.load_web_page
    tools.mcp_tool.conversion_utils tools.mcp_tool.session_context tools.model_consult tools.openapi_tool tools.pubsub tools.retrieval
    tools.skill_toolset tools.spanner tools.toolbox_toolset tools.vertex_ai_load_profiles_tool utils.agent_info
    utils.cache_performance_analyzer utils.content_utils utils.output_schema_utils utils.vertex_ai_utils utils.yaml_utils workflow
    """.split()  # noqa: SIM905 (a list would take a line for each)
)

# Module → names that the runtime's module does not have.
NAMES = {
    "": "Workflow",
    "agents": "LlmAgentConfig LoopAgentConfig ManagedAgent ParallelAgentConfig SequentialAgentConfig",
    "agents.invocation_context": "RealtimeCacheEntry",
    "auth": "BaseAuthProvider",
    "auth.auth_credential": "BaseModelWithConfig",
    "cli": "main",
    "cli.utils": "DotAdkFolder create_empty_state",
    "flows.llm_flows": "contents context core extensions identity instructions prompt request_confirmation tools",
    "flows.llm_flows.functions": (
        "build_auth_request_event deep_merge_dicts find_event_by_function_call_id generate_auth_event"
        " generate_request_confirmation_event get_long_running_function_calls handle_function_call_list_async"
        " handle_function_calls_async handle_function_calls_live logger populate_client_function_call_id"
        " remove_client_function_call_id"
    ),
    "memory": "SqliteMemoryService VertexAiMemoryBankService VertexAiRagMemoryService",
    "models": "AnthropicGenerateContentConfig ApigeeLlm Claude FallbackModel Gemma Gemma3Ollama LlmCapabilities ServiceTier",
    "models.lite_llm": "ChatCompletionFileUrlObject FunctionChunk ReasoningChunk TextChunk UsageMetadataChunk",
    "plugins": (
        "DebugLoggingPlugin ForceEscalationPlugin ModelConsultObservabilityPlugin ReflectAndRetryModelPlugin"
        " ReflectAndRetryToolPlugin ToolCallIntegrityError ToolCallIntegrityPlugin"
    ),
    "sessions": "StateSchemaError",
    "tools": (
        "APIHubToolset ApiRegistry DiscoveryEngineSearchTool ExampleTool ModelConsultContextConfig ModelConsultTool RemoteMcpServer"
        " SearchResultMode VertexAiLoadProfilesTool"
    ),
    "tools.agent_tool": "AgentToolConfig",
    "tools.load_artifacts_tool": "as_safe_part_for_llm",
    "tools.mcp_tool.mcp_session_manager": "retry_on_errors",
    "tools.mcp_tool.mcp_toolset": "McpToolsetConfig",
    "tools.tool_configs": "ToolConfig",
    "utils.instructions_utils": "InstructionProvider ReadonlyContext",
}

# Beginning of a name → what an agent can use on the embedded runtime instead.
INSTEAD = {
    "google.adk.models.Claude": "LiteLlm(model='anthropic/…')",
    "google.adk.models.AnthropicLlm": "LiteLlm(model='anthropic/…')",
    "google.adk.models.anthropic_llm": "LiteLlm(model='anthropic/…')",
    "google.adk.models.Gemma": "LiteLlm(model='gemini/gemma-…')",
    "google.adk.models.gemma_llm": "LiteLlm(model='gemini/gemma-…')",
}


class _StandIn(ABCMeta):
    """The class of stand-ins. They are classes, so that annotations, `isinstance` and `except` with them work."""

    @classmethod
    def __prepare__(metacls, name: str, bases: tuple[type, ...], /, **settings: Any) -> NoReturn:
        raise needed(next(base.__qualname__ for base in bases if isinstance(base, _StandIn)))

    def __call__(cls, *args: Any, **settings: Any) -> NoReturn:
        raise needed(cls.__qualname__)

    def __getitem__(cls, parameters: object) -> type:
        return cls

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if cls.__name__.islower():  # perhaps a module
            return stand_in(f"{cls.__qualname__}.{name}")
        raise needed(cls.__qualname__)


@cache
def stand_in(name: str) -> type:
    """Return what a program imports in place of a name.

    Args:
        name: the full name, such as `google.adk.workflow.Workflow`.
    """
    last = name.rpartition(".")[2]
    bases = (Exception,) if last.endswith(("Error", "Exception")) else ()
    return _StandIn(last, bases, {"__qualname__": name, "__module__": __name__})


def needed(name: str) -> EngineNeededError:
    """Return the error that says that only google-adk has a name."""
    return EngineNeededError(name, next((instead for start, instead in INSTEAD.items() if name.startswith(start)), ""))


def is_across(module: str) -> bool:
    """Return whether only google-adk has a module.

    Args:
        module: its name without `google.adk.`.
    """
    parts = module.split(".")
    return any(".".join(parts[:count]) in MODULES for count in range(1, len(parts) + 1))


def add_names(module: ModuleType) -> None:
    """Let a module of the runtime have the names that only google-adk has, as stand-ins."""
    place = module.__name__.partition(".")[2]
    names, known = frozenset(NAMES[place].split()), module.__dict__.get("__getattr__")

    def name_of(name: str) -> Any:
        if name in names:
            return stand_in(".".join(filter(None, ("google.adk", place, name))))
        if known is not None:
            return known(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__dict__["__getattr__"] = name_of


class _ModuleAcross(ModuleType):
    """A module that only google-adk has."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return stand_in(f"{self._name}.{name}")

    @property
    def _name(self) -> str:
        return f"google.adk.{self.__name__.partition('.')[2]}"

    def __call__(self, *args: Any, **settings: Any) -> NoReturn:
        raise needed(self._name)  # the name of a module can be a function's too


def is_stand_in(value: object) -> bool:
    """Return whether this is a stand-in for a name."""
    return isinstance(value, (_StandIn, _ModuleAcross))


def refuse_stand_ins(*values: object) -> None:
    """Check what a program gives to the runtime: functions, objects and lists of them.

    Raises:
        EngineNeededError: one of them is a stand-in.
    """
    for value in values:
        if isinstance(value, list):
            refuse_stand_ins(*value)
        elif isinstance(value, (_StandIn, _ModuleAcross)):
            value()


class _LoaderAcross:
    """Makes a module that only google-adk has."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """See `importlib.abc.Loader`."""
        return _ModuleAcross(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """See `importlib.abc.Loader`."""


class _LoaderHere(SourceFileLoader):
    """Loads a module of the runtime, and adds the names that only google-adk has."""

    def exec_module(self, module: ModuleType) -> None:
        """See `SourceFileLoader`."""
        super().exec_module(module)
        add_names(module)


class _Finder:
    """Finds the modules of the runtime that lack public names of google-adk's."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        package, _, module = fullname.partition(".")
        if package != "runtime":
            return None
        if is_across(module):
            return ModuleSpec(fullname, cast("Loader", _LoaderAcross()), is_package=True)
        if module not in NAMES:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _LoaderHere(spec.loader.name, spec.loader.path)
        return spec


def watch_imports(package: ModuleType) -> None:
    """Let google-adk's names be imported from the runtime, from now on."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    add_names(package)
