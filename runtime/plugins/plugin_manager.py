"""Calls of the hooks of an app's plugins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from runtime.contexts.hooks import CallFailure, Hooks, NoResult
from runtime.errors.known_error import KnownError
from runtime.plugins.base_plugin import BasePlugin
from runtime.support.calling import call_bound, is_async
from runtime.support.texts import text_of

logger = logging.getLogger(__name__)

CLOSE_TIMEOUT = 5.0  # seconds for each plugin; google-adk's default

PluginCallbackName = Literal[
    "on_user_message_callback",
    "before_run_callback",
    "after_run_callback",
    "on_event_callback",
    "before_agent_callback",
    "after_agent_callback",
    "before_tool_callback",
    "after_tool_callback",
    "before_model_callback",
    "after_model_callback",
    "on_tool_error_callback",
    "on_model_error_callback",
    "on_agent_error_callback",
    "on_run_error_callback",
]


class PluginError(KnownError, RuntimeError):
    """Raised when a plugin's hook raises; the message names plugin and hook, and the cause is chained."""


def _calls(hook: PluginCallbackName, *, tells: bool = False) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Return the method that calls a hook of every plugin; see `PluginManager.run_hook`, or `notify` if the hook only tells of an error."""

    async def run(self: PluginManager, **arguments: Any) -> Any:
        return await (self.notify if tells else self.run_hook)(hook, **arguments)

    run.__name__ = f"run_{hook}"
    run.__doc__ = f"Call `{hook}` of the plugins with its arguments, until one returns a value."
    return run


class PluginManager(Hooks):
    """The plugins of one Runner.

    Args:
        plugins: called in this order.
        close_timeout: maximum duration of one plugin's `close`, in seconds.

    Raises:
        ValueError: two plugins have the same name.
    """

    def __init__(self, plugins: list[BasePlugin] | None = None, close_timeout: float = CLOSE_TIMEOUT) -> None:
        self.plugins: list[BasePlugin] = []
        self._close_timeout = close_timeout
        self._leaves_open = False
        # Most plugins implement two or three of the hooks; only these are called.
        self._takers: dict[str, list[BasePlugin]] = {}
        for plugin in plugins or []:
            self.register_plugin(plugin)

    def register_plugin(self, plugin: BasePlugin, *, first: bool = False) -> None:
        """Add a plugin.

        Args:
            plugin: the plugin.
            first: call it before the registered plugins, not after them.

        Raises:
            ValueError: the name is taken.
        """
        if self.get_plugin(plugin.name) is not None:
            raise ValueError(f"Plugin with name {plugin.name!r} already registered.")
        self.plugins.insert(0 if first else len(self.plugins), plugin)
        self._takers.clear()

    def remove_plugin(self, plugin: BasePlugin) -> None:
        """Remove a plugin that was registered for one run only."""
        self.plugins.remove(plugin)
        self._takers.clear()

    def get_plugin(self, plugin_name: str) -> BasePlugin | None:
        """Return the plugin with that name, or None."""
        return next((plugin for plugin in self.plugins if plugin.name == plugin_name), None)

    def takes(self, hook: str) -> bool:
        """Return whether a plugin has this hook; without one, what its arguments cost to make can be saved."""
        return bool(self._taking(hook))

    def changes(self, hook: str) -> bool:
        """Return whether a plugin with this hook may change the hook's arguments; one that sets `only_observes` does not."""
        return any(getattr(plugin, "only_observes", None) is not True for plugin in self._taking(hook))

    async def run_hook(self, hook: str, **arguments: Any) -> Any:
        """Call a hook of every plugin that takes it, until one returns something.

        Returns:
            The first value that is not None.

        Raises:
            PluginError: a hook raised.
            CallFailure: a hook makes the tool call fail.
            NoResult: a hook makes the tool call return nothing.
        """
        if not self.plugins:
            return None
        for plugin in self._taking(hook):
            try:
                answer = await _answer(getattr(plugin, hook), arguments)
            except (CallFailure, NoResult):
                raise
            except (Exception, SystemExit) as error:
                raise PluginError(f"Error in plugin {plugin.name!r}, in {hook}: {text_of(error)}") from error
            if answer is not None:
                return answer
        return None

    def set_skip_closing_plugins(self, value: bool) -> None:
        """Set whether `close` leaves the plugins open, because another manager closes them."""
        self._leaves_open = value

    async def notify(self, hook: str, **arguments: Any) -> None:
        """Call a hook of every plugin that takes it. Errors are logged, as an error is what such a hook tells of."""
        for plugin in self._taking(hook):
            try:
                await _answer(getattr(plugin, hook), arguments)
            except Exception:
                logger.exception("Plugin %r failed in %s.", plugin.name, hook)

    # google-adk's names of the hooks' calls; its arguments are given by name.
    run_on_user_message_callback = _calls("on_user_message_callback")
    run_before_run_callback = _calls("before_run_callback")
    run_after_run_callback = _calls("after_run_callback")
    run_on_event_callback = _calls("on_event_callback")
    run_before_agent_callback = _calls("before_agent_callback")
    run_after_agent_callback = _calls("after_agent_callback")
    run_before_tool_callback = _calls("before_tool_callback")
    run_after_tool_callback = _calls("after_tool_callback")
    run_before_model_callback = _calls("before_model_callback")
    run_after_model_callback = _calls("after_model_callback")
    run_on_tool_error_callback = _calls("on_tool_error_callback")
    run_on_model_error_callback = _calls("on_model_error_callback")
    run_on_agent_error_callback = _calls("on_agent_error_callback", tells=True)
    run_on_run_error_callback = _calls("on_run_error_callback", tells=True)

    async def close(self) -> None:
        """Close every plugin, one after the other, even if one of them fails or takes too long.

        Raises:
            PluginError: at least one plugin failed; the message names all that did.
            asyncio.CancelledError: the task was cancelled meanwhile; the other plugins are closed first.
        """
        if self._leaves_open:
            return
        failures = []
        cancelled: asyncio.CancelledError | None = None
        for plugin in self.plugins:
            try:
                async with asyncio.timeout(self._close_timeout):
                    await plugin.close()
            except asyncio.CancelledError as error:
                cancelled = error
            except TimeoutError:
                failures.append(f"{plugin.name!r}: TimeoutError (not closed within {self._close_timeout:g} s)")
            except Exception as error:
                failures.append(f"{plugin.name!r}: {type(error).__name__} ({text_of(error)})")
        if cancelled is not None:
            raise cancelled
        if failures:
            raise PluginError(f"Failed to close plugins: {', '.join(failures)}")

    def _taking(self, hook: str) -> list[BasePlugin]:
        if hook not in self._takers:
            inherited = getattr(BasePlugin, hook)
            self._takers[hook] = [plugin for plugin in self.plugins if getattr(getattr(plugin, hook), "__func__", None) is not inherited]
        return self._takers[hook]


async def _answer(hook: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a plugin's hook; google-adk accepts only async ones, but a plain function is easily written."""
    if is_async(hook):
        return await hook(**arguments)
    context = next(arguments[name] for name in ("invocation_context", "callback_context", "tool_context") if name in arguments)
    return await call_bound(getattr(context, "_invocation_context", context).sync_calls, hook, [], arguments)
