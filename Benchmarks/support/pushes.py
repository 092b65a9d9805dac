"""One push, handled in turn by the extension and by the reference in C, on the same store and relay."""

from __future__ import annotations

import itertools
import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nightporter import SyncController

from .counts import ALLOCATIONS, COMPILED, SHARES, CountedRun
from .figures import percentile
from .programs import Answerer
from .world import Device

# Time for the sender and the server to finish their work after a push, so that it does not disturb the measurement.
SETTLE = 0.05

# Where a push's time goes is taken from the fastest tenth, since other load on the machine only adds to it.
UNDISTURBED = 0.1

EXTENSION, REFERENCE = "extension", "push.c"
# The extension with `--doze`.
DOZING = "extension, dozing"


class Taken:
    """The pushes that a device has got so far: what each answer must say, and what its store must contain."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.texts: list[str] = []

    def next(self) -> str:
        """Makes the sender write; returns the push's payload."""
        self.texts.append(f"message {len(self.texts)}")
        payload = self.device.push(self.texts[-1])
        time.sleep(SETTLE)
        return payload

    def check(self, answer: str) -> dict[str, Any]:
        """Checks that the newest message is shown, and the badge counts it. Both programs' answers have the same format."""
        found: dict[str, Any] = json.loads(answer)
        if found["outcome"] != "presented":
            raise RuntimeError(f"a push ended as {found['outcome']}: {found['reason']}")
        (shown,) = found["notifications"]
        count = len(self.texts)
        said = (shown["title"], shown["body"], shown["badge"], found["badge"], found["withdrawals"])
        if said != ("sender:", self.texts[-1], count, count, []):
            raise RuntimeError(f"a push shows {said} for {self.texts[-1]!r}")
        names = set(shown) - {"sound"}
        if names != NOTIFICATION or set(found) != ANSWER or not found["quiescent"] or found["work"] != "ran":
            raise RuntimeError(f"an answer of another shape: {answer}")
        return found

    def check_store(self) -> None:
        """Checks that the store is intact, and that an app that opens it shows each message once."""
        with sqlite3.connect(self.device.store) as store:
            checks = {
                "integrity": "PRAGMA integrity_check",
                "foreign keys": "SELECT count(*) FROM pragma_foreign_key_check",
                "unread": "SELECT unread = (SELECT count(*) FROM items WHERE status = 'rcvNew') FROM connections",
                "badge": "SELECT sum(unread) = (SELECT count(*) FROM items WHERE status = 'rcvNew') FROM users",
                "ledger": "SELECT count(*) FROM items LEFT JOIN ledger USING (item_id) WHERE state IS NOT 'presented'",
            }
            found = {name: store.execute(sql).fetchone()[0] for name, sql in checks.items()}
        store.close()
        if found != {"integrity": "ok", "foreign keys": 0, "unread": 1, "badge": 1, "ledger": 0}:
            raise RuntimeError(f"the store is not whole: {found}")
        with SyncController(self.device.prefix) as app:
            app.send("/_start")
            chat = app.send(f"/_get chat @1 count={len(self.texts) + 8}")["chat"]
            contents = [item["content"] for item in chat["chatItems"]]
            texts = [content["msgContent"]["text"] for content in contents if "msgContent" in content]
            app.suspend()
        if texts != self.texts:
            raise RuntimeError(f"the app shows {len(texts)} of {len(self.texts)} messages, or shows them otherwise")


ANSWER = {"outcome", "reason", "work", "notifications", "withdrawals", "badge", "quiescent", "trace"}
NOTIFICATION = {
    *("identifier", "title", "titleKey", "titleArguments", "body", "categoryIdentifier", "targetContentIdentifier"),
    *("threadIdentifier", "userInfo", "badge"),
}


def phases(traces: list[list[dict[str, Any]]]) -> dict[str, float]:
    """Where the time of a push goes: milliseconds in each state of the machine `push`, for the fastest tenth."""
    spent: dict[str, list[float]] = {}
    for trace in traces:
        steps = [step for step in trace if step["machine"] == "push"]
        total = {"received": steps[0]["us"] / 1000}
        for step, following in itertools.pairwise(steps):
            total[step["state"]] = total.get(step["state"], 0) + (following["us"] - step["us"]) / 1000
        for state, took in total.items():
            spent.setdefault(state, []).append(took)
    return {state: percentile(times, UNDISTURBED) for state, times in spent.items()}


@dataclass
class Counts:
    """The counts of one push into a new process."""

    instructions: int
    statements: int
    allocations: int
    system_calls: int
    syncs: int
    log: int
    shares: dict[str, int] = field(default_factory=dict)


def counted(taken: Taken, run: CountedRun, programs: dict[str, list[str | Path]]) -> dict[str, Counts]:
    """The counts by program. The log has the same length each time, as one push leaves it."""
    found = {}
    for name, (program, *arguments) in programs.items():
        words: list[str | Path] = [run.program(Path(program)), *arguments]

        def ready(words: list[str | Path] = words) -> str:
            payload = taken.next()
            taken.device.empty_log()
            taken.check(run.plain(words, payload))
            return taken.next()

        profile, answer = run.profile(words, ready())
        taken.check(answer)
        payload = ready()
        before = taken.device.log_size()
        calls, answer = run.system_calls(words, payload)
        taken.check(answer)
        found[name] = Counts(
            instructions=profile.instructions,
            statements=profile.calls[COMPILED],
            allocations=sum(profile.calls[name] for name in ALLOCATIONS),
            system_calls=sum(calls.values()),
            syncs=calls["fsync"] + calls["fdatasync"],
            log=taken.device.log_size() - before,
            shares=profile.shares,
        )
    return found


@dataclass
class RunningCounts:
    """The counts of one push into a running process."""

    system_calls: float
    # None for a dozing store: valgrind does not support the second mapping that dozing needs.
    instructions: float | None


# A process handles this few pushes, and this many: the difference is due to the pushes alone.
FEW, MANY = 2, 22


def counted_running(taken: Taken, run: CountedRun, programs: dict[str, list[str | Path]]) -> dict[str, RunningCounts]:
    found = {}
    for name, (program, *arguments) in programs.items():
        words: list[str | Path] = [run.program(Path(program)), *arguments]
        taken.device.empty_log()
        counts = []
        for count in (FEW, MANY):

            def use(command: list[str | Path], count: int = count) -> None:
                with Answerer(command) as program:
                    for _ in range(count):
                        taken.check(program.ask(taken.next())[1])

            calls, _ = run.system_calls_of(words, use)
            counts.append([sum(calls.values())])
            if name != DOZING:
                counts[-1].append(run.profile_of(words, use)[0].instructions)
        each = [(many - few) / (MANY - FEW) for few, many in zip(*counts, strict=True)]
        found[name] = RunningCounts(*each) if name != DOZING else RunningCounts(*each, None)
    return found


def running_table(counts: dict[str, RunningCounts]) -> str:
    lines: list[tuple[str, ...]] = [("one push into a running process", *counts)]
    for key, what in (("instructions", "instructions"), ("system_calls", "system calls")):
        values = [getattr(found, key) for found in counts.values()]
        lines.append((what, *("" if value is None else f"{value:,.0f}" for value in values)))
    return "\n".join(aligned(lines))


# The name of each count, and its goal.
COUNTED = {
    "instructions": ("instructions", 8_000_000),
    "statements": ("statements compiled", 20),
    "allocations": ("allocations", None),
    "system_calls": ("system calls", None),
    "syncs": ("syncs, of files and folders", 1),
    "log": ("bytes of log", 20_480),
}


def counts_table(counts: dict[str, Counts], faults: dict[str, list[float]], peaks: dict[str, list[float]]) -> str:
    lines = [("one push, counted", EXTENSION, REFERENCE, "ratio", "goal")]

    def add(what: str, ours: float, theirs: float, goal: object, form: str = ",.0f") -> None:
        wanted = "" if goal is None else f"{goal:,}"
        lines.append((what, f"{ours:{form}}", f"{theirs:{form}}", f"{ours / theirs:.2f}", wanted))

    for key, (what, goal) in COUNTED.items():
        add(what, getattr(counts[EXTENSION], key), getattr(counts[REFERENCE], key), goal)
    add("page faults", percentile(faults[EXTENSION], 0.5), percentile(faults[REFERENCE], 0.5), None)
    add("peak memory, MB", percentile(peaks[EXTENSION], 0.5), percentile(peaks[REFERENCE], 0.5), 7.5, ".1f")
    return "\n".join(aligned(lines))


def shares_table(counts: dict[str, Counts]) -> str:
    lines = [("millions of instructions under", EXTENSION, REFERENCE)]
    for share in SHARES:
        lines.append((share, *(f"{counts[name].shares[share] / 1e6:.2f}" for name in (EXTENSION, REFERENCE))))
    return "\n".join(aligned(lines))


def aligned(lines: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        yield "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
