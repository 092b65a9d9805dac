"""Checks JSON against the schemas in spec/protocol, with the public package `fastjsonschema`.

Input: one JSON array `[schema, value]` per line, where schema is a file's name without `.schema.json`.
Output: one line for each value that does not fit; one for each alternative of the used schemas that no value took, since the
schema then promises something never seen; and the number of values. A member that the schema does not name counts as a fault
here, although readers of the interface ignore it.
"""

import json
import pathlib
import sys

import fastjsonschema

PROTOCOL = pathlib.Path(__file__).resolve().parents[3] / "spec" / "protocol"
files = {}


def load(name):
    if name not in files:
        files[name] = strict(json.loads((PROTOCOL / name).read_text(encoding="utf-8")))
    return files[name]


def strict(schema):
    """The same schema, but objects may have only the named members."""
    if isinstance(schema, list):
        return [strict(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: strict(value) for name, value in schema.items()}
    if "properties" in schema and schema.get("type") == "object":
        schema.setdefault("additionalProperties", False)
    return schema


def follow(schema, home):
    """The schema that a reference leads to, and its file."""
    while "$ref" in schema:
        name, _, path = schema["$ref"].partition("#")
        home = name or home
        schema = load(home)
        for step in filter(None, path.split("/")):
            schema = schema[step]
    return schema, home


taken = {}


def walk(schema, home, value):
    """Records which alternatives a value takes."""
    schema, home = follow(schema, home)
    if "oneOf" in schema:
        for number, alternative in enumerate(schema["oneOf"]):
            target, place = follow(alternative, home)
            seen = taken.setdefault((id(schema), number), [f"{home}: {describe(target)}", False])
            if fits(target, value):
                seen[1] = True
                walk(target, place, value)
    elif "enum" in schema:
        for number, choice in enumerate(schema["enum"]):
            seen = taken.setdefault((id(schema), number), [f"{home}: {choice}", False])
            seen[1] = seen[1] or choice == value
    elif isinstance(value, dict):
        for name, member in schema.get("properties", {}).items():
            if name in value:
                walk(member, home, value[name])
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for element in value:
            walk(schema["items"], home, element)


def fits(schema, value):
    """Whether a value takes this alternative; alternatives differ in their tag or in their JSON type."""
    tag = schema.get("properties", {}).get("type", {}).get("const")
    if tag is not None:
        return isinstance(value, dict) and value.get("type") == tag
    kinds = {"string": str, "integer": int, "object": dict}
    return isinstance(value, kinds[schema["type"]])


def describe(schema):
    return schema.get("properties", {}).get("type", {}).get("const") or schema.get("type")


validators = {}


def check(name, value):
    """The faults of a value, as a list of lines."""
    home = f"{name}.schema.json"
    if name not in validators:
        handlers = {"": lambda uri: load(uri.rsplit("/", 1)[-1])}
        validators[name] = fastjsonschema.compile(load(home), handlers=handlers)
    try:
        validators[name](value)
    except fastjsonschema.JsonSchemaException as error:
        return [f"{name}: {error.message}: {json.dumps(error.value)[:300]}"]
    return []


def main():
    count = 0
    for line in sys.stdin:
        name, value = json.loads(line)
        for fault in check(name, value):
            print(fault)
        home = f"{name}.schema.json"
        walk(load(home), home, value)
        count += 1
    for description, seen in taken.values():
        if not seen:
            print(f"never seen: {description}")
    print(f"checked {count}")


if __name__ == "__main__":
    main()
