"""Sections, symbols and relocations of a static program (64-bit little-endian ELF: System V ABI, chapters 4 and 5)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# SHT_SYMTAB, SHT_RELA, SHT_NOBITS; SHF_ALLOC, SHF_EXECINSTR; STT_OBJECT, STT_FUNC and STT_GNU_IFUNC.
SYMBOLS, RELOCATIONS, WITHOUT_BYTES = 2, 4, 8
IN_MEMORY, EXECUTABLE = 2, 4
OBJECT, FUNCTIONS = 1, (2, 10)


@dataclass(frozen=True)
class Section:
    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    # For a symbol table, the section with its names; for relocations, the symbol table, and the section they patch.
    link: int
    info: int

    @property
    def is_data(self) -> bool:
        return self.flags & (IN_MEMORY | EXECUTABLE) == IN_MEMORY


@dataclass(frozen=True)
class Symbol:
    name: str
    kind: int
    address: int
    size: int


@dataclass(frozen=True)
class Relocation:
    # The section it patches, the address, and its type.
    section: Section
    place: int
    kind: int
    # A symbol's address plus the addend.
    target: int
    # File offset of the addend.
    offset: int


class Linked:
    """A program read into memory, to be changed and written back."""

    def __init__(self, path: Path) -> None:
        self._bytes = bytearray(path.read_bytes())
        (start,) = struct.unpack_from("<Q", self._bytes, 0x28)
        size, count, names = struct.unpack_from("<HHH", self._bytes, 0x3A)
        headers = [struct.unpack_from("<IIQQQQII", self._bytes, start + size * index) for index in range(count)]
        self.sections = [Section(self._text(headers[names][4] + name), *rest) for name, *rest in headers]
        self.symbols = [symbol for section in self.sections if section.kind == SYMBOLS for symbol in self._symbols(section)]

    def write(self, path: Path) -> None:
        path.write_bytes(self._bytes)

    def relocations(self) -> Iterator[Relocation]:
        """The relocations kept by `--emit-relocs`, and those applied at start-up."""
        for table in (section for section in self.sections if section.kind == RELOCATIONS):
            if table.link != 0 and self.sections[table.link].kind != SYMBOLS:
                raise ValueError(f"{table.name} is of a program that is linked dynamically")
            for index in range(0, table.size, 24):
                place, info, added = struct.unpack_from("<QQq", self._bytes, table.offset + index)
                symbol = self.symbols[info >> 32].address if info >> 32 else 0
                yield Relocation(self.sections[table.info], place, info & 0xFFFFFFFF, symbol + added, table.offset + index + 16)

    def offset(self, address: int) -> int:
        """The offset in the file of an address in memory."""
        for section in self.sections:
            if section.flags & IN_MEMORY and section.kind != WITHOUT_BYTES and 0 <= address - section.address < section.size:
                return section.offset + address - section.address
        raise ValueError(f"{address:#x} is in no section")

    def distance(self, offset: int) -> int:
        return int(struct.unpack_from("<i", self._bytes, offset)[0])

    def set_distance(self, offset: int, distance: int) -> None:
        struct.pack_into("<i", self._bytes, offset, distance)

    def set_address(self, offset: int, address: int) -> None:
        struct.pack_into("<Q", self._bytes, offset, address)

    def _text(self, offset: int) -> str:
        return self._bytes[offset : self._bytes.index(0, offset)].decode("utf-8", "replace")

    def _symbols(self, table: Section) -> Iterator[Symbol]:
        names = self.sections[table.link].offset
        records = struct.iter_unpack("<IBBHQQ", self._bytes[table.offset : table.offset + table.size])
        for name, kind, _, _, address, size in records:
            yield Symbol(self._text(names + name), kind & 15, address, size)
