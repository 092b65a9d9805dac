"""The notification server with many tokens: how fast it pushes, how long a message waits for its push, and how long the loop
blocks.

Each size is measured in turn with the smallest one. Pushes go to a provider that accepts all of them (`server/provider.c`); a
backlog is created in SQL, and one datagram wakes the server. Delays are measured for messages that come at half the rate of the
backlogs, from the commit that accepts them.
"""

from __future__ import annotations

import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from .contents import copy_rows
from .figures import Row, percentile
from .world import PATIENCE, World

# Pushes of one measurement.
BACKLOG = 1_000
KINDS = {"wake": "wake-ups", "message": "messages"}
SETTLE = 0.2
RATE_BUDGET, GROWTH_BUDGET, TURN_BUDGET = 5_000, 1.2, 50.0
# For the median delay and the 99th percentile, in milliseconds.
DELAY_BUDGETS = {50: 5.0, 99: 50.0}
# The interval, in seconds, over which messages at half the rate are accepted together.
TICK = 0.004
PACED = 4_000


@dataclass
class Measured:
    rate: float  # pushes per second
    processor: float  # microseconds per push
    longest: float  # turn of the loop, in milliseconds
    busiest: float  # turn, in milliseconds of the loop's processor time
    turns: int


class Program:
    """A program that answers line by line."""

    def __init__(self, words: list[str | Path], ready: str, folder: Path) -> None:
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder)
        if (line := self._output.readline().strip()) != ready:
            raise RuntimeError(f"{words[0]} did not start: {line}")

    @property
    def _output(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def ask(self, line: str = "") -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self) -> list[int]:
        return [int(word) for word in self._output.readline().split()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)


class ServerFiles:
    """State and relay of one server with this many tokens, each with `each` subscriptions known to the relay."""

    def __init__(self, template: Path, folder: Path, tokens: int, subscriptions: int = 1) -> None:
        folder.mkdir()
        self.folder, self.tokens, self.each = folder, tokens, subscriptions
        self.state, self.relay = folder / "server.db", folder / "relay.db"
        for name in ("server.db", "relay.db"):
            shutil.copy(template / name, folder / name)
        with closing(sqlite3.connect(self.state)) as store, store:
            store.execute("ATTACH ? AS relay", (str(self.relay),))
            for schema in ("main", "relay"):
                store.execute(f"PRAGMA {schema}.synchronous=OFF")
                store.execute(f"PRAGMA {schema}.cache_size=-{500_000 if subscriptions == 1 else 2_000_000}")
            self._fill(store, tokens)

    def _fill(self, store: sqlite3.Connection, tokens: int) -> None:
        (notifier,) = store.execute("SELECT notifier FROM subscription").fetchone()
        (mailbox,) = store.execute("SELECT mailbox FROM relay.notifier WHERE identifier = ?", (notifier,)).fetchone()
        store.execute("UPDATE token SET number = 1, period = 1440, wake_series = 1")
        store.execute("UPDATE subscription SET number = 1, token = 1")
        store.execute("DELETE FROM push")
        store.execute("DELETE FROM relay.message")
        store.execute("DELETE FROM relay.mailbox WHERE number <> ?1 AND recipient <> (SELECT recipient FROM identity)", (mailbox,))
        store.execute("UPDATE relay.mailbox SET number = 1000000000 WHERE recipient = (SELECT recipient FROM identity)")
        store.execute("UPDATE relay.mailbox SET number = 1 WHERE number = ?", (mailbox,))
        store.execute("UPDATE relay.notifier SET mailbox = 1 WHERE mailbox = ?", (mailbox,))
        copies, watched = tokens - 1, tokens * self.each - 1
        # The server requests none of these.
        different = "randomblob(32)" if self.each == 1 else "CAST(printf('%032d', n) AS BLOB)"
        names = {name: different for name in ("recipient", "recipient_key", "sender")}
        copy_rows(store, "relay.mailbox", watched, "number = 1", {"number": "n + 1"} | names)
        copy_rows(store, "relay.notifier", watched, "mailbox = 1", {"mailbox": "n + 1", "identifier": "randomblob(24)"})
        made = {"id": "randomblob(24)", "push_token": "randomblob(32)", "signing_key": "randomblob(32)", "wake_series": "n + 1"}
        copy_rows(store, "token", copies, "number = 1", {"number": "n + 1"} | made)
        made = {"number": "n + 1", "token": f"n / {self.each} + 1"}
        made["notifier"] = "(SELECT identifier FROM relay.notifier WHERE mailbox = n + 1)"
        copy_rows(store, "subscription", watched, "number = 1", made)
        store.execute("DELETE FROM wake")
        store.execute("UPDATE wake_series SET last = ?", (tokens,))
        store.execute(
            """
            INSERT INTO wake (due_at, token, series, woken_at)
            SELECT unixepoch() * 1000 + 86400000, number, wake_series, unixepoch() * 1000 FROM token
            """
        )

    def make_due(self, kind: str, number: int) -> None:
        """Makes a push of this kind due for each of `BACKLOG` tokens, spread over all tokens."""
        step = max(1, self.tokens // BACKLOG)
        chosen = f"SELECT number * {step} + {number % step} + 1 AS token FROM numbers"
        numbers = f"WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < {BACKLOG - 1})"
        with closing(sqlite3.connect(self.relay if kind == "message" else self.state, timeout=PATIENCE)) as store, store:
            if kind == "wake":
                store.execute(
                    f"{numbers} UPDATE wake SET due_at = 1 WHERE token IN (SELECT token FROM ({chosen}))"
                )
                return
            (last,) = store.execute("SELECT coalesce(max(number), 0) FROM message").fetchone()
            store.execute(
                f"""{numbers} INSERT INTO message (number, mailbox, identifier, attempt, sent_at, notify, body, stored_at)
                SELECT ? + token, (token - 1) * {self.each} + 1, randomblob(24), randomblob(24), 0, 1, x'00', 1 << 60 FROM ({chosen})""",
                (last,),
            )
            store.execute(
                """INSERT INTO notification (message, mailbox, sent_at, nonce, metadata, service)
                SELECT number, mailbox, unixepoch() * 1000, randomblob(24), randomblob(144), service
                FROM message JOIN notifier USING (mailbox) WHERE number > ?""",
                (last,),
            )


    def mailboxes(self, number: int) -> dict[int, str]:
        """At most `PACED` mailboxes, with the first digits of their devices' tokens."""
        step = max(1, self.tokens // PACED)
        with closing(sqlite3.connect(self.state, timeout=PATIENCE)) as store:
            rows = store.execute(
                "SELECT number, lower(hex(substr(push_token, 1, 8))) FROM token WHERE number % ? = ? LIMIT ?",
                (step, (number + 1) % step, PACED),
            )
            return dict(rows.fetchall())


class Arrivals:
    """Messages that arrive one after the other."""

    def __init__(self, relay: Path) -> None:
        self._store = sqlite3.connect(relay, timeout=PATIENCE, isolation_level=None)
        self._store.execute("PRAGMA synchronous=FULL")
        (self._last,) = self._store.execute("SELECT coalesce(max(number), 0) FROM message").fetchone()

    def accept(self, mailboxes: list[int]) -> int:
        """Accepts a message for each mailbox; returns the time in nanoseconds of the monotonic clock."""
        numbers = range(self._last + 1, self._last + 1 + len(mailboxes))
        self._last += len(mailboxes)
        self._store.execute("BEGIN IMMEDIATE")
        self._store.executemany(
            """INSERT INTO message (number, mailbox, identifier, attempt, sent_at, notify, body, stored_at)
            VALUES (?, ?, randomblob(24), randomblob(24), 0, 1, x'00', 1 << 60)""",
            list(zip(numbers, mailboxes, strict=True)),
        )
        self._store.executemany(
            """INSERT INTO notification (message, mailbox, sent_at, nonce, metadata, service)
            VALUES (?1, ?2, unixepoch() * 1000, randomblob(24), randomblob(144), (SELECT service FROM notifier WHERE mailbox = ?2))""",
            list(zip(numbers, mailboxes, strict=True)),
        )
        self._store.execute("COMMIT")
        return time.monotonic_ns()

    def close(self) -> None:
        self._store.close()


class Server:
    def __init__(self, programs: Path, references: Path, files: ServerFiles) -> None:
        self.files = files
        self.socket = files.folder / "push.socket"
        self.socket.unlink(missing_ok=True)
        # A socket's path must be short; the folder's may be long.
        self.provider = Program([references.resolve() / "provider", "push.socket", "times"], "listening", files.folder)
        words = [programs.resolve() / "bench-server", "relay.db", "server.db", "push.socket"]
        self.server = Program(words, "serving", files.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.server.__exit__(*error)
        self.provider.__exit__(*error)

    def question(self) -> list[int]:
        """The number of turns, the longest, the longest by processor time, and the total processor time."""
        self.server.ask()
        return self.server.answer()

    def wake(self) -> None:
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as sender:
            for path in self.files.folder.glob("relay.db.wake/*"):
                sender.sendto(b"\0", str(path.resolve()))

    def start(self) -> tuple[float, float]:
        """Waits until each subscription has been checked with the relay, as after every start. Returns the milliseconds of the
        longest turn, and of the longest by processor time.
        """
        (longest, busiest) = (0, 0)
        for _ in range(10_000):
            time.sleep(SETTLE)
            (turns, turn, work, _) = self.question()
            (longest, busiest) = (max(longest, turn), max(busiest, work))
            if turns <= 1:
                return (longest / 1e6, busiest / 1e6)
        raise RuntimeError("the server does not come to rest")

    def pushes(self, kind: str, number: int) -> Measured:
        self.files.make_due(kind, number)
        self.provider.ask(str(BACKLOG))
        (*_, before) = self.question()
        self.wake()
        (took, different) = self.provider.answer()
        self.finish()
        (turns, longest, busiest, after) = self.question()
        if different != BACKLOG:
            raise RuntimeError(f"{different} of {BACKLOG} tokens got a push")
        return Measured((BACKLOG - 1) / took * 1e9, (after - before) / 1e3 / BACKLOG, longest / 1e6, busiest / 1e6, turns)

    def delays(self, rate: float, number: int) -> list[float]:
        """The milliseconds from the acceptance of each message to its push at the provider, at `rate` messages per second."""
        tokens = self.files.mailboxes(number)
        (self.files.folder / "times").write_text("")
        accepted: dict[str, int] = {}
        left = list(tokens)
        self.provider.ask(str(len(left)))
        with closing(Arrivals(self.files.relay)) as arrivals:
            begin = time.monotonic()
            while left:
                due = min(len(left), int((time.monotonic() - begin) * rate) - len(accepted))
                if due > 0:
                    (some, left) = (left[:due], left[due:])
                    moment = arrivals.accept(some)
                    self.wake()
                    accepted |= {tokens[mailbox]: moment for mailbox in some}
                time.sleep(TICK)
        self.provider.answer()
        self.finish()
        came = (line.split() for line in (self.files.folder / "times").read_text().splitlines())
        return [(int(moment) - accepted[token]) / 1e6 for token, moment in came if token in accepted]

    def finish(self) -> None:
        """Waits until all outcomes are recorded."""
        with closing(sqlite3.connect(self.files.state, timeout=PATIENCE)) as store:
            while store.execute("SELECT count(*) FROM push").fetchone()[0] > 0:
                time.sleep(0.01)


def server(programs: Path, references: Path, folder: Path, runs: int, sizes: tuple[int, int]) -> list[Row]:
    """Measures each backlog with few tokens and with many, in turn."""
    template = folder / "template"
    template.mkdir()
    with World(template, programs / "porter-server") as world:
        world.device("device")
    starts: dict[int, tuple[float, float]] = {}
    found: dict[tuple[str, int], list[Measured]] = {(kind, size): [] for kind in KINDS for size in sizes}
    with ExitStack() as stack:
        servers: dict[int, Server] = {}
        for size in sizes:
            files = ServerFiles(template, folder / f"tokens{size}", size)
            servers[size] = stack.enter_context(Server(programs, references, files))
            starts[size] = servers[size].start()
            print(f"  the server with {size:,} tokens", file=sys.stderr)
        for number in range(runs):
            for kind in KINDS:
                for size in sizes if number % 2 == 0 else reversed(sizes):
                    found[kind, size].append(servers[size].pushes(kind, number))
        many = max(sizes)
        half = percentile([measured.rate for measured in found["message", many]], 0.5) / 2
        delays = [servers[many].delays(half, number) for number in range(max(2, runs // 4))]
    return rows(sizes, starts, found) + delay_rows(many, half, delays)


def delay_rows(tokens: int, rate: float, delays: list[list[float]]) -> list[Row]:
    result = []
    for share, budget in DELAY_BUDGETS.items():
        text = f"from acceptance to the provider, {rate:,.0f} messages a second, {tokens:,} tokens: {share} %"
        found = [percentile(some, share / 100) for some in delays]
        result.append(Row(f"server-delay-{share}", text, "ms", found, limit=budget))
    return result


def rows(sizes: tuple[int, int], starts: dict[int, tuple[float, float]], found: dict[tuple[str, int], list[Measured]]) -> list[Row]:
    (few, many) = sizes
    result = []
    for kind, what in KINDS.items():
        for size in sizes:
            times = [1e6 / measured.rate for measured in found[kind, size]]
            text = f"a push of {BACKLOG:,} due, {size:,} tokens: {what}"
            result.append(Row(f"server-{kind}-{size}", text, "µs", times, limit=1e6 / RATE_BUDGET))
        processor = [[measured.processor for measured in found[kind, size]] for size in (many, few)]
        beside = f"with {few:,} tokens"
        key, text = f"server-{kind}-growth", f"  processor time of one, {many:,} tokens"
        result.append(Row(key, text, "µs", *processor, beside, GROWTH_BUDGET))
    all_found = [measured for kind in KINDS for measured in found[kind, many]]
    text = f"longest turn of {BACKLOG:,} pushes, {many:,} tokens"
    result.append(Row("server-turn", text, "ms", [measured.longest for measured in all_found], limit=TURN_BUDGET))
    result.append(Row("server-turn-work", "  by its processor time", "ms", [measured.busiest for measured in all_found]))
    text = f"longest turn while {many:,} subscriptions are checked"
    result.append(Row("server-start", text, "ms", [starts[many][0]], limit=TURN_BUDGET))
    result.append(Row("server-start-work", "  by its processor time", "ms", [starts[many][1]]))
    return result
