"""`make bench`: measures the design's budgets, each next to its reference in the same run.

    python Benchmarks/bench.py --programs .build-programs/release --extension .build-programs/ordered/porter-harness \
        --references .build/bench --output .build/bench.json

Prints a table, and writes the same as JSON to a file. It only reports: its exit status does not depend on any figure.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bindings" / "python"), str(ROOT / "Benchmarks")]

from nightporter import SyncController
from support import plot, sealed, server
from support.counts import CountedRun
from support.curves import Curve, Curves, curves_picture, curves_table
from support.figures import Row, percentile, report, table
from support.hanging import hanging_pushes
from support.programs import Answerer, Committer, Measure, Run, placed
from support.pushes import DOZING, EXTENSION, REFERENCE, SETTLE, UNDISTURBED, Counts, RunningCounts, Taken
from support.pushes import counted, counted_running, counts_table, phases, running_table, shares_table
from support.sealed_push import sealed_pushes
from support.waiting import waiting_messages
from support.world import Device, World

# The necessary cost of a push.
PUSH = "push.c: the work of one push by hand in C, on the same store and relay"

# A file system without a disk.
MEMORY = Path("/dev/shm")

# Warm-up pushes into a running process, before the pushes that count.
WARM_UP = 3


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.programs: Path = options.programs
        self.references: Path = options.references
        self.runs: int = options.runs
        self.quick: bool = options.quick
        self.folder = folder
        # The programs compared in time, memory and page faults.
        compared = [options.extension, self.references / "harness-aegis"]
        compared += [self.references / name for name in ("push", "cold", "cold-dynamic", "commit")]
        self.placed = placed(compared, folder / "programs")
        self.measure = Measure(self.references / "measure", folder)
        self.rows: list[Row] = []
        self.sealed_rows: list[Row] = []
        self.server_rows: list[Row] = []
        self.extra: dict[str, Any] = {}
        self.payload = ""
        self.curves: list[Curve] = []
        # By program: where a push's time goes, and what it takes.
        self.phases: dict[str, dict[str, float]] = {}
        self.counted: dict[str, Counts] = {}
        self.running: dict[str, RunningCounts] = {}
        self.peaks: dict[str, list[float]] = {}
        self.faults: dict[str, list[float]] = {}

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(f"  {row.what}", file=sys.stderr)

    # (a), (b): the extension as a process

    def extension_words(self, device: Device) -> list[str | Path]:
        return [self.placed / "porter-harness", "extension", "--store", device.prefix]

    def reference_words(self, device: Device) -> list[str | Path]:
        return [self.placed / "push", device.prefix]

    def presented(self, answer: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(answer)
        if found["outcome"] != "presented" or not found["notifications"]:
            raise RuntimeError(f"a push ended as {found['outcome']}: {found['reason']}")
        return found

    def first_pushes(self, taken: Taken) -> None:
        """Takes the first messages of a conversation, which turn its ratchet; the reference leaves that to the extension."""
        for _ in range(2):
            self.payload = taken.next()
            taken.check(self.measure.run(self.extension_words(taken.device), self.payload).output)

    def cold_start(self, taken: Taken) -> None:
        """In turn: a push into a new extension process, one into the reference, and C programs on a similar store."""
        device = taken.device
        reference = self.reference_store(device)
        words = {EXTENSION: self.extension_words(device), REFERENCE: self.reference_words(device)}
        runs: dict[str, list[Run]] = {name: [] for name in (*words, "cold", "cold-dynamic")}
        traces: dict[str, list[Any]] = {name: [] for name in words}
        for number in range(self.runs):
            # Each is first, second and last equally often.
            for name in rotated(list(runs), number):
                if name in words:
                    runs[name].append(self.measure.run(words[name], taken.next()))
                    traces[name].append(taken.check(runs[name][-1].output)["trace"])
                else:
                    runs[name].append(self.measure.run([self.placed / name, reference]))
        what = "that opens a store with the same tables, opens one box, commits one row durably, prints"
        ours, push, static, dynamic = ([run.first_line for run in found] for found in runs.values())
        self.add(Row("cold-push", "cold push, exec to content", "ms", ours, push, f"{PUSH}, started for it", 1.3))
        self.add(Row("cold-start", "  the same", "ms", ours, static, f"a static C program {what}"))
        self.add(Row("cold-start-dynamic", "  the same", "ms", ours, dynamic, "that program linked dynamically"))
        ours, push, _, _ = ([run.peak for run in found] for found in runs.values())
        self.add(Row("peak-memory", "peak memory, one push", "MB", ours, push, PUSH, limit=7.5))
        self.peaks = {name: [run.peak for run in runs[name]] for name in words}
        self.faults = {name: [float(run.faults) for run in runs[name]] for name in words}
        for name, found in traces.items():
            # The time before the push arrives and after it ends: starting the program, and writing the answer.
            outside = [run.first_line - trace[-1]["us"] / 1000 for run, trace in zip(runs[name], found, strict=True)]
            self.phases[f"{name}, new process"] = {"starting": percentile(outside, UNDISTURBED), **phases(found)}

    def fifty_pushes(self, taken: Taken) -> None:
        peaks = []
        for _ in range(3):
            with self.measure.conversation(self.extension_words(taken.device)) as extension:
                for _ in range(50):
                    taken.check(extension.ask(taken.next()))
            peaks.append(extension.run.peak)
        self.add(Row("peak-memory-50", "peak memory, 50 pushes", "MB", peaks, limit=12.0))

    def reference_store(self, device: Device) -> Path:
        """A copy of the device's store, to which the references add their own table."""
        path = self.folder / "reference.db"
        device.empty_log()
        shutil.copy(device.store, path)
        subprocess.run([self.references / "cold", "--make", path], check=True)
        return path

    # (c): a push into a running process

    def warm_push(self, taken: Taken) -> None:
        """In turn: a push into a warm process, one into the warm reference, and commits in C."""
        store = self.folder / "reference.db"
        device = taken.device
        written = self.bytes_of_a_push(taken)
        words = {EXTENSION: self.extension_words(device), REFERENCE: self.reference_words(device)}
        words[DOZING] = [*self.extension_words(device), "--doze"]
        commits: dict[str, list[str | Path]] = {
            "commit": [store],
            "opened": ["--open", store],
            "sized": ["--bytes", str(written), store],
        }
        times: dict[str, list[float]] = {name: [] for name in (*words, *commits)}
        traces: dict[str, list[Any]] = {name: [] for name in words}
        with ExitStack() as stack:
            programs = {name: stack.enter_context(Answerer(line)) for name, line in words.items()}
            committers = {
                name: stack.enter_context(Committer([self.placed / "commit", *line]))
                for name, line in commits.items()
            }
            for number in range(WARM_UP + self.runs):
                for name in rotated(list(times), number):
                    if name in programs:
                        took, answer = programs[name].ask(taken.next())
                        trace = taken.check(answer)["trace"]
                        if number >= WARM_UP:
                            traces[name].append(trace)
                    else:
                        took = committers[name].commit()
                    if number >= WARM_UP:
                        times[name].append(took)
        push = f"{PUSH}, running already"
        ours = times[EXTENSION]
        self.add(Row("warm-push", "warm push, store opened and closed", "ms", ours, times[REFERENCE], push, 1.3))
        self.add(Row("dozing-push", "warm push into a store that dozes", "ms", times[DOZING], times[REFERENCE], push, 1.0))
        opened = "one durable commit of one row (C, WAL, synchronous=FULL), the store opened and closed, same disk"
        self.add(Row("warm-push-reopen", "  the same", "ms", ours, times["opened"], opened))
        self.add(Row("warm-push-commit", "  the same", "ms", ours, times["commit"], "such a commit into an open store"))
        inside = [between(trace, "decoding", "releasing") for trace in traces[EXTENSION]]
        reference = [between(trace, "decoding", "releasing") for trace in traces[REFERENCE]]
        self.add(Row("warm-push-open", "warm push, store open", "ms", inside, reference, f"the same part of {PUSH}"))
        sized = f"a durable commit of {written} bytes, which is what a push writes, into an open store"
        self.add(Row("warm-push-sized", "  the same", "ms", inside, times["sized"], sized))
        for name, found in traces.items():
            outside = [took - trace[-1]["us"] / 1000 for took, trace in zip(times[name], found, strict=True)]
            label = name if name == DOZING else f"{name}, running process"
            self.phases[label] = {"answering": percentile(outside, UNDISTURBED), **phases(found)}

    def in_memory(self, taken: Taken) -> None:
        """Both again, where syncs cost nothing: the cost without the disk, which a busy disk does not blur."""
        words = {EXTENSION: self.extension_words(taken.device), REFERENCE: self.reference_words(taken.device)}
        cold: dict[str, list[float]] = {name: [] for name in words}
        words[DOZING] = [*self.extension_words(taken.device), "--doze"]
        warm: dict[str, list[float]] = {name: [] for name in words}
        with ExitStack() as stack:
            programs = {name: stack.enter_context(Answerer(line)) for name, line in words.items()}
            for number in range(WARM_UP + self.runs):
                for name in rotated(list(words), number):
                    if name in cold:
                        run = self.measure.run(words[name], taken.next())
                        taken.check(run.output)
                    took, answer = programs[name].ask(taken.next())
                    taken.check(answer)
                    if number >= WARM_UP:
                        warm[name].append(took)
                        if name in cold:
                            cold[name].append(run.first_line)
        beside = "push.c, its files in memory as well"
        for key, what, times in (("cold", "cold push, files in memory", cold), ("warm", "warm push, the same", warm)):
            self.add(Row(f"{key}-push-memory", what, "ms", times[EXTENSION], times[REFERENCE], beside))
        what = "into a store that dozes, the same"
        self.add(Row("dozing-push-memory", what, "ms", warm[DOZING], warm[REFERENCE], beside, 1.0))

    def bytes_of_a_push(self, taken: Taken) -> int:
        """The length of the write-ahead log after one push, if it was empty before."""
        payload = taken.next()
        taken.device.empty_log()
        taken.check(self.measure.run(self.extension_words(taken.device), payload).output)
        return taken.device.log_size()

    def counts(self, taken: Taken) -> None:
        words = {EXTENSION: self.extension_words(taken.device), REFERENCE: self.reference_words(taken.device)}
        self.counted = counted(taken, CountedRun(self.folder), words)
        self.extra["counts"] = {name: asdict(found) for name, found in self.counted.items()}
        words = {EXTENSION: words[EXTENSION], DOZING: [*words[EXTENSION], "--doze"], REFERENCE: words[REFERENCE]}
        self.running = counted_running(taken, CountedRun(self.folder), words)
        self.extra["running"] = {name: asdict(found) for name, found in self.running.items()}
        print("  counts of one push", file=sys.stderr)

    def timed_push(self, extension: SyncController, payload: str) -> tuple[float, Any]:
        """The call's milliseconds, and its answer, which must present something."""
        began = time.perf_counter_ns()
        answer = extension.receive_push(payload)
        took = (time.perf_counter_ns() - began) / 1e6
        self.presented(json.dumps(answer))
        return took, answer

    # (h): growth with size

    def growth_curves(self) -> None:
        with (
            tempfile.TemporaryDirectory(prefix="bench-", dir=self.references) as folder,
            World(Path(folder), self.programs / "porter-server") as world,
        ):
            self.curves = Curves(world, self.placed / "porter-harness", self.runs, self.quick).run()
        self.extra["curves"] = {curve.key: curve.json() for curve in self.curves}

    # (i): the notification server with many tokens

    def notification_server(self) -> None:
        sizes = (1_000, 10_000) if self.quick else (1_000, 1_000_000)
        with tempfile.TemporaryDirectory(prefix="bench-", dir=self.references) as folder:
            self.server_rows = server.server(
                self.programs, self.references, Path(folder), 2 if self.quick else 12, sizes
            )

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

    # (j): many pushes with a transport that does not answer

    def hanging(self) -> None:
        harness, rounds = self.placed / "porter-harness", 1 if self.quick else 3
        for row in hanging_pushes(self.world, self.references / "measure", harness, self.folder, rounds):
            self.add(row)

    def run(self) -> None:
        with World(self.folder, self.programs / "porter-server") as self.world:
            taken = Taken(self.world.device("device"))
            self.first_pushes(taken)
            self.cold_start(taken)
            self.fifty_pushes(taken)
            self.warm_push(taken)
            self.counts(taken)
            taken.check_store()
            self.growth()
            self.hanging()
        if MEMORY.is_dir():
            with (
                tempfile.TemporaryDirectory(prefix="bench-", dir=MEMORY) as folder,
                World(Path(folder), self.programs / "porter-server") as world,
            ):
                taken = Taken(world.device("device"))
                self.first_pushes(taken)
                self.in_memory(taken)
                count, rounds = (48, 1) if self.quick else (1_000, 3)
                harness = self.placed / "porter-harness"
                for row in waiting_messages(world, self.measure, harness, count, rounds):
                    self.add(row)
        self.machine_step()
        self.json_parsers()

    # (g): the sealed store

    def sealed_store(self) -> None:
        rounds = 1 if self.quick else 9
        self.sealed_rows, shares = sealed.stores(self.references, self.folder, rounds)
        self.extra["sealedCipher"] = shares
        print("  the sealed store", file=sys.stderr)
        runs, size = (1, 10) if self.quick else (5, 60)
        self.sealed_rows += sealed.speedtest(self.references, self.folder, runs, size)
        print("  SQLite's speed test", file=sys.stderr)
        programs = {"system": self.placed / "porter-harness", "newer": self.placed / "harness-aegis"}
        with tempfile.TemporaryDirectory(prefix="bench-", dir=self.references) as folder:
            with World(Path(folder), self.programs / "porter-server") as world:
                self.sealed_rows += sealed_pushes(world, Path(folder), programs, self.runs)
        print("  pushes into sealed stores", file=sys.stderr)
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="folder of the static release build")
    parser.add_argument("--extension", type=Path, required=True, help="the harness that `make order` made")
    parser.add_argument("--references", type=Path, required=True, help="folder of the C programs")
    parser.add_argument("--output", type=Path, required=True, help="the JSON file")
    parser.add_argument("--plot", type=Path, required=True, help="the picture of where a push's time goes")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", choices=("budgets", "sealed", "curves", "server"), help="one of the four parts")
    parser.add_argument("--quick", action="store_true", help="few runs, small stores: to see that it works")
    options = parser.parse_args()
    if options.quick:
        options.runs = min(options.runs, 8)
    print("bench: measuring", file=sys.stderr)
    # Next to the build, and not in /tmp, where a commit to memory would cost nothing.
    with tempfile.TemporaryDirectory(prefix="bench-", dir=options.references) as folder:
        bench = Bench(options, Path(folder))
        if options.only in (None, "budgets"):
            bench.run()
        if options.only in (None, "sealed"):
            bench.sealed_store()
        if options.only in (None, "server"):
            bench.notification_server()
        if options.only in (None, "curves"):
            bench.growth_curves()
    if bench.rows:
        print(table(bench.rows))
    if bench.sealed_rows:
        print("\nThe sealed store; processor time, but for durable inserts, which wait for the disk:\n")
        print(table(bench.sealed_rows))
        print(sealed.shares_text(bench.extra["sealedCipher"]))
        print("\n" + sealed.latency_table(bench.extra["commitLatency"]))
    if bench.server_rows:
        print("\nThe notification server:\n")
        print(table(bench.server_rows))
    if bench.counted:
        print("\n" + counts_table(bench.counted, bench.faults, bench.peaks))
        print("\n" + running_table(bench.running))
        print("\n" + shares_table(bench.counted))
        print("\n" + plot.phases_table(bench.phases))
        bench.extra["phases"] = bench.phases
        options.plot.write_text(plot.picture(bench.phases), encoding="utf-8")
        print(f"\n{options.plot}")
    if bench.curves:
        print("\n" + curves_table(bench.curves))
        picture = options.plot.with_name("curves.svg")
        picture.write_text(curves_picture(bench.curves), encoding="utf-8")
        print(f"\n{picture}")
    load = os.getloadavg()[1]
    cpus = os.cpu_count()
    bench.extra["machine"] = {"cpus": cpus, "load": load, "kernel": platform.release(), "machine": platform.machine()}
    print(f"\nThe machine has {cpus} processors; its load over five minutes was {load:.1f}.")
    bench.extra["server"] = [row.json() for row in bench.server_rows]
    bench.extra["sealedStore"] = [row.json() for row in bench.sealed_rows]
    options.output.write_text(report(bench.rows, bench.extra), encoding="utf-8")
    print(f"\n{options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
