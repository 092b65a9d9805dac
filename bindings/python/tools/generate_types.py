"""Writes nightporter/protocol.py from spec/protocol/*.schema.json: a TypedDict for each object of the interface.

    python tools/generate_types.py           write the file
    python tools/generate_types.py --check   exit with 1 if the committed file is stale

The schemas use the subset of JSON Schema that this parser supports: type, properties, required, items, enum, const,
oneOf, $ref, definitions, additionalProperties. An alternative of `oneOf` is named after its tag:
`Event_contactConnected`.
"""

from __future__ import annotations

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMAS = HERE.parents[2] / "spec" / "protocol"
OUTPUT = HERE.parent / "nightporter" / "protocol.py"

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
SILENT = {"description", "title", "$schema", "$id", "format", "pattern", "minimum", "maximum", "minItems", "maxItems"}
SILENT |= {"minLength", "maxLength", "definitions", "default", "contentEncoding", "maxProperties", "minProperties"}

Schema = dict[str, Any]


class SchemaError(Exception):
    """A schema outside the supported subset."""


class Generator:
    """Turns schemas into types, and collects their definitions in an order that Python can evaluate."""

    def __init__(self) -> None:
        self.definitions: dict[str, str] = {}
        self.roots: dict[str, Schema] = {}

    def add(self, path: Path) -> None:
        schema = json.loads(path.read_text(encoding="utf-8"))
        root = root_name(path.name)
        self.roots[root] = schema
        for name, definition in schema.get("definitions", {}).items():
            self.define(name, definition, root)
        if any(key in schema for key in ("type", "oneOf", "$ref", "enum")):
            self.define(root, schema, root)

    def define(self, name: str, schema: Schema, root: str) -> None:
        """Names the schema `name`, as a class if it is an object and as an alias otherwise."""
        if name in self.definitions:
            raise SchemaError(f"{name} is defined twice")
        self.definitions[name] = ""
        expression = self.expression(schema, name, root, named=True)
        if expression != f'"{name}"':
            comment = described(schema)
            self.definitions[name] = f"{comment}{name}: TypeAlias = {wrapped(expression)}\n"

    def expression(self, schema: Schema | bool, name: str, root: str, *, named: bool = False) -> str:
        """The Python type of a schema. A schema that needs its own class gets one, called `name`."""
        if isinstance(schema, bool) or not schema.keys() - SILENT:
            return "Any"
        if "$ref" in schema:
            return f'"{self.referred(schema["$ref"], root)}"'
        if "const" in schema:
            return literal([schema["const"]])
        if "enum" in schema:
            return literal(schema["enum"])
        if "oneOf" in schema:
            return union(self.alternatives(schema["oneOf"], name, root))
        kind = schema.get("type")
        if kind == "array":
            return f"list[{self.expression(schema.get('items', True), name, root)}]"
        if kind == "object":
            return self.object(schema, name, root, named=named)
        if isinstance(kind, list):
            return " | ".join(SCALARS[one] for one in kind)
        if kind in SCALARS:
            return SCALARS[kind]
        raise SchemaError(f"{name}: not understood: {sorted(schema)}")

    def alternatives(self, schemas: list[Schema], name: str, root: str) -> list[str]:
        found: list[str] = []
        for schema in schemas:
            tag = schema.get("properties", {}).get("type", {})
            tags = [tag["const"]] if "const" in tag else tag.get("enum", [])
            expression = self.expression(schema, f"{name}_{tags[0]}" if tags else name, root)
            if expression not in found:
                found.append(expression)
        return found

    def object(self, schema: Schema, name: str, root: str, *, named: bool) -> str:
        unknown = schema.keys() - SILENT - {"type", "properties", "required", "additionalProperties"}
        if unknown:
            raise SchemaError(f"{name}: not understood: {sorted(unknown)}")
        properties: dict[str, Schema] = schema.get("properties", {})
        if not properties:
            rest = schema.get("additionalProperties", True)
            return f"dict[str, {self.expression(rest, name, root)}]"
        if not named:
            if name in self.definitions:
                raise SchemaError(f"{name} is defined twice")
            self.definitions[name] = ""
        required = set(schema.get("required", []))
        fields = {}
        for member, value in properties.items():
            kind = self.member(value, f"{name}_{member}", root)
            fields[member] = kind if member in required else f"NotRequired[{kind}]"
        # Moved to the end, so that a class follows the classes it needs.
        del self.definitions[name]
        self.definitions[name] = typed_dict(name, schema, fields)
        return f'"{name}"'

    def member(self, schema: Schema, name: str, root: str) -> str:
        """The type of an object's member. A type too long to read inline gets a name."""
        kind = self.expression(schema, name, root)
        if len(kind) < 80 or not kind.startswith(("Union[", "Literal[")):
            return kind
        self.definitions[name] = f"{described(schema)}{name}: TypeAlias = {wrapped(kind)}\n"
        return f'"{name}"'

    def referred(self, reference: str, root: str) -> str:
        file, _, path = reference.partition("#")
        if path.startswith("/definitions/"):
            return path.removeprefix("/definitions/")
        if path in ("", "/"):
            return root_name(file) if file else root
        raise SchemaError(f"not understood: {reference}")


def root_name(file: str) -> str:
    """error.schema.json is Error, push-answer.schema.json is PushAnswer."""
    return "".join(part.capitalize() for part in file.removesuffix(".schema.json").split("-"))


def described(schema: Schema) -> str:
    text = schema.get("description", "")
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, 110))


def literal(values: list[Any]) -> str:
    return f"Literal[{', '.join(str(value) if isinstance(value, bool) else json.dumps(value) for value in values)}]"


def union(parts: list[str]) -> str:
    """Uses Union, since Python cannot evaluate `|` between types named by strings."""
    return parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"


def wrapped(expression: str) -> str:
    """Splits a long union or literal over several lines."""
    if len(expression) < 80 or expression.count("[") != 1:
        return expression
    kind, _, parts = expression.removesuffix("]").partition("[")
    # A value may hold a comma: "INVALID,BAD".
    return f"{kind}[\n" + "".join(f"    {part},\n" for part in parts.split(", ")) + "]"


def typed_dict(name: str, schema: Schema, fields: dict[str, str]) -> str:
    document = textwrap.wrap(schema.get("description", ""), 110)
    if any(not member.isidentifier() or keyword.iskeyword(member) for member in fields):
        members = ", ".join(f"{member!r}: {kind}" for member, kind in fields.items())
        return f"{described(schema)}{name} = TypedDict({name!r}, {{{members}}})\n"
    lines = [f"class {name}(TypedDict):"]
    if document:
        body = document if len(document) == 1 else [*document, ""]
        lines.append('    """' + "\n    ".join(body).rstrip() + ('"""' if len(document) == 1 else '\n    """'))
        lines.append("")
    lines += [f"    {member}: {kind}" for member, kind in fields.items()]
    return "\n".join(lines) + "\n"


def generate() -> str:
    generator = Generator()
    for path in sorted(SCHEMAS.glob("*.schema.json")):
        generator.add(path)
    # Aliases at the end, where the types they name are defined.
    classes = [text for text in generator.definitions.values() if not is_alias(text)]
    aliases = [text for text in generator.definitions.values() if is_alias(text)]
    body = "\n\n".join(classes) + "\n\n" + "\n".join(aliases)
    used = ["Any", "Literal", "NotRequired", "TypeAlias", "TypedDict", "Union"]
    names = [name for name in used if f"{name}[" in body or f" {name}\n" in body or f"({name}" in body or name in body]
    return (
        '"""The objects of the interface. Written by tools/generate_types.py from spec/protocol/*.schema.json."""\n\n'
        f"from typing import {', '.join(names)}\n\n\n{body}"
    )


def is_alias(text: str) -> bool:
    return ": TypeAlias = " in text


def main() -> int:
    text = generate()
    if "--check" in sys.argv[1:]:
        if OUTPUT.read_text(encoding="utf-8") == text:
            return 0
        print(f"{OUTPUT} is stale: run python tools/generate_types.py", file=sys.stderr)
        return 1
    OUTPUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
