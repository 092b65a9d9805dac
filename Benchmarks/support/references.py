"""Has a program that BOLT rewrote use the code where it is now.

Two kinds of references are left with the old code, which stays in the program and works: a push would run both, and read both from the disk.
Swift's descriptions of types and conformances have functions by their distance, as 32 bits. BOLT changes no distance in data, since tables
for jumps have such ones too, whose meaning only their code knows. And of a static program it does not change where the C library
looks for the functions that choose by the processor.
"""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from .linked import FUNCTIONS, OBJECT, Linked

# By the psABI of x86-64, table 4.9: R_X86_64_PC32 and R_X86_64_IRELATIVE.
DISTANCE, CHOSEN_AT_START = 2, 37


def moved(before: Linked, after: Linked) -> dict[int, int]:
    """Where functions are now, by where they were. BOLT keeps the order of symbols: several functions can have one name."""

    def numbered(program: Linked) -> dict[tuple[str, int], int]:
        counts: dict[str, int] = {}
        found = {}
        for symbol in program.symbols:
            if symbol.kind in FUNCTIONS:
                found[symbol.name, counts.setdefault(symbol.name, 0)] = symbol.address
                counts[symbol.name] += 1
        return found

    now = numbered(after)
    return {address: now[key] for key, address in numbered(before).items() if now[key] != address}


def redirect(before: Path, after: Path) -> int:
    """Changes `after`, which BOLT made from `before`; how many references it has changed.

    A distance is changed if it leads to a function's beginning from a variable or constant that has a name, as Swift's descriptions have.
    Tables for jumps have none.
    """
    old, new = Linked(before), Linked(after)
    functions = moved(old, new)
    objects = sorted((symbol.address, symbol.size) for symbol in old.symbols if symbol.kind == OBJECT and symbol.size > 0)
    count = 0
    for reference in old.relocations():
        if reference.kind != DISTANCE or not reference.section.is_data or reference.target not in functions:
            continue
        index = bisect_right(objects, (reference.place, 1 << 64)) - 1
        if index < 0 or reference.place >= sum(objects[index]):
            continue
        offset = new.offset(reference.place)
        if new.distance(offset) != reference.target - reference.place:
            raise RuntimeError(f"{after}: what is at {reference.place:#x} is not what the linker put there")
        new.set_distance(offset, functions[reference.target] - reference.place)
        count += 1
    for reference in new.relocations():
        if reference.kind == CHOSEN_AT_START and reference.target in functions:
            new.set_address(reference.offset, functions[reference.target])
            count += 1
    new.write(after)
    return count
