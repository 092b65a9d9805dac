"""Redirects references that BOLT leaves at a function's old address.

There are two kinds. Swift's descriptions of types and conformances refer to functions by 32-bit relative offsets. BOLT changes none of these in
data, since jump tables have them too, and only the code explains those. And in a static program it does not change the addresses of ifunc
resolvers. The old code still works: BOLT overwrites it with a jump to the new function if it is long enough, and leaves it intact otherwise, so
a push would run both copies, and read both from the disk.
"""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from .linked import FUNCTIONS, OBJECT, Linked

# R_X86_64_PC32 and R_X86_64_IRELATIVE (psABI for x86-64, table 4.9).
PC32, IRELATIVE = 2, 37

# Names of Swift's descriptions.
DESCRIPTIONS = ("$s", "symbolic ", "associated conformance ", "default associated conformance ")


def moved(before: Linked, after: Linked) -> dict[int, int]:
    """The new addresses of functions by their old ones. BOLT keeps the order of symbols, which tells functions with the same name apart."""

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
    """Changes `after`, which BOLT made from `before`, and returns the number of references changed: relative offsets of a function's first
    instruction in Swift's descriptions, and addresses of resolvers.
    """
    old, new = Linked(before), Linked(after)
    functions = moved(old, new)
    objects = sorted((symbol.address, symbol.size, symbol.name) for symbol in old.symbols if symbol.kind == OBJECT and symbol.size > 0)
    addresses = [address for address, _, _ in objects]
    count = 0
    for reference in old.relocations():
        if reference.kind != PC32 or not reference.section.is_data or reference.target not in functions:
            continue
        index = bisect_right(addresses, reference.place) - 1
        if index < 0:
            continue
        start, size, name = objects[index]
        # An entry of a jump table can have such a value by accident, as it is relative to the table's start.
        if reference.place >= start + size or not name.startswith(DESCRIPTIONS):
            continue
        offset = new.offset(reference.place)
        if new.distance(offset) != reference.target - reference.place:
            raise RuntimeError(f"{after}: what is at {reference.place:#x} is not what the linker put there")
        new.set_distance(offset, functions[reference.target] - reference.place)
        count += 1
    for reference in new.relocations():
        if reference.kind == IRELATIVE and reference.target in functions:
            new.set_address(reference.offset, functions[reference.target])
            count += 1
    new.write(after)
    return count
