"""`make bench`: the budgets of the design, measured, each beside its reference in the same run.

    python Benchmarks/bench.py --programs .build-programs/release --references .build/bench --output .build/bench.json

A table on standard output, the same as JSON in a file. It only reports: its exit status does not depend on a figure.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bindings" / "python"), str(ROOT / "Benchmarks")]

from nightporter import SyncController
from support import sealed
from support.figures import Row, percentile, report, table
from support.programs import Committer, Measure, Run
from support.world import Device, World

# Time for the sender and the server to finish their work after a push, so that it does not disturb the measurement.
SETTLE = 0.05

# Warm-up pushes into a running process, before those that count.
WARM_UP = 3


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.programs: Path = options.programs
        self.references: Path = options.references
        self.runs: int = options.runs
        self.quick: bool = options.quick
        self.folder = folder
        self.measure = Measure(self.references / "measure", folder)
        self.rows: list[Row] = []
        self.sealed_rows: list[Row] = []
        self.extra: dict[str, Any] = {}
        self.payload = ""

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(f"  {row.what}", file=sys.stderr)

    # (a), (b): the extension as a process

    def extension_words(self, device: Device) -> list[str | Path]:
        return [self.programs / "porter-harness", "extension", "--store", device.prefix]

    def presented(self, answer: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(answer)
        if found["outcome"] != "presented" or not found["notifications"]:
            raise RuntimeError(f"a push ended as {found['outcome']}: {found['reason']}")
        return found

    def cold_start(self, device: Device) -> None:
        """In turn: one push into a new extension process, and the C program on a store of the same kind."""
        reference = self.reference_store(device)
        runs: dict[str, list[Run]] = {"extension": [], "cold": [], "cold-dynamic": []}
        for number in range(self.runs):
            self.payload = device.push(f"message {number}")
            time.sleep(SETTLE)
            # Each of them is first, second and last equally often.
            for name in rotated(list(runs), number):
                if name == "extension":
                    runs[name].append(self.measure.run(self.extension_words(device), self.payload))
                    self.presented(runs[name][-1].output)
                else:
                    runs[name].append(self.measure.run([self.references / name, reference]))
        what = "that opens a store with the same tables, opens one box, commits one row durably, prints"
        ours, static, dynamic = ([run.first_line for run in found] for found in runs.values())
        self.add(
            Row("cold-start", "cold start, exec to content", "ms", ours, static, f"a static C program {what}", 2.0)
        )
        self.add(Row("cold-start-dynamic", "  the same", "ms", ours, dynamic, "that program linked dynamically"))
        ours, static, dynamic = ([run.peak for run in found] for found in runs.values())
        self.add(Row("peak-memory", "peak memory, one push", "MB", ours, static, "the static C program", limit=12.0))

    def fifty_pushes(self, device: Device) -> None:
        peaks = []
        for _ in range(3):
            with self.measure.conversation(self.extension_words(device)) as extension:
                for number in range(50):
                    self.presented(extension.ask(device.push(f"message {number}")))
            peaks.append(extension.run.peak)
        self.add(Row("peak-memory-50", "peak memory, 50 pushes", "MB", peaks, limit=14.0))

    def reference_store(self, device: Device) -> Path:
        """A copy of the device's store, to which the references add their own table."""
        path = self.folder / "reference.db"
        shutil.copy(device.store, path)
        subprocess.run([self.references / "cold", "--make", path], check=True)
        return path

    # (c): a push into a running process

    def warm_push(self, device: Device) -> None:
        """In turn: a push into a warm process, and commits in C."""
        store = self.folder / "reference.db"
        written = self.bytes_of_a_push(device)
        references: dict[str, list[str | Path]] = {
            "commit": [store],
            "opened": ["--open", store],
            "sized": ["--bytes", str(written), store],
        }
        times: dict[str, list[float]] = {name: [] for name in ("push", *references)}
        traces = []
        with ExitStack() as stack:
            extension = stack.enter_context(self.world.extension(device))
            committers = {
                name: stack.enter_context(Committer([self.references / "commit", *words]))
                for name, words in references.items()
            }
            for number in range(WARM_UP + self.runs):
                payload = device.push(f"message {number}")
                time.sleep(SETTLE)
                took: dict[str, float] = {}
                for name in rotated(list(times), number):
                    if name == "push":
                        took[name], answer = self.timed_push(extension, payload)
                    else:
                        took[name] = committers[name].commit()
                if number >= WARM_UP:
                    traces.append(answer["trace"])
                    for name, samples in times.items():
                        samples.append(took[name])
        inside = [between(trace, "decoding", "quiescing") for trace in traces]
        beside = "one durable commit of one row into an open store (C, WAL, synchronous=FULL), same disk"
        self.add(Row("warm-push-open", "warm push, store open", "ms", inside, times["commit"], beside, 2.0))
        sized = f"such a commit of {written} bytes, which is what a push writes"
        self.add(Row("warm-push-sized", "  the same", "ms", inside, times["sized"], sized))
        self.add(
            Row("warm-push", "warm push, store opened and closed", "ms", times["push"], times["commit"], beside, 2.0)
        )
        opened = "such a commit of one row, with opening and closing the store"
        self.add(Row("warm-push-reopen", "  the same", "ms", times["push"], times["opened"], opened))
        self.extra["warmPushPhases"] = phases(traces)

    def bytes_of_a_push(self, device: Device) -> int:
        """The length of a write-ahead log, empty before, after one push."""
        payload = device.push("one more")
        time.sleep(SETTLE)
        device.empty_log()
        with self.world.extension(device) as extension:
            self.presented(json.dumps(extension.receive_push(payload)))
        return device.store.with_name(device.store.name + "-wal").stat().st_size

    def timed_push(self, extension: SyncController, payload: str) -> tuple[float, Any]:
        """Milliseconds of the call, and its answer, which presents something."""
        began = time.perf_counter_ns()
        answer = extension.receive_push(payload)
        took = (time.perf_counter_ns() - began) / 1e6
        self.presented(json.dumps(answer))
        return took, answer

    # (d), (e): without a store

    def machine_step(self) -> None:
        rounds = 5 if self.quick else 60
        result = subprocess.run(
            [self.programs / "bench-machine-steps", str(rounds)], capture_output=True, text=True, check=True
        )
        samples = [[float(part) for part in line.split()] for line in result.stdout.splitlines()]
        theirs, ours, through = (list(column) for column in zip(*samples, strict=True))
        beside = "a hand-written C switch, the same walk of 4.2 million steps"
        self.add(Row("machine-step", "a machine step", "ns", ours, theirs, beside, 1.5))
        self.add(Row("machine-step-c", "a step by np_machine_step()", "ns", through, theirs, beside))

    def json_parsers(self) -> None:
        ours, theirs = [], []
        for number in range(self.runs):
            pair = [("bench-json-porter", ours), ("bench-json-foundation", theirs)]
            for program, runs in pair if number % 2 == 0 else reversed(pair):
                runs.append(self.measure.run([self.programs / program], self.payload))
        beside = "FoundationEssentials' JSONDecoder in a program that is otherwise the same"
        for key, what, unit, pick in (
            ("json-start", "parse one payload, from exec", "ms", lambda run: run.first_line),
            ("json-memory", "parse one payload, peak memory", "MB", lambda run: run.peak),
        ):
            self.add(Row(key, what, unit, [pick(run) for run in ours], [pick(run) for run in theirs], beside))

    # (f): the same push into stores of different sizes

    def growth(self) -> None:
        sizes = (1_000, 10_000) if self.quick else (1_000, 10_000, 100_000)
        devices = {size: self.world.device(f"size{size}") for size in sizes}
        for size, device in devices.items():
            with self.world.extension(device) as extension:
                self.presented(json.dumps(extension.receive_push(device.push("the first"))))
            device.fill(size)
        extensions = {size: self.world.extension(device).open() for size, device in devices.items()}
        times: dict[int, list[float]] = {size: [] for size in sizes}
        for number in range(WARM_UP + self.runs):
            for size in rotated(list(sizes), number):
                payload = devices[size].push(f"message {number}")
                time.sleep(SETTLE)
                took, _ = self.timed_push(extensions[size], payload)
                if number >= WARM_UP:
                    times[size].append(took)
        for extension in extensions.values():
            extension.close()
        for size in sizes[1:]:
            beside = f"the same push into a store of {sizes[0]} messages"
            self.add(Row(f"growth-{size}", f"push at {size} messages", "ms", times[size], times[sizes[0]], beside, 1.2))

    def run(self) -> None:
        with World(self.folder, self.programs / "porter-server") as self.world:
            device = self.world.device("device")
            self.cold_start(device)
            self.fifty_pushes(device)
            self.warm_push(device)
            self.growth()
        self.machine_step()
        self.json_parsers()

    # (g): the sealed store

    def sealed_store(self) -> None:
        rounds = 1 if self.quick else 9
        self.sealed_rows, shares = sealed.stores(self.references, self.folder, rounds)
        self.extra["sealedCipher"] = shares
        print("  the sealed store", file=sys.stderr)
        program = self.programs / "bench-commit-latency"
        self.extra["commitLatency"] = sealed.latency(program, self.folder, 1 if self.quick else 8, 1 if self.quick else 3)
        print("  commits of two processes", file=sys.stderr)


def rotated(names: list[Item], by: int) -> list[Item]:
    by %= len(names)
    return names[by:] + names[:by]


def between(trace: list[dict[str, Any]], first: str, last: str) -> float:
    """Milliseconds from the first step into one state to the first step into another, by the prefixes of their names.
    """
    times = {
        name: next(step["us"] for step in trace if step["machine"] == "push" and step["state"].startswith(name))
        for name in (first, last)
    }
    return (times[last] - times[first]) / 1000


def phases(traces: list[list[dict[str, Any]]]) -> dict[str, float]:
    """Where the time of a push goes: the median of the milliseconds spent in each state of the machine `push`.
    """
    spent: dict[str, list[float]] = {}
    for trace in traces:
        steps = [step for step in trace if step["machine"] == "push"]
        total: dict[str, float] = {}
        for step, following in itertools.pairwise(steps):
            total[step["state"]] = total.get(step["state"], 0) + (following["us"] - step["us"]) / 1000
        for state, took in total.items():
            spent.setdefault(state, []).append(took)
    return {state: percentile(times, 0.5) for state, times in spent.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="folder of the static release build")
    parser.add_argument("--references", type=Path, required=True, help="folder of the C programs")
    parser.add_argument("--output", type=Path, required=True, help="the JSON file")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", choices=("budgets", "sealed"), help="one of the two tables")
    parser.add_argument("--quick", action="store_true", help="few runs, small stores: to see that it works")
    options = parser.parse_args()
    if options.quick:
        options.runs = min(options.runs, 8)
    print("bench: measuring", file=sys.stderr)
    # Beside the build, and not in /tmp: a commit to memory would cost nothing.
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.references) as folder:
        bench = Bench(options, Path(folder))
        if options.only != "sealed":
            bench.run()
        if options.only != "budgets":
            bench.sealed_store()
    if bench.rows:
        print(table(bench.rows))
    if bench.sealed_rows:
        print("\nThe sealed store; processor time, but for durable inserts, which wait for the disk:\n")
        print(table(bench.sealed_rows))
        print(sealed.shares_text(bench.extra["sealedCipher"]))
        print("\n" + sealed.latency_table(bench.extra["commitLatency"]))
    if "warmPushPhases" in bench.extra:
        states = ", ".join(f"{state} {took:.2f}" for state, took in bench.extra["warmPushPhases"].items())
        print(f"\nA warm push, milliseconds in each state: {states}")
    load = os.getloadavg()[1]
    cpus = os.cpu_count()
    bench.extra["machine"] = {"cpus": cpus, "load": load, "kernel": platform.release(), "machine": platform.machine()}
    print(f"\nThe machine has {cpus} processors; its load over five minutes was {load:.1f}.")
    bench.extra["sealedStore"] = [row.json() for row in bench.sealed_rows]
    options.output.write_text(report(bench.rows, bench.extra), encoding="utf-8")
    print(f"\n{options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
