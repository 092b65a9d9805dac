"""Writes nightporter/_interface.py from Include/nightporter.h: enums, structures, function types and signatures.

    python tools/generate_interface.py           write the file
    python tools/generate_interface.py --check   exit with 1 when the committed file is stale

The header keeps to a small subset of C (no bit fields, unions, nested types or conditional declarations), and this
parser accepts only that subset: it stops at an unknown declaration and prints its text.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE.parents[2] / "Include" / "nightporter.h"
OUTPUT = HERE.parent / "nightporter" / "_interface.py"

ENUM = re.compile(r"typedef enum (\w+) \{(.*?)\} (\w+);", re.DOTALL)
STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} (\w+);", re.DOTALL)
CALLBACK = re.compile(r"typedef ([\w\s*]+?)\(\*(\w+)\)\s*\((.*?)\);", re.DOTALL)
HANDLE = re.compile(r"typedef void \*(\w+);")
FUNCTION = re.compile(r"([\w\s*]+?)(\w+)\((.*)\)", re.DOTALL)
NUMBER = re.compile(r"#define NP_(\w+) (\d+)$", re.MULTILINE)
TEXT = re.compile(r'#define NP_(\w+) ("[^"]*")$', re.MULTILINE)

SCALARS = {
    "int": "c_int",
    "size_t": "c_size_t",
    "int32_t": "c_int32",
    "uint8_t": "c_uint8",
}


class HeaderError(Exception):
    """A declaration outside the supported subset."""


def pascal(name: str) -> str:
    """Turns np_step_kind into StepKind, and np_error into ErrorCode, since an Error is an exception in Python."""
    if name == "np_error":
        return "ErrorCode"
    return "".join(part.capitalize() for part in name.removeprefix("np_").split("_"))


class Header:
    """The header's declarations, with the Python text for each."""

    def __init__(self, text: str) -> None:
        self.types: dict[str, str] = dict(SCALARS)
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        self.numbers = dict(NUMBER.findall(text))
        self.texts = dict(TEXT.findall(text))
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE).replace('extern "C" {', "")
        self.enums: list[tuple[str, list[tuple[str, str]]]] = []
        text = ENUM.sub(self.take_enum, text)
        for handle in HANDLE.findall(text):
            self.types[handle] = "c_void_p"
        text = HANDLE.sub("", text)
        self.definitions: list[str] = []
        text = re.sub(f"(?:{CALLBACK.pattern})|(?:{STRUCT.pattern})", self.take_definition, text, flags=re.DOTALL)
        self.functions = [self.function(part) for part in text.split(";") if part.strip(" \n}")]

    def take_enum(self, match: re.Match[str]) -> str:
        name, body = match[1], match[2]
        members = re.findall(r"(\w+)\s*=\s*(\d+)", body)
        if len(members) != len([part for part in body.split(",") if part.strip()]):
            raise HeaderError(f"enum {name}: every member needs a number of its own")
        prefix = f"{name.removesuffix('_kind').upper()}_"
        short = [(member.removeprefix(prefix).removeprefix("NP_"), value) for member, value in members]
        self.enums.append((name, short))
        self.types[name] = "c_int"
        return ""

    def take_definition(self, match: re.Match[str]) -> str:
        result, callback, arguments, struct, body, _ = match.groups()
        if callback:
            lines = [f"    {kind}," for kind in [self.result(result), *self.arguments(arguments)]]
            self.definitions.append("\n".join([f"{pascal(callback)} = CFUNCTYPE(", *lines, ")"]))
            self.types[callback] = pascal(callback)
            return ""
        fields = [self.field(part.strip()) for part in body.split(";") if part.strip()]
        lines = [f"class {pascal(struct)}(Structure):", "    _fields_ = ["]
        lines += [f'        ("{name}", {kind}),' for name, kind in fields]
        self.definitions.append("\n".join([*lines, "    ]"]))
        self.types[struct] = pascal(struct)
        return ""

    def field(self, text: str) -> tuple[str, str]:
        pointer = re.fullmatch(r"void \(\*(\w+)\)\(void \*\w+\)", text)
        if pointer:
            return pointer[1], "CFUNCTYPE(None, c_void_p)"
        array = re.fullmatch(r"(\w+)\s+(\w+)\[NP_(\w+)\]", text)
        if array:
            return array[2], f"{self.types[array[1]]} * {array[3]}"
        name, kind = self.declarator(text)
        return name, kind

    def declarator(self, text: str) -> tuple[str, str]:
        match = re.fullmatch(r"((?:const )?\w+)\s*(\**)\s*(\w+)", text.strip())
        if not match:
            raise HeaderError(f"not understood: {text!r}")
        return match[3], self.kind(match[1], len(match[2]))

    def kind(self, base: str, pointers: int) -> str:
        name = base.removeprefix("const ")
        if pointers == 1 and name == "void":
            return "c_void_p"
        if pointers == 1 and name == "char":
            # An owned string stays an address, so that it can be freed; ctypes copies a const one.
            return "c_char_p" if base.startswith("const ") else "c_void_p"
        if name not in self.types:
            raise HeaderError(f"unknown type: {base!r}")
        kind = self.types[name]
        for _ in range(pointers):
            kind = f"POINTER({kind})"
        return kind

    def result(self, text: str) -> str:
        text = text.strip()
        if text == "void":
            return "None"
        match = re.fullmatch(r"((?:const )?\w+)\s*(\**)", text)
        if not match:
            raise HeaderError(f"not understood: {text!r}")
        return self.kind(match[1], len(match[2]))

    def arguments(self, text: str) -> list[str]:
        text = " ".join(text.split())
        return [] if text == "void" else [self.declarator(part)[1] for part in text.split(",")]

    def function(self, text: str) -> tuple[str, str, list[str]]:
        match = FUNCTION.fullmatch(text.strip(" \n}"))
        if not match:
            raise HeaderError(f"not understood: {text.strip()!r}")
        return match[2], self.result(match[1]), self.arguments(match[3])


def generate(text: str) -> str:
    header = Header(text)
    used = re.findall(r"\bc_\w+", repr(header.functions) + "".join(header.definitions))
    names = sorted({*used, "CFUNCTYPE", "POINTER", "Structure"})
    lines = [
        '"""The C interface in Python\'s terms. Written by tools/generate_interface.py from Include/nightporter.h."""',
        "",
        "from __future__ import annotations",
        "",
        "from ctypes import (",
        *[f"    {name}," for name in names],
        ")",
        "from enum import IntEnum",
        "from typing import Any",
        "",
        *[f"{name} = {value}" for name, value in {**header.texts, **header.numbers}.items()],
    ]
    for name, members in header.enums:
        lines += ["", "", f"class {pascal(name)}(IntEnum):", f'    """The C enum `{name}`."""', ""]
        lines += [f"    {member} = {value}" for member, value in members]
    for definition in header.definitions:
        lines += ["", "", definition]
    lines += ["", "", "# Each function's result and arguments.", "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    lines += [f'    "{name}": ({result}, [{", ".join(arguments)}]),' for name, result, arguments in header.functions]
    return "\n".join([*lines, "}", ""])


def main() -> int:
    text = generate(HEADER.read_text(encoding="utf-8"))
    if "--check" in sys.argv[1:]:
        if OUTPUT.read_text(encoding="utf-8") == text:
            return 0
        print(f"{OUTPUT} is stale: run python tools/generate_interface.py", file=sys.stderr)
        return 1
    OUTPUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
