"""Puts the code that pushes run side by side, within functions too, with LLVM's BOLT.

The linker moves whole sections. Our own code has one function per section, but SQLite has one section for each of its files, and Swift's library
one for all of its functions. BOLT rewrites a linked program: it moves the instructions that pushes run together. Valgrind counts how often each
was run, so one push shows what sampling would need thousands for.
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

# Valgrind's processor lacks AVX-512, for which the C library has separate functions. They are left unchanged.
OTHER_PROCESSORS = "_evex"

# A jump to a computed address, as `objdump` shows it: mostly through a table.
COMPUTED_JUMP = re.compile(r"\bjmp\s+\*(%|[^ (]*\([^)]*,)")

# No instruction is longer.
LONGEST = 15


class Executed:
    """How often each instruction was run, by address, and each jump was taken."""

    def __init__(self) -> None:
        self._instructions: Counter[int] = Counter()
        self._jumps: Counter[tuple[int, int]] = Counter()
        self._calls: Counter[tuple[int, int]] = Counter()
        self._jumped: Counter[int] = Counter()
        self._always: set[int] = set()

    @staticmethod
    def tool(output: Path) -> list[str | Path]:
        """The command to prefix to a program's own."""
        return ["valgrind", "--quiet", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", f"--callgrind-out-file={output}"]

    @property
    def addresses(self) -> list[int]:
        return sorted(self._instructions)

    def add(self, output: Path, *, one_of: int = 1) -> None:
        """Adds the tool's output. Counts are divided by `one_of`, and rounded up."""

        def counted(text: str) -> int:
            return -(-int(text) // one_of)

        last = 0

        def address(text: str) -> int:
            """Parses an address; `+3`, `-3` and `*` are relative to the last instruction's."""
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
                    # The line after `calls=` has the call's cost, at the address of the calling instruction.
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
        """Writes BOLT's format for aggregated profiles: branches, and code run without one."""
        lines = [f"B {source:x} {target:x} {count} 0" for (source, target), count in (self._jumps + self._calls).items()]
        addresses = self.addresses
        for source, target in zip(addresses, addresses[1:]):
            count = self._instructions[source] - self._jumped[source]
            if source not in self._always and target - source <= LONGEST and count > 0:
                lines.append(f"F {source:x} {target:x} {count}")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_profile(program: Path, executed: Executed, profile: Path) -> None:
    """Writes `profile`, for rewriting `program` and others linked from the same functions."""
    counts = profile.with_suffix(".counts")
    executed.write(counts)
    bolt([program, "-aggregate-only", "-pa", "-p", counts, "-o", profile])
    counts.unlink()


def bolt(arguments: list[str | Path]) -> None:
    """Runs BOLT; shows its output only if it fails."""
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
            # A jump right after `pop` ends a function; it is taken for a call to another.
            elif COMPUTED_JUMP.search(line) and "\tpop " not in before:
                found.update(names.get(address, []))
            before = line
    if process.returncode != 0:
        raise RuntimeError(f"objdump ended with {process.returncode}")
    return found


def functions(program: Path) -> list[tuple[str, str]]:
    """Addresses and names of the functions of a program or library."""
    command: list[str | Path] = ["nm", "--defined-only", program]
    listed = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout
    return re.findall(r"^([0-9a-f]{16}) [tTwWiI] (\S+)$", listed, re.MULTILINE)


def of_sqlite() -> Counter[str]:
    """Names of SQLite's functions, with the number of functions of each name; none if the system has no static SQLite."""
    found = subprocess.run(["cc", "-print-file-name=libsqlite3.a"], capture_output=True, text=True, check=True).stdout.strip()
    return Counter(name for _, name in functions(Path(found))) if Path(found).is_file() else Counter()


def compiled(program: Path) -> set[str]:
    """Names of compiled functions: Swift's and its runtime's, C++'s, and SQLite's. BOLT knows the tables and tail calls of compilers, and keeps a
    function's blocks in order where it cannot follow a jump. It breaks some hand-written assembly, such as libffi's.
    """
    sqlite, names = of_sqlite(), Counter(name for _, name in functions(program))
    return {name for name, count in names.items() if name.startswith(("$s", "_Z", "swift_")) or sqlite[name] >= count}


def movable(program: Path, profile: Path) -> list[str]:
    """The functions that were run, by BOLT's names: `name`, or `name/2` for one of several local to their objects."""
    names: dict[str, None] = {}
    for line in profile.read_text(encoding="utf-8").splitlines():
        # Twice: a flag for a symbol, the symbol, an offset.
        is_symbol, symbol, _, is_target_symbol, target, *_ = line.split(" ")
        names.update({name: None for name, known in ((symbol, is_symbol), (target, is_target_symbol)) if known == "1"})
    fixed = with_computed_jumps(program) - compiled(program) | outside_text(program)
    return [name for name in names if re.sub(r"/\d+$", "", name) not in fixed]


def outside_text(program: Path) -> set[str]:
    """Names outside the program's text: the linker's ifunc stubs, and the pieces of `_init` and `_fini`. Their symbols have no size, so BOLT would
    take everything up to the next symbol for one function.
    """
    linked = Linked(program)
    text = [section for section in linked.sections if section.name in (".text", ".text_private")]
    return {
        symbol.name
        for symbol in linked.symbols
        if symbol.kind in FUNCTIONS and not any(0 <= symbol.address - section.address < section.size for section in text)
    }


def rewrite(program: Path, profile: Path, output: Path) -> tuple[int, int]:
    """Rewrites `program`, which must be linked with `--emit-relocs`. `output` has no debug information, and cannot be stripped. Code that pushes do
    not run stays unchanged, and so does assembly with computed jumps. Returns the numbers of functions given to BOLT and of references redirected
    afterwards.
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
    # Like an installed program's, its pages must be mapped in small pieces.
    forget(output)
    return len(given), redirected
