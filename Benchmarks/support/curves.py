"""How the cost of one message grows with the amount of data: each figure at several sizes, and the exponent that fits them.

An exponent of 0 is flat, 1 is proportional. Sizes are reached by copying rows in SQL. A push is counted in instructions, which do not
depend on the machine's other load. Work of several threads or processes is measured by its processor time, and the
lowest tenth counts.
"""

from __future__ import annotations

import ctypes
import json
import math
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from nightporter import SyncController

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


# MARK: What there is


def copy_rows(store: sqlite3.Connection, table: str, count: int, template: str, replaced: dict[str, str]) -> None:
    """Adds `count` copies of the row that `template` selects; `replaced` has SQL for some columns, where n is the copy's number."""
    schema, _, bare = table.rpartition(".")
    columns = [row[1] for row in store.execute(f"PRAGMA {schema or 'main'}.table_info({bare})")]
    values = ", ".join(replaced.get(column, f"template.{column}") for column in columns)
    store.execute(
        f"""
        INSERT INTO {table} ({", ".join(columns)})
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
        SELECT {values} FROM number, (SELECT * FROM {table} WHERE {template} LIMIT 1) AS template
        """,
        (count,),
    )


def count(store: sqlite3.Connection, table: str) -> int:
    found: int = store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return found


def fill(path: Path, table: str, size: int, change: Callable[[sqlite3.Connection, int], None]) -> None:
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as store, store:
        store.execute("PRAGMA synchronous=OFF")
        if (missing := size - count(store, table)) > 0:
            change(store, missing)


def add_contacts(store: sqlite3.Connection, missing: int) -> None:
    (contact,) = store.execute("SELECT max(contact_id) FROM contacts").fetchone()
    copy_rows(
        store,
        "contacts",
        missing,
        "contact_id = 1",
        {"contact_id": f"{contact} + n", "local_name": f"'copy ' || ({contact} + n)"},
    )
    made = {"connection_id": "NULL", "contact_id": f"{contact} + n", "epoch": "0", "owner": "NULL", "unread": "0"}
    made |= {name: "randomblob(24)" for name in ("agent_id", "recipient_id", "sender_id", "peer_sender_id")}
    made |= {name: "NULL" for name in ("notifier_id", "notifier_key", "notifier_box_key", "notifier_secret")}
    copy_rows(store, "connections", missing, "connection_id = 1", made | {"subscription": "'off'"})


def make_mailboxes(store: sqlite3.Connection, relay: Path) -> None:
    """Gives copied connections mailboxes that the relay knows, each with its own key, as the relay requires."""
    sodium = ctypes.CDLL("libsodium.so.23")
    (public, secret) = (ctypes.create_string_buffer(32), ctypes.create_string_buffer(64))
    with closing(sqlite3.connect(relay, timeout=PATIENCE)) as file, file:
        known = {recipient for (recipient,) in file.execute("SELECT recipient FROM mailbox")}
        for number, recipient in store.execute("SELECT connection_id, recipient_id FROM connections").fetchall():
            if recipient in known:
                continue
            sodium.crypto_sign_keypair(public, secret)
            mailbox = (recipient, public.raw, secrets.token_bytes(24))
            file.execute("INSERT INTO mailbox (recipient, recipient_key, sender, created_at) VALUES (?, ?, ?, 0)", mailbox)
            store.execute("UPDATE connections SET recipient_key = ? WHERE connection_id = ?", (secret.raw, number))


def add_ledger(store: sqlite3.Connection, missing: int) -> None:
    made = {"entry_id": "NULL", "message_id": "randomblob(24)", "state": "'read'", "item_id": "NULL"}
    copy_rows(store, "ledger", missing, "state IN ('presented', 'read')", made)


def add_outbox(store: sqlite3.Connection, missing: int) -> None:
    store.execute(
        """
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
        INSERT INTO outbox (connection_id, purpose, signed, notify, body, deduplication)
        SELECT 1, 'message', 1, 0, randomblob(500), randomblob(24) FROM number
        """,
        (missing,),
    )


def add_skipped_keys(store: sqlite3.Connection, missing: int) -> None:
    (newest,) = store.execute("SELECT coalesce(max(sequence), -1) FROM skipped_keys").fetchone()
    store.execute(
        """
        WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
        INSERT INTO skipped_keys (connection_id, sequence, stored) SELECT 1, ? + n, randomblob(68) FROM number
        """,
        (missing, newest),
    )


def add_profiles(store: sqlite3.Connection, missing: int) -> None:
    (user,) = store.execute("SELECT max(user_id) FROM users").fetchone()
    made = {"user_id": f"{user} + n", "display_name": f"'copy ' || ({user} + n)", "active": "0", "unread": "0"}
    copy_rows(store, "users", missing, "user_id = 1", made)


def add_log(path: Path, pages: int) -> None:
    """Adds a log as a killed process leaves it: this many pages, none of them written back."""
    program = """
import os, sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute("PRAGMA wal_autocheckpoint=0")
store.execute("PRAGMA synchronous=OFF")
for _ in range(int(sys.argv[2])):
    # Not what is there already: SQLite writes no page that stays as it is.
    store.execute("UPDATE users SET full_name = CASE full_name WHEN 'a' THEN 'b' ELSE 'a' END")
    store.commit()
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", program, path, str(pages)], check=True)


def add_tokens(store: sqlite3.Connection, missing: int) -> None:
    made = {"number": "NULL", "id": "randomblob(24)", "push_token": "randomblob(32)", "signing_key": "randomblob(32)"}
    # With another provider, so none of them gets pushes.
    copy_rows(store, "token", missing, "state = 'active'", made | {"provider": "'apns_dev'", "period": "60"})
    store.execute("UPDATE token SET wake_series = number + 1000000000 WHERE provider = 'apns_dev' AND wake_series = 0")
    store.execute(
        """
        INSERT OR IGNORE INTO wake (due_at, token, series, woken_at)
        SELECT unixepoch() * 1000 + 3600000, number, wake_series, unixepoch() * 1000 FROM token WHERE provider = 'apns_dev'
        """
    )


def add_subscriptions(store: sqlite3.Connection, missing: int) -> None:
    copy_rows(store, "subscription", missing, "true", {"number": "NULL", "notifier": "randomblob(24)"})


# MARK: What it costs


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
