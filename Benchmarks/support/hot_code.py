"""Puts the code that pushes run side by side, within functions too, with LLVM's BOLT.

The linker moves whole sections. Those of our own code have one function each, but SQLite has one section for each of its files, and Swift's
library has one for all of its functions. BOLT rewrites a linked program: it moves the instructions that pushes run together. Valgrind counts how often each was run, so that one
push shows what sampling would need thousands for.
"""

from __future__ import annotations

import platform
import re
import subprocess
from collections import Counter
from pathlib import Path

from .linked import FUNCTIONS, Linked
from .programs import forget
from .references import redirect

BOLT = "llvm-bolt-16"

# Valgrind's processor lacks AVX-512, for which the C library has functions of their own. They are left as they are.
OTHER_PROCESSORS = "_evex"

# A jump to an address that was computed, by `objdump`: of a table, mostly.
COMPUTED_JUMP = re.compile(r"\bjmp\s+\*(%|[^ (]*\([^)]*,)")

# No instruction is longer.
LONGEST = 15


class Executed:
    """How often each instruction was run, by its address, and each jump was taken."""

    def __init__(self) -> None:
        self._instructions: Counter[int] = Counter()
        self._jumps: Counter[tuple[int, int]] = Counter()
        self._calls: Counter[tuple[int, int]] = Counter()
        self._jumped: Counter[int] = Counter()
        self._always: set[int] = set()

    @staticmethod
    def tool(output: Path) -> list[str | Path]:
        """The command that a program's own is added to."""
        return ["valgrind", "--quiet", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", f"--callgrind-out-file={output}"]

    @property
    def addresses(self) -> list[int]:
        return sorted(self._instructions)

    def add(self, output: Path, *, one_of: int = 1) -> None:
        """What the tool has written. With `one_of`, counts are divided by it, and rounded up."""

        def counted(text: str) -> int:
            return -(-int(text) // one_of)

        last = 0

        def address(text: str) -> int:
            """`+3`, `-3` and `*` follow on the last one that an instruction had."""
            return int(text, 16) if text.startswith("0x") else last + (0 if text == "*" else int(text))

        called: tuple[int, int] | None = None
        jumps: list[tuple[str, int, int]] = []
        for line in output.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("calls="):
                count, target = line.removeprefix("calls=").split()[:2]
                called = counted(count), address(target)
            elif line.startswith(("jump=", "jcnd=")):
                # jcnd=taken/reached
                kind, counts, target = re.split("[= ]", line)[:3]
                jumps.append((kind, counted(counts.split("/")[0]), address(target)))
            elif found := re.match(r"(0x[0-9a-f]+|[+-]\d+|\*) \S+(?: (\d+))?", line):
                last = address(found[1])
                if called is not None:
                    # The line after `calls=` has what the call cost, at the address of the instruction that called.
                    self._calls[last, called[1]] += called[0]
                    called = None
                    continue
                for kind, count, target in jumps:
                    self._jumps[last, target] += count
                    self._jumped[last] += count
                    if kind == "jump":
                        self._always.add(last)
                jumps = []
                if found[2]:
                    self._instructions[last] += counted(found[2])

    def write(self, path: Path) -> None:
        """As BOLT reads profiles that were put together already: branches, and what was run without one."""
        lines = [f"B {source:x} {target:x} {count} 0" for (source, target), count in (self._jumps + self._calls).items()]
        addresses = self.addresses
        for source, target in zip(addresses, addresses[1:]):
            count = self._instructions[source] - self._jumped[source]
            if source not in self._always and target - source <= LONGEST and count > 0:
                lines.append(f"F {source:x} {target:x} {count}")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_profile(program: Path, executed: Executed, profile: Path) -> None:
    """Writes `profile`, by which `program`, and others that were linked from the same functions, can be rewritten."""
    counts = profile.with_suffix(".counts")
    executed.write(counts)
    bolt([program, "-aggregate-only", "-pa", "-p", counts, "-o", profile])
    counts.unlink()


def bolt(arguments: list[str | Path]) -> None:
    """Its output is shown only if it fails."""
    result = subprocess.run([BOLT, *arguments], capture_output=True, text=True, errors="replace")
    if result.returncode != 0:
        raise RuntimeError(f"{BOLT} ended with {result.returncode}: {result.stderr[-2000:]}")


def with_computed_jumps(program: Path) -> set[str]:
    """Names of functions with computed jumps, aliases included."""
    names: dict[str, list[str]] = {}
    for address, name in functions(program):
        names.setdefault(address, []).append(name)
    found: set[str] = set()
    address, before = "", ""
    command: list[str | Path] = ["objdump", "--disassemble", "--no-show-raw-insn", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.endswith(">:\n"):
                address = line[: line.index(" ")]
            # A jump right after `pop` ends a function: it is taken for a call of another.
            elif COMPUTED_JUMP.search(line) and "\tpop " not in before:
                found.update(names.get(address, []))
            before = line
    if process.returncode != 0:
        raise RuntimeError(f"objdump ended with {process.returncode}")
    return found


def functions(program: Path) -> list[tuple[str, str]]:
    """Addresses and names of a program's functions, or of a library's."""
    command: list[str | Path] = ["nm", "--defined-only", program]
    listed = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout
    return re.findall(r"^([0-9a-f]{16}) [tTwWiI] (\S+)$", listed, re.MULTILINE)


def of_sqlite() -> Counter[str]:
    """Names of SQLite's functions, with the number of functions of each name; none if the system has no static SQLite."""
    found = subprocess.run(["cc", "-print-file-name=libsqlite3.a"], capture_output=True, text=True, check=True).stdout.strip()
    return Counter(name for _, name in functions(Path(found))) if Path(found).is_file() else Counter()


def compiled(program: Path) -> set[str]:
    """Names of functions that came from a compiler: Swift's and its runtime's, C++'s, and SQLite's. BOLT knows the tables and tail calls of
    compilers, and keeps a function's blocks in order where it cannot follow a jump. Some hand-written assembly, such as libffi's, it breaks.
    """
    sqlite, names = of_sqlite(), Counter(name for _, name in functions(program))
    return {name for name, count in names.items() if name.startswith(("$s", "_Z", "swift_")) or sqlite[name] >= count}


def movable(program: Path, profile: Path) -> list[str]:
    """What was run, by BOLT's names: `name`, or `name/2` for one of several that only their objects know."""
    names: dict[str, None] = {}
    for line in profile.read_text(encoding="utf-8").splitlines():
        # Twice: whether a symbol follows, the symbol, an offset.
        is_symbol, symbol, _, is_target_symbol, target, *_ = line.split(" ")
        names.update({name: None for name, known in ((symbol, is_symbol), (target, is_target_symbol)) if known == "1"})
    fixed = with_computed_jumps(program) - compiled(program) | outside_text(program)
    return [name for name in names if re.sub(r"/\d+$", "", name) not in fixed]


def outside_text(program: Path) -> set[str]:
    """Names outside the program's text: the linker's ifunc stubs, and the pieces of `_init` and `_fini`. Their symbols have no size, so that BOLT
    would take everything up to the next symbol for one function.
    """
    linked = Linked(program)
    text = [section for section in linked.sections if section.name in (".text", ".text_private")]
    return {
        symbol.name
        for symbol in linked.symbols
        if symbol.kind in FUNCTIONS and not any(0 <= symbol.address - section.address < section.size for section in text)
    }


def rewrite(program: Path, profile: Path, output: Path) -> tuple[int, int]:
    """`program` was linked with `--emit-relocs`. `output` has no debug information, and cannot be stripped. What pushes do not run stays as
    it is, and so does assembly with computed jumps. Returns the number of functions given to BOLT, and of references redirected after it.
    """
    if platform.machine() != "x86_64":
        raise RuntimeError("only the computed jumps of x86-64 are recognised: elsewhere BOLT would be given functions that it breaks")
    stripped, names = output.with_suffix(".stripped"), output.with_suffix(".functions")
    subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
    given = movable(stripped, profile)
    names.write_text("\n".join(given) + "\n", encoding="utf-8")
    options = ["-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions", "-split-all-cold", "-jump-tables=move"]
    bolt([stripped, "-o", output, f"-data={profile}", f"-funcs-file-no-regex={names}", "-no-huge-pages", *options])
    output.chmod(0o755)
    redirected = redirect(stripped, output)
    stripped.unlink()
    names.unlink()
    # As an installed program's, its pages are to be mapped in small pieces.
    forget(output)
    return len(given), redirected
