"""The cost of many simultaneous pushes to an extension whose host's transport does not answer."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .figures import Row
from .world import World

# The numbers of pushes, each about its own mailbox. The library has at most 64 in progress.
COUNTS = (1, 8, 16, 64)
# An extension is killed beyond this, regardless of its number of pushes.
MEGABYTES = 24.0
# When the pushes end by themselves: late enough for all of them to hang.
DEADLINE = 4_000


@dataclass
class Hanging:
    """One run. MB of 10⁶ bytes; the peak number of threads."""

    peak: float
    threads: int


def hanging_pushes(world: World, measure: Path, program: Path, folder: Path, rounds: int) -> list[Row]:
    """The rows for all counts. `measure` starts `program`, the harness, without a parent's memory."""
    device = world.device("hanging", max(COUNTS))
    pushes = []
    for contact in device.contacts:
        device.contact = contact
        pushes.append(device.push("hello"))
    rows = []
    for count in COUNTS:
        words = [str(program), "extension", "--store", str(device.prefix), "--relay", "silent"]
        words += ["--together", str(count), "--deadline", str(DEADLINE)]
        runs = [hang(measure, words, pushes[-count:], folder) for _ in range(rounds)]
        what = f"{count} hanging push{'es' if count > 1 else ''}"
        rows.append(Row(f"hanging-memory-{count}", f"peak memory, {what}", "MB", [run.peak for run in runs], limit=MEGABYTES))
        # One for each push in the host, one for each in the library, the engine's, and the program's own.
        threads = [float(run.threads) for run in runs]
        rows.append(Row(f"hanging-threads-{count}", "  its threads", "", threads, limit=2.0 * count + 2))
    return rows


def hang(measure: Path, words: list[str], pushes: list[str], folder: Path) -> Hanging:
    given, taken = folder / "hanging.in", folder / "hanging.out"
    given.write_text("".join(push + "\n" for push in pushes), encoding="utf-8")
    command = [str(measure), "--input", str(given), "--output", str(taken), "1", *words]
    threads = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            threads = max(threads, threads_of_child(process.pid))
            time.sleep(0.01)
        assert process.stdout is not None
        _, _, kibibytes, status, _ = (int(part) for part in process.stdout.read().split())
    answers = [json.loads(line) for line in taken.read_text(encoding="utf-8").splitlines()]
    if status != 0 or len(answers) != len(pushes) or any(answer["outcome"] != "expired" for answer in answers):
        raise RuntimeError(f"{words[0]} ended with {status}: {[(answer['outcome'], answer['reason']) for answer in answers]}")
    return Hanging(kibibytes * 1024 / 1e6, threads)


def threads_of_child(parent: int) -> int:
    """The number of threads of the only child; 0 while there is none."""
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
        return len(list(Path(f"/proc/{children[0]}/task").iterdir())) if children else 0
    except OSError:
        return 0
