"""Counts what one push takes, independently of how busy the machine is."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

# Each statement that the program compiles; the schema's are compiled inside one.
COMPILED = "sqlite3LockAndPrepare"
ALLOCATIONS = ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc")

# Instructions under these functions. Compiling to read the schema counts as reading the schema.
SHARES = {
    "looking types up by name (Swift)": ("swift_getTypeByMangledNameInContext2",),
    "reading the schema": ("sqlite3InitOne",),
    "compiling SQL": (COMPILED,),
    "running SQL": ("sqlite3_step",),
    "signing and verifying": ("crypto_sign_detached", "crypto_sign_verify_detached"),
    "allocating": (*ALLOCATIONS, "free"),
}


@dataclass
class Profile:
    """The contents of callgrind's output: total instructions, calls of each function, and the instructions under each."""

    instructions: int
    calls: Counter[str]
    inclusive: Counter[str]

    @classmethod
    def read(cls, path: Path) -> Profile:
        names: dict[str, str] = {}
        profile = cls(0, Counter(), Counter())
        called, is_call = "", False
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(("fn=", "cfn=")):
                number, _, name = line.split("=", 1)[1].partition(" ")
                if name:
                    names[number] = name
                if line.startswith("cfn="):
                    called = names[number]
            elif line.startswith("calls="):
                profile.calls[called] += int(line[6:].split()[0])
                is_call = True
            elif is_call:
                profile.inclusive[called] += int(line.split()[1])
                is_call = False
            elif line.startswith(("summary:", "totals:")):
                profile.instructions = int(line.split()[1])
        return profile

    @property
    def shares(self) -> dict[str, int]:
        shares = {share: sum(self.inclusive[name] for name in names) for share, names in SHARES.items()}
        shares["compiling SQL"] -= shares["reading the schema"]
        return shares


class CountedRun:
    """Runs a program under counting tools. It must be linked statically, since its functions are found by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def program(self, path: Path) -> Path:
        """A copy without debug information, since Debian's valgrind cannot read Swift's."""
        sections = subprocess.run(["readelf", "--section-headers", "--wide", path], capture_output=True, text=True, check=True)
        # A program rewritten by BOLT (`hot_code.py`) has none.
        if " .debug_info " not in sections.stdout:
            return path
        copy = self.folder / f"{path.name}-counted"
        if not copy.exists():
            subprocess.run(["strip", "--strip-debug", "-o", copy, path], check=True)
        return copy

    def profile(self, words: list[str | Path], text: str) -> tuple[Profile, str]:
        return self.profile_of(words, lambda command: self.plain(command, text))

    def profile_of(self, words: list[str | Path], use: Callable[[list[str | Path]], Result]) -> tuple[Profile, Result]:
        """The profile of a program. `use` runs the given command to its end."""
        output = self.folder / "callgrind.out"
        result = use(["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={output}", *words])
        return Profile.read(output), result

    def system_calls(self, words: list[str | Path], text: str) -> tuple[Counter[str], str]:
        """The number of system calls by name, and the output."""
        return self.system_calls_of(words, lambda command: self.plain(command, text))

    def system_calls_of(
        self, words: list[str | Path], use: Callable[[list[str | Path]], Result]
    ) -> tuple[Counter[str], Result]:
        output = self.folder / "strace.out"
        answer = use(["strace", "-f", "-c", "-o", output, *words])
        calls: Counter[str] = Counter()
        for line in output.read_text(encoding="utf-8").splitlines():
            # Percentage, seconds, microseconds per call, calls, perhaps errors, name.
            found = re.fullmatch(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(\w+)", line)
            if found and found[2] != "total":
                calls[found[2]] = int(found[1])
        return calls, answer

    def plain(self, command: list[str | Path], text: str) -> str:
        result = subprocess.run(command, input=text + "\n", capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"{command[0]} ended with {result.returncode}: {result.stderr[-500:]}")
        return result.stdout
