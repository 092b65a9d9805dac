"""The state machines that make every decision, as pure functions: what would `push` do in `received` on `deadline`?

    >>> from nightporter import machines
    >>> machines.get("token_status").step("new", "registered")        # doctest: +SKIP
    Step(state='registered', kind=<StepKind.MOVED: 0>, effects=('save',), reason='')

Nothing here opens a store or changes anything.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from . import _interface
from ._interface import StepKind
from ._library import library, text
from .errors import ArgumentError, check

__all__ = ["Machine", "Step", "StepKind", "all", "get", "names"]


@dataclass(frozen=True, slots=True)
class Step:
    """A machine's answer to one event. `effects` are in the order in which to carry them out."""

    state: str
    kind: StepKind
    effects: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Machine:
    """One of the library's machines: its names, and its step function."""

    name: str
    number: int

    @cached_property
    def states(self) -> tuple[str, ...]:
        functions = library().functions
        return self._names(functions.np_machine_state_count, functions.np_machine_state_name)

    @cached_property
    def events(self) -> tuple[str, ...]:
        functions = library().functions
        return self._names(functions.np_machine_event_count, functions.np_machine_event_name)

    @cached_property
    def effects(self) -> tuple[str, ...]:
        functions = library().functions
        return self._names(functions.np_machine_effect_count, functions.np_machine_effect_name)

    def _names(self, count: Callable[[int], int], name: Callable[[int, int], bytes]) -> tuple[str, ...]:
        return tuple(name(self.number, index).decode() for index in range(count(self.number)))

    @cached_property
    def initial(self) -> str:
        number: int = library().functions.np_machine_initial(self.number)
        return self.states[number]

    def step(self, state: str, event: str) -> Step:
        """Returns the machine's answer to `event` in `state`. Raises ArgumentError for an unknown name."""
        result = _interface.Step()
        code = library().functions.np_machine_step(
            self.number, self._number_of(state, self.states), self._number_of(event, self.events), ctypes.byref(result)
        )
        check(code, "np_machine_step")
        effects = tuple(self.effects[result.effects[index]] for index in range(result.effect_count))
        return Step(self.states[result.state], StepKind(result.kind), effects, result.reason.decode())

    def _number_of(self, name: str, among: tuple[str, ...]) -> int:
        try:
            return among.index(name)
        except ValueError:
            raise ArgumentError(f"{self.name} has no {name!r}") from None


def names() -> tuple[str, ...]:
    """The names of all machines."""
    functions = library().functions
    return tuple(functions.np_machine_name(number).decode() for number in range(functions.np_machine_count()))


def get(name: str) -> Machine:
    """Returns the machine with this name. Raises ArgumentError if there is none."""
    number = library().functions.np_machine_find(text(name))
    if number < 0:
        raise ArgumentError(f"there is no machine {name!r}")
    return Machine(name, number)


def all() -> tuple[Machine, ...]:
    """All machines, in the library's order."""
    return tuple(Machine(name, number) for number, name in enumerate(names()))
