"""Measures what waiting wake-ups cost a NATS node and a notification server: `make bench-wakes-jetstream`.

TOKENS sets the number of tokens with a period of 20 minutes. As many wake-ups wait in the queue of this period, and those of a second go through
the queue of one minute, so that each second as many are added, and as many are due, as with TOKENS. The tokens themselves do not exist: what a push
costs is measured by `scale_jetstream.py`. SECONDS is how long to measure.
"""

import os
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests/peers"))
from tests import nats, support  # noqa: E402
from tests.push import PushServer  # noqa: E402

TOKENS = int(os.environ.get("TOKENS", "1000000"))
SECONDS = float(os.environ.get("SECONDS", "60"))
# WakeQueue.swift names the queues by their minutes, and defines an item: token, when it is due, and what is left after the queue.
PERIOD, SHORT = 20, 1
TICKS = os.sysconf("SC_CLK_TCK")


def processor(pid: int) -> float:
    """A process's processor time in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def written(pid: int) -> int:
    """The bytes that a process has written, whether or not to a disk."""
    return int(next(line for line in Path(f"/proc/{pid}/io").read_text().splitlines() if line.startswith("wchar")).split()[1])


def add(connection: nats.Connection, minutes: int, count: int) -> None:
    due = int((time.time() + minutes * 60) * 1000)
    connection.socket.sendall(b"".join(
        b"PUB porter.push.work.wakes-%d 40\r\n%b%b\r\n" % (minutes, os.urandom(24), struct.pack(">qq", due, 0)) for _ in range(count)))
    # Otherwise the node would have to queue what it has not stored yet.
    connection.request("$KV.porter_push_tokens.probe")


def fill(node: nats.Node, count: int) -> None:
    connection = nats.Connection(node)
    for start in range(0, count, 2_000):
        add(connection, PERIOD, min(2_000, count - start))
    connection.close()


def keep_adding(node: nats.Node, per_second: float, end: threading.Event) -> None:
    connection = nats.Connection(node)
    begin, added = time.monotonic(), 0
    while not end.wait(0.1):
        count = int((time.monotonic() - begin) * per_second) - added
        if count > 0:
            add(connection, SHORT, count)
            added += count
    connection.close()


def waiting(node: nats.Node, minutes: int) -> int:
    """How many items are in the queue."""
    connection = nats.Connection(node)
    subject = f"porter.push.work.wakes-{minutes}"
    information = connection.request("$JS.API.STREAM.INFO.porter_push_work", b'{"subjects_filter":"%b"}' % subject.encode())
    connection.close()
    return information["state"].get("subjects", {}).get(subject, 0)


def measure(count: int) -> None:
    cluster = nats.Cluster(1)
    with tempfile.TemporaryDirectory(prefix="porter-wakes-") as folder:
        relay = support.Relay(f"{folder}/relay")
        address = relay.address.replace("localhost", "127.0.0.1")
        server = PushServer(folder, relay=address, local_socket=f"{folder}/device", store=cluster.address)
        try:
            server.link()
            [node] = cluster.nodes
            fill(node, count)
            end = threading.Event()
            adding = threading.Thread(target=keep_adding, args=(node, count / PERIOD / 60, end))
            adding.start()
            # From now on as many are due as are added.
            time.sleep(SHORT * 60 + 10)
            pids = {"node": node.process.pid, "server": server.process.pid}
            before = {name: processor(pid) for name, pid in pids.items()}
            bytes_before = written(pids["node"])
            time.sleep(SECONDS)
            shares = {name: (processor(pid) - before[name]) / SECONDS for name, pid in pids.items()}
            megabytes = (written(pids["node"]) - bytes_before) / SECONDS / 1e6
            longest = waiting(node, SHORT) / (count / PERIOD / 60)
            end.set()
            adding.join()
            print(
                f"{count:,} wake-ups wait, {count / PERIOD / 60:.1f} a second are due: the node uses {shares['node']:.1%} of a processor and writes {megabytes:.3f} MB a second; "
                f"the server uses {shares['server']:.1%}; they wait {longest:.1f} s of {SHORT * 60}", flush=True)
        finally:
            server.end()
            relay.kill()
            cluster.stop()


measure(1_000)
measure(TOKENS)
