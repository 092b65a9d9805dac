"""Checks JSON against the TypedDicts of the public package `simplex-chat`.

Input: one JSON array `[type, value]` per line, where type is the name of a class or union of the package.
Output: one line for each fault, with its path; then the number of values checked.
The member `np` of an error is ours, and the only one that the package need not know.
"""

import json
import sys
import types
import typing

from simplex_chat.types import _events, _responses, _types

MODULES = {"T": _types, "R": _responses, "E": _events}
OURS = {"np"}
hints = {}


def resolve(annotation, module):
    if isinstance(annotation, str):
        annotation = typing.ForwardRef(annotation)
    if isinstance(annotation, typing.ForwardRef):
        names = {**vars(_types), **vars(module), "T": _types}
        return eval(annotation.__forward_arg__, names)
    return annotation


def members(kind):
    """Names of a TypedDict's members, with their types and whether they are required.

    Does not use `__required_keys__`: the package postpones the evaluation of annotations, so it contains every name.
    """
    if kind not in hints:
        module = sys.modules[kind.__module__]
        names = {**vars(_types), **vars(module), "T": _types}
        marked = typing.get_type_hints(kind, globalns=names, localns=names, include_extras=True)
        hints[kind] = {
            name: (typing.get_args(hint)[0], False) if typing.get_origin(hint) is typing.NotRequired else (hint, True)
            for name, hint in marked.items()
        }
    return hints[kind]


def check(kind, value, path, module):
    """The faults of a value, as a list of lines."""
    kind = resolve(kind, module)
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return check_union(typing.get_args(kind), value, path, module)
    if origin is typing.Literal:
        return [] if value in typing.get_args(kind) else [f"{path}: {value!r} is not one of {typing.get_args(kind)}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{path}: expected a list, found {value!r}"]
        (element,) = typing.get_args(kind)
        return [w for i, v in enumerate(value) for w in check(element, v, f"{path}[{i}]", module)]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{path}: expected an object, found {value!r}"]
        _, element = typing.get_args(kind)
        return [w for k, v in value.items() for w in check(element, v, f"{path}.{k}", module)]
    if kind is object:
        return []
    if kind is bool:
        return [] if isinstance(value, bool) else [f"{path}: expected a bool, found {value!r}"]
    if kind is int:
        fits = isinstance(value, int) and not isinstance(value, bool)
        return [] if fits else [f"{path}: expected an int, found {value!r}"]
    if kind is str:
        return [] if isinstance(value, str) else [f"{path}: expected a text, found {value!r}"]
    if typing.is_typeddict(kind):
        return check_object(kind, value, path)
    raise TypeError(f"{path}: no rule for {kind!r}")


def check_union(kinds, value, path, module):
    """Reports the faults of the alternative with the value's tag, instead of "none fits"."""
    kinds = [resolve(kind, module) for kind in kinds]
    if not isinstance(value, dict) or "type" not in value:
        return [f"{path}: expected an object with a type, found {value!r}"]
    for kind in kinds:
        if value["type"] in typing.get_args(members(kind)["type"][0]):
            return check_object(kind, value, path)
    return [f"{path}: no alternative is tagged {value['type']!r}"]


def check_object(kind, value, path):
    if not isinstance(value, dict):
        return [f"{path}: expected an object, found {value!r}"]
    module = sys.modules[kind.__module__]
    known = members(kind)
    wrong = [f"{path}: {name} is missing" for name in sorted(known) if known[name][1] and name not in value]
    wrong += [f"{path}: {name} is not known" for name in sorted(value.keys() - known.keys() - OURS)]
    for name in value.keys() & known.keys():
        wrong += check(known[name][0], value[name], f"{path}.{name}", module)
    return wrong


def main():
    count = 0
    for line in sys.stdin:
        name, value = json.loads(line)
        module = MODULES[name.split(".")[0]]
        kind = getattr(module, name.split(".")[1])
        for wrong in check(kind, value, name, module):
            print(wrong)
        count += 1
    print(f"checked {count}")


if __name__ == "__main__":
    main()
