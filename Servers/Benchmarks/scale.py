"""Measures porter-push with many tokens and ten times as many subscriptions in SQLite: `make bench-scale`.

How long it takes to start, how much memory it uses, and how fast it pushes, while it checks each subscription with its relay, as after
every start. The files are created in SQL; FOLDER sets the place, TOKENS the number of tokens.
"""

import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bindings/python"), str(ROOT / "Benchmarks")]
from support.server import BACKLOG, Program, ServerFiles  # noqa: E402
from support.world import PATIENCE, World  # noqa: E402

TOKENS = int(os.environ.get("TOKENS", "1000000"))
SUBSCRIPTIONS = 10
ROUNDS = 10
PUSH, SERVER, PROVIDER = (Path(os.environ[name]).resolve() for name in ("PORTER_PUSH", "PORTER_SERVER", "PROVIDER"))


def memory(pid: int, name: str) -> float:
    """A figure from the process's status, in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(rf"{name}:\s+(\d+)", status)[0]) * 1024 / 1e6


class Push:
    """porter-push with these files, and a device simulator."""

    def __init__(self, files: ServerFiles):
        self.files = files
        (files.folder / "push.socket").unlink(missing_ok=True)
        self.provider = Program([PROVIDER, "push.socket"], "listening", files.folder)
        began = time.monotonic()
        self.process = subprocess.Popen(
            [
                PUSH, "serve", "--state=server.db", "--relay=relay.db", "--local-socket=push.socket",
                "--operators=127.0.0.1:0", "--log-level=warning",
            ],
            cwd=files.folder, stdout=subprocess.PIPE, text=True)
        # The link shows that it serves, and has reached the relay.
        assert self.process.stdout.readline().startswith("ntf:")
        self.start = time.monotonic() - began

    def rate(self, number: int) -> float:
        """Messages per second, from a backlog."""
        self.files.make_due("message", number)
        self.provider.ask(str(BACKLOG))
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as sender:
            for path in self.files.folder.glob("relay.db.wake/*"):
                sender.sendto(b"\0", str(path.resolve()))
        took, different = self.provider.answer()
        assert different == BACKLOG
        with closing(sqlite3.connect(self.files.state, timeout=PATIENCE)) as store:
            while store.execute("SELECT count(*) FROM push").fetchone()[0] > 0:
                time.sleep(0.01)
        return (BACKLOG - 1) / took * 1e9

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.provider.__exit__()


with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as parent:
    template = Path(parent, "template")
    template.mkdir()
    with World(template, SERVER) as world:
        world.device("device")
    files = ServerFiles(template, Path(parent, "files"), TOKENS, SUBSCRIPTIONS)
    with closing(sqlite3.connect(files.state)) as store:
        tokens, subscriptions = (store.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("token", "subscription"))
    print(f"{tokens:,} tokens, {subscriptions:,} subscriptions; state {files.state.stat().st_size / 1e9:.1f} GB, relay {files.relay.stat().st_size / 1e9:.1f} GB")
    starts = []
    for _ in range(3):
        push = Push(files)
        starts.append(push.start)
        print(f"start {push.start * 1e3:.0f} ms, {memory(push.process.pid, 'VmRSS'):.0f} MB", flush=True)
        if len(starts) < 3:
            push.stop()
    rates = sorted(push.rate(number) for number in range(ROUNDS))
    print(f"{rates[len(rates) // 2]:,.0f} messages a second, {memory(push.process.pid, 'VmHWM'):.0f} MB at its peak")
    push.stop()
