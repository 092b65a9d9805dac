"""Measures porter-relay against its own back end and against plain SQLite, in one run: `make bench-relay`.

Every message has 1,000 bytes and is durable when answered. Rows are measured in turn, three times; the best of each counts.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests/peers"))
from tests import protocol, support  # noqa: E402

COUNT = int(os.environ.get("COUNT", "20000"))
CLIENTS = [1, 16, 128]
LOAD = os.environ["PORTER_RELAY_LOAD"]


def mailboxes(folder: str, count: int) -> str:
    """Creates mailboxes; returns a file with their sender identifiers."""
    relay = support.Relay(folder)
    client = support.HTTP1(relay.port)
    person = protocol.Client(client.exchange)
    path = folder + "/ids"
    with open(path, "w") as file:
        for _ in range(count):
            file.write(person.mailbox(secured=False).sender.hex() + "\n")
    client.close()
    relay.kill(15)
    return path


def plain(folder: str, count: int) -> dict:
    """One row, one commit, one sync: SQLite's own speed on this disk."""
    database = sqlite3.connect(folder + "/plain.db", isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE message(number INTEGER PRIMARY KEY, body BLOB)")
    body = bytes(1_000)
    began = time.monotonic()
    for _ in range(count):
        database.execute("INSERT INTO message(body) VALUES(?)", (body,))
    return {"perSecond": round(count / (time.monotonic() - began))}


def load(*arguments: str) -> dict:
    result = json.loads(subprocess.run([LOAD, *arguments], check=True, capture_output=True, text=True).stdout)
    assert result["failures"] == 0, result
    return result


def once(results: dict) -> None:
    def note(name: str, result: dict) -> None:
        if name not in results or result["perSecond"] > results[name]["perSecond"]:
            results[name] = result

    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder:
        note("SQLite, one commit each", plain(folder, min(COUNT, 5_000)))
    for clients in CLIENTS:
        count = COUNT if clients > 1 else COUNT // 4
        for kind in ["back end", "relay"]:
            with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as parent:
                folder = parent + "/data"
                ids = mailboxes(folder, count // 100)
                if kind == "back end":
                    note(f"{kind}, {clients} clients", load("file", folder, ids, str(clients), str(count)))
                else:
                    relay = support.Relay(folder)
                    note(f"{kind}, {clients} clients", load("http", str(relay.port), ids, str(clients), str(count)))
                    relay.kill(15)


results: dict[str, dict] = {}
for _ in range(int(os.environ.get("ROUNDS", "3"))):
    once(results)
print(f"| {'':24} | messages/s | p50 ms | p99 ms |\n|{'-' * 26}|{'-' * 12}|{'-' * 8}|{'-' * 8}|")
for name, result in results.items():
    times = [f"{result[key]:6.2f}" if key in result else "      " for key in ["p50", "p99"]]
    print(f"| {name:24} | {result['perSecond']:10,} | {times[0]} | {times[1]} |")
