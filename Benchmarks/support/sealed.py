"""The sealed store beside plain SQLite and SQLCipher, and concurrent commits of two processes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from support.figures import Row, percentile

STORES = ("plain", "sealed", "sqlcipher")

# Name of the worker, key, and text for a reader. A rate is shown as microseconds each.
FIGURES = {
    "durable inserts": ("commit", "durable insert"),
    "point reads, in the cache": ("read-cached", "point read from the cache"),
    "point reads, beyond it": ("read", "point read beyond the cache"),
    "range scan, beyond it": ("scan", "row of a scan larger than the cache"),
    "bulk load": ("load", "row of a bulk load"),
    "open, read a row, close": ("open", "open, read a row, close"),
}
# At least 0.8 times as fast as plain SQLite, at least twice as fast as SQLCipher.
CACHED = {"commit", "read-cached"}
PLAIN_BUDGET = 1 / 0.8
SQLCIPHER_BUDGET = 1 / 2


def stores(references: Path, folder: Path, rounds: int) -> tuple[list[Row], dict[str, float]]:
    """All figures of all stores, and the cost of the cipher."""
    found: dict[str, dict[str, list[float]]] = {store: {} for store in STORES}
    for number in range(rounds):
        turn = number % len(STORES)
        for store in STORES[turn:] + STORES[:turn]:
            worker = references / ("worker-sqlcipher" if store == "sqlcipher" else "worker-sqlite")
            output = subprocess.run([worker, store, folder], capture_output=True, text=True, check=True).stdout
            for line in output.splitlines():
                name, value, _ = line.split("\t")
                found[store].setdefault(name, []).append(float(value))
    rows = []
    for name, (key, what) in FIGURES.items():
        times = {store: [1e6 / rate for rate in found[store][name]] for store in STORES}
        budget = PLAIN_BUDGET if key in CACHED else None
        rows.append(Row(f"sealed-{key}", what, "µs", times["sealed"], times["plain"], "plain SQLite", budget))
        other = times["sqlcipher"]
        rows.append(Row(f"sealed-{key}-2", "  the same", "µs", times["sealed"], other, "SQLCipher", SQLCIPHER_BUDGET))
    shares = {name[2:]: percentile(values, 0.5) for name, values in found["sealed"].items() if name.startswith("# ")}
    return rows, shares


def latency(program: Path, folder: Path, seconds: float, rounds: int) -> dict[str, dict[str, float]]:
    """Commits of an extension while an app commits without a pause, with each way of waiting, in turn; milliseconds."""
    samples: dict[str, list[float]] = {"ours": [], "sqlite": []}
    commits = dict.fromkeys(samples, 0)
    for number in range(rounds):
        for way in list(samples)[:: 1 if number % 2 == 0 else -1]:
            path = folder / f"latency-{way}-{number}.db"
            words = [way, path, str(seconds)]
            # The file is created before the two processes open it.
            subprocess.run([program, "app", way, path, "0"], capture_output=True, check=True)
            with subprocess.Popen([program, "app", *words], stdout=subprocess.PIPE, text=True) as app:
                mine = subprocess.run([program, "extension", *words], capture_output=True, text=True, check=True)
                assert app.stdout is not None
                commits[way] += int(app.stdout.read())
            samples[way] += [float(line) for line in mine.stdout.splitlines()]
    return {
        way: {
            "p50": percentile(times, 0.5),
            "p99": percentile(times, 0.99),
            "max": max(times),
            "commits": len(times),
            "appCommits": commits[way],
        }
        for way, times in samples.items()
    }


def latency_table(found: dict[str, dict[str, float]], goal: float = 5.0) -> str:
    lines = ["An extension's durable commit while an app commits without a pause, milliseconds:"]
    names = {"ours": "the store's waiting", "sqlite": "SQLite's busy handler"}
    for way, figures in found.items():
        lines.append(
            f"  {names[way]:22}  p50 {figures['p50']:7.2f}  p99 {figures['p99']:7.2f}  max {figures['max']:7.2f}"
            f"   of {figures['commits']:.0f}; the app's {figures['appCommits']:.0f}"
        )
    p99 = found["ours"]["p99"]
    verdict = "kept" if p99 <= goal else f"missed by {(p99 / goal - 1) * 100:.0f} %"
    lines.append(f"  goal: p99 of the store's at most {goal:g} ms; {verdict}")
    return "\n".join(lines)


def shares_text(shares: dict[str, Any]) -> str:
    return "\n".join(f"  {name}: {value:.3g}" for name, value in shares.items())
