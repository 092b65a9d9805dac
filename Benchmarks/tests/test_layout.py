"""How `make order` reads valgrind's output, and what it changes in a program rewritten by BOLT."""

import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.hot_code import Executed, compiled  # noqa: E402
from support.linked import FUNCTIONS, Linked  # noqa: E402
from support.references import redirect  # noqa: E402

# `described` has a function's relative offset, and a name like Swift's descriptions; two other places have the offset, but another name or none.
PROGRAM = """
#include <stdint.h>
#include <stdio.h>
typedef int function(void);
__attribute__((noinline, used)) int first(void) { return 1; }
__attribute__((noinline, used)) int second(void) { return 2; }
__asm__(".section .rodata\\n.balign 4\\n"
        ".globl described\\ndescribed:\\n.type \\"$s4mainMn\\", @object\\n.size \\"$s4mainMn\\", 4\\n\\"$s4mainMn\\": .long first - .\\n"
        ".globl table\\n.type table, @object\\n.size table, 4\\ntable: .long first - .\\n"
        ".globl unnamed\\nunnamed: .long first - .\\n.text");
extern const int32_t described, table, unnamed;
__attribute__((used)) static function *choose(void) { return first; }
__attribute__((used)) static function *choose_otherwise(void) { return second; }
int chosen(void) __attribute__((ifunc("choose")));
static int there(const int32_t *volatile distance) { return ((function *)((intptr_t)distance + *distance))(); }
int main(void) { printf("%d %d %d %d\\n", there(&described), there(&table), there(&unnamed), chosen()); }
"""


def build(folder: Path) -> Path:
    source, program = folder / "program.c", folder / "program"
    source.write_text(PROGRAM)
    options = ["-O1", "-static", "-no-pie", "-fno-pie", "-Wl,--emit-relocs", "-Wl,--build-id=none"]
    subprocess.run([os.environ.get("CC", "cc"), *options, source, "-o", program], check=True)
    return program


def move(program: Path, function: str, to: str) -> Path:
    """A program whose symbols place one function where another is, as after BOLT."""
    moved = program.with_name("moved")
    shutil.copy(program, moved)
    addresses = {symbol.name: symbol.address for symbol in Linked(program).symbols if symbol.kind in FUNCTIONS}
    content = bytearray(moved.read_bytes())
    table = next(section for section in Linked(program).sections if section.name == ".symtab")
    for offset in range(table.offset, table.offset + table.size, 24):
        if struct.unpack_from("<Q", content, offset + 8)[0] == addresses[function]:
            struct.pack_into("<Q", content, offset + 8, addresses[to])
    moved.write_bytes(content)
    return moved


def said(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip()


@unittest.skipUnless(platform.machine() == "x86_64", "programs are only rewritten for x86-64")
class ReferencesTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = build(Path(folder.name))

    def test_an_offset_in_a_description_leads_to_where_a_function_is_now(self) -> None:
        moved = move(self.program, "first", "second")
        self.assertEqual(said(moved), "1 1 1 1")
        self.assertEqual(redirect(self.program, moved), 1)
        # The others may belong to jump tables, and the resolver was not moved.
        self.assertEqual(said(moved), "2 1 1 1")

    def test_a_resolver_is_called_where_it_is_now(self) -> None:
        moved = move(self.program, "choose", "choose_otherwise")
        redirect(self.program, moved)
        self.assertEqual(said(moved), "1 1 1 2")

    def test_a_program_in_which_nothing_moved_stays_as_it_is(self) -> None:
        copy = self.program.with_name("copy")
        shutil.copy(self.program, copy)
        self.assertEqual(redirect(self.program, copy), 0)
        self.assertEqual(copy.read_bytes(), self.program.read_bytes())

    def test_another_program_is_refused(self) -> None:
        moved = move(self.program, "first", "second")
        content = bytearray(moved.read_bytes())
        place = next(symbol for symbol in Linked(self.program).symbols if symbol.name == "$s4mainMn").address
        struct.pack_into("<i", content, Linked(self.program).offset(place), 12)
        moved.write_bytes(content)
        with self.assertRaises(RuntimeError):
            redirect(self.program, moved)


class CompiledTests(unittest.TestCase):
    def test_assembly_is_not_known(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "names.s", Path(folder) / "names.o"
            names = ["sqlite3_step", "$s11PorterStore", "_ZN5swift3fooEv", "swift_retain", "ffi_call_unix64", "sqlite3_stepped"]
            source.write_text(".text\n" + "".join(f'.globl "{name}"\n.type "{name}",@function\n"{name}": ret\n' for name in names))
            subprocess.run([os.environ.get("CC", "cc"), "-c", source, "-o", library], check=True)
            self.assertEqual(compiled(library), set(names[:4]))


class ExecutedTests(unittest.TestCase):
    def test_branches_and_what_runs_without_one(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            output, profile = Path(folder) / "callgrind.out", Path(folder) / "counts"
            # Three instructions: the second jumps to the first four times out of five; the third calls another function twice.
            output.write_text("fn=(1) loop\n0x1000 1 5\njcnd=4/5 0x1000 1\n+4 1 5\ncalls=2 0x2000 0\n+2 1 40\n* 1 2\nfn=(2) other\n0x2000 1 2\n")
            executed = Executed()
            executed.add(output)
            self.assertEqual(executed.addresses, [0x1000, 0x1004, 0x1006, 0x2000])
            executed.write(profile)
            self.assertEqual(
                profile.read_text().splitlines(),
                ["B 1004 1000 4 0", "B 1006 2000 2 0", "F 1000 1004 5", "F 1004 1006 1"],
            )

    def test_counts_are_divided_and_never_become_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            output, profile = Path(folder) / "callgrind.out", Path(folder) / "counts"
            output.write_text("fn=(1) each\n0x1000 1 2500\n+4 1 1\n")
            executed = Executed()
            executed.add(output, one_of=1000)
            executed.write(profile)
            self.assertEqual(profile.read_text(), "F 1000 1004 3\n")


if __name__ == "__main__":
    unittest.main()
