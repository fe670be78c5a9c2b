"""A Python function as a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.border import refuse_stand_ins
from runtime.contexts.invocation_context import InvocationContext
from runtime.support.agent_thread import AgentThread
from runtime.support.calling import call_bound
from runtime.support.texts import text_of
from runtime.support.unchecked import copy_unchecked
from runtime.support.weak_cache import cached_by_function
from runtime.tools.base_tool import BaseTool
from runtime.tools.confirmation import ask_for_confirmation
from runtime.tools.function_declaration import declare
from runtime.tools.function_signature import UnfitArgumentError, signature_of, wrapped_function

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext


class FunctionTool(BaseTool):
    """Lets a model call a function. Sync functions run on the agent's thread.

    The model receives the function's name, docstring, and parameters with their types. A parameter annotated as `ToolContext`, or named
    `tool_context`, is hidden from the model and receives the context.

    Attributes:
        func: a sync or async function, or a callable object.

    Args:
        func: see above.
        require_confirmation: whether the user must approve each call, or a function of the same arguments that returns this.
    """

    def __init__(self, func: Callable[..., Any], *, require_confirmation: bool | Callable[..., bool] = False) -> None:
        refuse_stand_ins(func)
        inner = wrapped_function(func)
        super().__init__(name=getattr(inner, "__name__", type(inner).__name__), description=_description(inner))
        self.func = func
        self._require_confirmation = require_confirmation

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        declarations, key = _declarations(self.func), (self.name, self.description)
        declaration = declarations.get(key)
        if declaration is None:
            told = [argument for argument in signature_of(self.func).arguments if not argument.name.startswith("_")]  # as google-adk 2
            declaration = declarations[key] = declare(*key, told)
        # A copy whose dict of parameters may be changed: deep copies at every model call are slow.
        parameters = declaration.parameters
        return copy_unchecked(
            declaration, parameters=parameters and copy_unchecked(parameters, properties=dict(parameters.properties or {}))
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Call the function; see `BaseTool.run_async`.

        Missing and invalid arguments are reported to the model in a dict with `error`, so that it can try again. A call that
        the user rejected or has not yet approved is reported in the same way.
        """
        signature = signature_of(self.func)
        if missing := signature.missing(args):
            names = ", ".join(missing)
            return {"error": f"{self.name}() was not called: these mandatory arguments are missing: {names}. Try again with them."}
        try:
            built = signature.build(args)
        except UnfitArgumentError as error:
            return {"error": f"{self.name}() was not called: an argument does not fit: {text_of(error)}. Try again."}
        if refusal := await self._ask_for_confirmation(built, tool_context):
            return {"error": refusal}
        return await _call(self.func, built, tool_context)

    async def _ask_for_confirmation(self, built: dict[str, Any], tool_context: ToolContext) -> str | None:
        """Return why the call must not run, after requesting confirmation if necessary; None if it may run."""
        if not await self.check_require_confirmation(built, tool_context):
            return None
        return ask_for_confirmation(self.name, tool_context)

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: ToolContext) -> bool:
        """See `BaseTool.check_require_confirmation`."""
        required = self._require_confirmation
        return bool(await _call(required, args, tool_context) if callable(required) else required)


async def _call(func: Callable[..., Any], built: dict[str, Any], tool_context: ToolContext) -> Any:
    positional, named = signature_of(func).bind(built, tool_context)
    # A test may call a tool with a stand-in for the context, which has no thread; a mock may even be an instance of its class.
    context: Any = getattr(tool_context, "_invocation_context", None)
    sync_calls = context.sync_calls if issubclass(type(context), InvocationContext) else AgentThread()
    return await call_bound(sync_calls, func, positional, named)


@cached_by_function
def _declarations(func: Callable[..., Any]) -> dict[tuple[str, str], types.FunctionDeclaration]:
    """Return the cache of a function's declarations, by name and description."""
    return {}


def _description(inner: Any) -> str:
    # A callable object may document only its `__call__`; a plain function's `__call__` says only "Call self as a function."
    doc = inner.__doc__ if inspect.isroutine(inner) else inner.__doc__ or inner.__call__.__doc__
    return _cleaned(doc or "")


_cleaned = lru_cache(maxsize=1024)(inspect.cleandoc)
