"""`llm`, `agent`, `budget`: models, through whoever runs cellar."""
__builtins__ = __import__("builtins").__dict__.copy()

import math

from cellar_prelude import arguments, bridge
from cellar_prelude.status import note
from cellar_runtime import late_import

_TIERS = ("smol", "default", "slow")
_LABEL_CHARS = 80


class BudgetExceeded(RuntimeError):
    """The hard ceiling of the budget is reached: no agent is started."""


def llm(prompt, model="default", system=None, schema=None):
    """Ask a model once: no history, no tools. Returns its text.

    model   "smol" (quick), "default" (that of this session) or "slow" (the most capable)
    system  a system prompt
    schema  a JSON Schema, as a dict: the answer is then the parsed value, checked against it

        llm("Name a prime above 100", model="smol", schema={"type": "integer", "minimum": 101})
    """
    arguments.text("llm", "prompt", prompt)
    if model not in _TIERS:
        raise ValueError(f"llm(): model must be one of {', '.join(_TIERS)}, not {model!r}")
    arguments.optional_text("llm", "system", system)
    arguments.schema("llm", schema)
    request = _given(prompt=prompt, model=model, system=system, schema=schema)
    state = "failed"
    try:
        value = _answer("llm", bridge.provider().call(bridge.LLM, request), schema)
        state = "done"
        return value
    finally:
        note("llm", model=model, chars=len(prompt), state=state)


def agent(prompt, agent_type="task", model=None, context=None, label=None, schema=None, *, agentType=None):
    """Have an agent do something, and return what it says at its end.

    agent_type  which agent (`agentType` is the same)
    model       a model other than the agent's own
    context     what it should know beside the prompt
    label       a short name to show
    schema      a JSON Schema, as a dict: the answer is then the parsed value, checked against it

    Past a hard ceiling of `budget`, BudgetExceeded is raised and no agent starts.
    """
    arguments.text("agent", "prompt", prompt)
    if agentType is not None and agent_type not in ("task", agentType):
        raise TypeError("agent(): agent_type and agentType are the same, and were given two values")
    kind = arguments.text("agent", "agent_type", agent_type if agentType is None else agentType)
    for name, value in (("model", model), ("context", context), ("label", label)):
        arguments.optional_text("agent", name, value)
    arguments.schema("agent", schema)
    provider = bridge.provider()
    _check_budget(provider.budget())
    shown = label or prompt.strip().partition("\n")[0][:_LABEL_CHARS]
    request = _given(prompt=prompt, agent_type=kind, model=model, context=context, label=label, schema=schema)
    note("agent", agent_type=kind, label=shown, state="started")
    state = "failed"
    try:
        value = _answer("agent", provider.call(bridge.AGENT, request), schema)
        state = "done"
        return value
    finally:
        note("agent", agent_type=kind, label=shown, state=state)


class Budget:
    """The tokens that this turn may spend: `total`, `hard`, `spent()`, `remaining()`."""

    @property
    def total(self) -> int | None:
        """The ceiling; None where there is none."""
        return _budget().get("total")

    @property
    def hard(self) -> bool:
        """Whether agent() refuses past the ceiling."""
        return bool(_budget().get("hard"))

    def spent(self) -> int:
        """The output tokens spent in this turn."""
        return _budget().get("spent") or 0

    def remaining(self) -> float:
        """What is left up to the ceiling, never below 0; math.inf without a ceiling."""
        return _remaining(_budget())

    def __repr__(self):
        try:
            now = _budget()
        except bridge.BridgeError as error:
            return f"<budget: {error}>"
        total = "no ceiling" if now.get("total") is None else f"of {now['total']}{' (hard)' if now.get('hard') else ''}"
        return f"<budget: {now.get('spent') or 0} spent, {total}>"


budget = Budget()


def _budget():
    # Where nobody is connected, nothing can be spent.
    return _described(bridge.provider().budget()) if bridge.is_connected() else {}


def _described(value):
    if value is None:
        return {}
    if not isinstance(value, dict) or not isinstance(value.get("total"), (int, float, type(None))) or not isinstance(
            value.get("spent"), (int, float, type(None))):
        raise bridge.BridgeError(f"the provider answered with a budget that is none: {value!r:.200}")
    return value


def _remaining(described):
    total = described.get("total")
    return math.inf if total is None else max(0, total - (described.get("spent") or 0))


def _check_budget(value):
    described = _described(value)
    if described.get("hard") and _remaining(described) <= 0:
        raise BudgetExceeded(f"agent(): the budget of {described['total']} tokens is spent "
                             f"({described.get('spent')}), and the ceiling is a hard one")


def _given(**fields):
    return {name: value for name, value in fields.items() if value is not None}


def _answer(helper, value, schema):
    if schema is not None:
        return late_import.load("cellar_prelude.schema").parse(helper, value, schema)
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return value["text"]
    return value
