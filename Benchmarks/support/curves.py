"""How the cost of one message grows with the amount of data: each figure at several sizes, and the exponent that fits them.

An exponent of 0 is flat, 1 is proportional. Sizes are reached by copying rows in SQL. A push is counted in instructions, which do not
depend on the machine's other load. Work of several threads or processes is measured by its processor time, and the
lowest tenth counts.
"""

from __future__ import annotations

import json
import math
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from nightporter import SyncController

from .contents import (
    add_contacts,
    add_ledger,
    add_log,
    add_outbox,
    add_profiles,
    add_skipped_keys,
    add_subscriptions,
    add_tokens,
    fill,
    make_mailboxes,
)
from .counts import CountedRun
from .figures import percentile
from .world import PATIENCE, Device, World

UNDISTURBED = 0.1
SETTLE = 0.02
INSTRUCTIONS, MILLISECONDS = "M instructions", "ms of processor time"
WAKE = '{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}'


@dataclass
class Curve:
    key: str
    what: str
    of: str
    unit: str
    points: list[tuple[int, float]] = field(default_factory=list)

    @property
    def exponent(self) -> float:
        """The slope of the straight line through the logarithms, by least squares."""
        logs = [(math.log(size), math.log(value)) for size, value in self.points]
        (mean_x, mean_y) = (sum(column) / len(logs) for column in zip(*logs, strict=True))
        spread = sum((x - mean_x) ** 2 for x, _ in logs)
        return sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread if spread else 0.0

    @property
    def ratio(self) -> float:
        return self.points[-1][1] / self.points[0][1]

    def json(self) -> dict[str, Any]:
        return {"what": self.what, "of": self.of, "unit": self.unit, "points": self.points, "exponent": self.exponent, "ratio": self.ratio}


class Curves:
    def __init__(self, world: World, extension: Path, runs: int, quick: bool) -> None:
        self.world = world
        self.extension = extension
        self.counting = CountedRun(world.folder)
        self.runs = max(4, runs // 4)
        self.most = 1_000 if quick else 1_000_000
        self.curves: list[Curve] = []

    def sizes(self, most: int) -> list[int]:
        most = min(self.most, most)
        return [size for size in (1, 10, 100, 1_000, 10_000, 100_000) if size < most] + [most]

    def curve(
        self, key: str, what: str, of: str, sizes: list[int], measure: Callable[[int], float], unit: str = INSTRUCTIONS
    ) -> None:
        curve = Curve(key, what, of, unit, [(size, measure(size)) for size in sizes])
        self.curves.append(curve)
        print(f"  growth with {curve.what}: exponent {curve.exponent:.2f}", file=sys.stderr)

    def least(self, measure: Callable[[], float]) -> float:
        measure()
        return percentile([measure() for _ in range(self.runs)], UNDISTURBED)

    # A push into a new process

    def words(self, device: Device) -> list[str | Path]:
        return [self.extension, "extension", "--store", device.prefix]

    def presented(self, answer: str) -> None:
        found = json.loads(answer)
        if found["outcome"] != "presented":
            raise RuntimeError(f"a push ended as {found['outcome']}: {found['reason']}")

    def push(self, device: Device, prepare: Callable[[], None] = lambda: None) -> float:
        """Millions of instructions of the process. An earlier push picks up the changes to the store."""
        words = self.words(device)
        self.presented(self.counting.plain(words, device.push("hello")))
        payload = device.push("hello")
        time.sleep(SETTLE)
        prepare()
        profile, answer = self.counting.profile([self.counting.program(self.extension), *words[1:]], payload)
        self.presented(answer)
        return profile.instructions / 1e6

    def pushes(
        self, key: str, table: str, what: str, most: int, change: Callable[[sqlite3.Connection, int], None]
    ) -> None:
        device = self.world.device(f"curve-{key}")
        self.push(device)

        def measure(size: int) -> float:
            device.empty_log()
            fill(device.store, table, size, change)
            # Refills what one push has sent, for the next.
            again = (lambda: fill(device.store, table, size, change)) if table == "outbox" else (lambda: None)
            return self.push(device, again)

        of = "a push, with what it sends afterwards" if table == "outbox" else "a push"
        self.curve(key, what, of, self.sizes(most), measure)

    def messages(self) -> None:
        device = self.world.device("curve-messages")
        self.push(device)

        def measure(size: int) -> float:
            device.empty_log()
            device.fill(size)
            return self.push(device)

        self.curve("messages", "messages", "a push", self.sizes(1_000_000)[1:], measure)

    def log(self) -> None:
        device = self.world.device("curve-log")
        self.push(device)

        def measure(size: int) -> float:
            device.empty_log()
            return self.push(device, lambda: add_log(device.store, size))

        self.curve("log", "pages of log that a killed process left", "a push", self.sizes(1_000), measure)

    # An app at work

    def app(self) -> None:
        """Processor time for one message of this process, which contains a contact and the app with these contacts."""
        device = self.world.device("curve-app")

        def measure(size: int) -> float:
            fill(device.store, "contacts", size, add_contacts)
            with closing(sqlite3.connect(device.store)) as store, store:
                make_mailboxes(store, self.world.relay)
            with SyncController(device.prefix) as app:
                app.send("/_start")
                self.settle(app)
                value = self.least(lambda: self.receive(device, app))
                app.suspend()
            return value

        self.curve("app", "contacts, an app at work", "a message, sent and received", self.sizes(10_000), measure, MILLISECONDS)

    def settle(self, app: SyncController) -> None:
        end = time.monotonic() + 10 * PATIENCE
        while time.monotonic() < end:
            operations = app.state()["operations"]
            if not any(operations[kind] for kind in ("notifications", "receiving", "delivery", "sending")):
                return
            time.sleep(SETTLE)
        raise RuntimeError("the app does not come to rest")

    def receive(self, device: Device, app: SyncController) -> float:
        for _ in app.events(timeout=0.01):
            pass
        message = [{"msgContent": {"type": "text", "text": "hello"}, "mentions": {}}]
        began = time.process_time_ns()
        self.world.sender.send(f"/_send @{device.contact} json {json.dumps(message)}")
        for event in app.events(timeout=PATIENCE):
            if event["type"] == "newChatItems":
                time.sleep(SETTLE)
                return (time.process_time_ns() - began) / 1e6
        raise RuntimeError("no message came")

    def wake(self) -> None:
        """A wake push to a device with these contacts, none of which has a message waiting."""
        device = self.world.device("curve-wake")
        words = self.words(device)

        def measure(size: int) -> float:
            device.empty_log()
            fill(device.store, "contacts", size, add_contacts)
            with closing(sqlite3.connect(device.store)) as store, store:
                make_mailboxes(store, self.world.relay)
            self.counting.plain(words, WAKE)
            profile, answer = self.counting.profile([self.counting.program(self.extension), *words[1:]], WAKE)
            found = json.loads(answer)
            if found["outcome"] != "nothingNew":
                raise RuntimeError(f"a wake push ended as {found['outcome']}: {found['reason']}")
            return profile.instructions / 1e6

        # One request for each 256; the previous push has shared a key with the relay for each contact.
        self.curve("wake", "contacts, a wake push", "a wake push", self.sizes(10_000), measure)

    # The notification server

    def server(
        self, key: str, table: str, what: str, change: Callable[[sqlite3.Connection, int], None]
    ) -> None:
        """The server's processor time for one message, from the relay's notification to the push's end."""
        device = self.world.device(f"curve-{key}")
        state = self.world.folder / "server.db"

        def once() -> float:
            began = self.server_time()
            device.push("hello")
            time.sleep(SETTLE)
            return self.server_time() - began

        def measure(size: int) -> float:
            fill(state, table, size, change)
            return self.least(once)

        self.curve(key, what, "the server's part of a message", self.sizes(1_000_000)[1:], measure, MILLISECONDS)

    def server_time(self) -> float:
        """The server's processor time so far, in milliseconds."""
        tasks = Path(f"/proc/{self.world.server.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks) / 1e6

    def run(self) -> list[Curve]:
        self.pushes("contacts", "contacts", "contacts", 100_000, add_contacts)
        self.app()
        self.wake()
        self.messages()
        self.pushes("ledger", "ledger", "entries of the ledger", 100_000, add_ledger)
        self.pushes("outbox", "outbox", "messages in the outbox", 1_000, add_outbox)
        self.pushes("skipped-keys", "skipped_keys", "keys of skipped messages", 2_000, add_skipped_keys)
        self.pushes("profiles", "users", "profiles", 1_000, add_profiles)
        self.log()
        self.server("tokens", "token", "tokens at the server", add_tokens)
        self.server("subscriptions", "subscription", "subscriptions at the server", add_subscriptions)
        return self.curves


# MARK: The report


def curves_table(curves: list[Curve]) -> str:
    lines = [("what one message costs, by the number of", "from", "to", "at first", "at last", "", "ratio", "exponent")]
    for curve in curves:
        (first, last) = (curve.points[0], curve.points[-1])
        lines.append(
            (
                f"{curve.what} ({curve.of})",
                *(f"{first[0]:,}", f"{last[0]:,}", f"{first[1]:.2f}", f"{last[1]:.2f}", curve.unit),
                *(f"{curve.ratio:.2f}", f"{curve.exponent:+.2f}"),
            )
        )
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


COLORS = ("#5b8def", "#e07a5f", "#7fb069", "#8e7cc3", "#c9b458", "#4f9d9d", "#b5485d", "#6d6875", "#f2a65a", "#9aa5b1", "#222222")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 460, 60, 330, 40, 50


def curves_picture(curves: list[Curve]) -> str:
    """Each curve begins at 1, the cost at its smallest size. Both axes are logarithmic, so a straight line is a power; a
    level one is flat.
    """
    values = [value / curve.points[0][1] for curve in curves for _, value in curve.points]
    (low, high) = (math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))))
    longest = max(math.log10(size) for curve in curves for size, _ in curve.points)

    def x(size: float) -> float:
        return LEFT + math.log10(size) / longest * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    rows = []
    for power in range(low, high + 1):
        height = y(10**power)
        rows.append(f'<line x1="{LEFT}" y1="{height:.1f}" x2="{WIDTH - RIGHT}" y2="{height:.1f}" stroke="#ddd"/>')
        rows.append(f'<text x="{LEFT - 8}" y="{height + 4:.1f}" text-anchor="end">{10**power:g} ×</text>')
    for power in range(int(longest) + 1):
        rows.append(f'<text x="{x(10**power):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{10**power:,}</text>')
    for place, curve in enumerate(curves):
        color = COLORS[place % len(COLORS)]
        line = " ".join(f"{x(size):.1f},{y(value / curve.points[0][1]):.1f}" for size, value in curve.points)
        rows.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        top = TOP + place * 22
        rows.append(f'<rect x="{WIDTH - RIGHT + 20}" y="{top - 10}" width="14" height="4" fill="{color}"/>')
        text = f"{curve.what}: {curve.exponent:+.2f}"
        rows.append(f'<text x="{WIDTH - RIGHT + 42}" y="{top - 3}">{escape(text)}</text>')
    body = "\n  ".join(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">\n'
        f'  <rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        "  <title>What one message costs, by what there is; with exponents</title>\n"
        f'  <text x="{LEFT}" y="20">What one message costs, as a multiple of the least, by the number of …, and the exponent</text>\n  {body}\n</svg>\n'
    )
