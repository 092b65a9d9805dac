"""Checks a value against the generated types, strictly: an unknown member is an error too."""

from __future__ import annotations

import typing
from typing import Any

from nightporter import protocol


def faults(value: Any, kind: Any, path: str = "$") -> list[str]:
    """The faults of `value` as a `kind`, one line each; empty if it fits."""
    if isinstance(kind, str):
        kind = getattr(protocol, kind) if kind.isidentifier() else eval(kind, vars(protocol))
    if isinstance(kind, typing.ForwardRef):
        return faults(value, kind.__forward_arg__, path)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return []
    if origin is typing.NotRequired:
        return faults(value, arguments[0], path)
    if origin is typing.Literal:
        return [] if value in arguments else [f"{path}: {value!r} is none of {arguments}"]
    if origin is typing.Union:
        return best_of(value, arguments, path)
    if origin is list:
        if not isinstance(value, list):
            return [f"{path}: {value!r} is no list"]
        return [fault for index, one in enumerate(value) for fault in faults(one, arguments[0], f"{path}[{index}]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{path}: {value!r} is no object"]
        return [fault for name, one in value.items() for fault in faults(one, arguments[1], f"{path}.{name}")]
    if typing.is_typeddict(kind):
        return object_faults(value, kind, path)
    fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    return [] if fits else [f"{path}: {value!r} is no {kind.__name__}"]


def best_of(value: Any, kinds: tuple[Any, ...], path: str) -> list[str]:
    """The faults of the best alternative, which has the value's tag and the fewest faults."""
    return min(
        (faults(value, kind, path) for kind in kinds), key=lambda found: (any(".type:" in f for f in found), len(found))
    )


def object_faults(value: Any, kind: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: {value!r} is no object"]
    fields = kind.__annotations__
    found = [f"{path}.{name}: missing" for name in sorted(kind.__required_keys__ - value.keys())]
    found += [f"{path}.{name}: not known" for name in sorted(value.keys() - fields.keys())]
    for name in fields.keys() & value.keys():
        found += faults(value[name], fields[name], f"{path}.{name}")
    return found
