"""The way from a cell to whoever runs cellar: tools, models, agents, the budget.

A provider answers. It has
    call(name, args) -> value      waits for the answer; raises BridgeError with the message of whoever answered
    acall(name, args)              the same, to be awaited
    tools() -> list | None         what can be called: dicts with name, description, schema; None when that is not known
    budget() -> dict               total (None = no ceiling), spent, hard
and that of the host, the only one that is given to connect(), also
    is_connected() -> bool         whether there is somebody to answer
    elsewhere() -> scope           in which somebody else is waited for; see cellar_runtime.bridge
`name` is that of a tool, or one of the names below.
"""
__builtins__ = __import__("builtins").__dict__.copy()

import os
from contextlib import nullcontext

from cellar_runtime import late_import

LLM, AGENT, BUDGET, OUTPUT = "llm", "agent", "budget", "output"

_provider = None

HOW_TO_CONNECT = ("connect one: give the C++ Host a bridge, announce `tools` to `cellar serve`, or set "
                  "PI_TOOL_BRIDGE_URL, PI_TOOL_BRIDGE_TOKEN and PI_TOOL_BRIDGE_SESSION")


class BridgeError(RuntimeError):
    """A call was answered with an error, or could not be made."""


class NotConnected(BridgeError, AttributeError):
    """Nobody is there to answer. Of the second kind too, so that hasattr(tool, name) says no."""


def connect(provider) -> None:
    """Has `provider` answer from now on; None takes it away."""
    global _provider
    _provider = provider


def is_connected() -> bool:
    return bool(os.environ.get("PI_TOOL_BRIDGE_URL")) or _provider is not None and _provider.is_connected()


def elsewhere():
    """The scope of a wait for somebody other than the host, where there is one to know of it."""
    return nullcontext() if _provider is None else _provider.elsewhere()


def provider():
    """Who answers. A bridge by HTTP, where the environment names one, goes before the host's own."""
    url = os.environ.get("PI_TOOL_BRIDGE_URL")
    if url:
        http_bridge = late_import.load("cellar_prelude.http_bridge")
        return http_bridge.HttpProvider(url, os.environ.get("PI_TOOL_BRIDGE_TOKEN", ""),
                                        os.environ.get("PI_TOOL_BRIDGE_SESSION", ""))
    if not is_connected():
        raise NotConnected(f"no provider of tools, models and agents is connected to this session; {HOW_TO_CONNECT}")
    return _provider
