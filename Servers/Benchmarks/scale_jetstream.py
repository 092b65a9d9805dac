"""Measures the cost of pushes in a bucket with few and with many tokens, on one NATS node: `make bench-scale-jetstream`.

TOKENS sets the number, with ten times as many subscriptions, which share RECORDS records. Records are put into the streams in a server's format,
with random contents; then `store-load` works on them as pushes do. Reports a node's memory, and how long it takes to start.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests/peers"))
from tests import nats  # noqa: E402
from tests.push import PushServer  # noqa: E402

TOKENS = int(os.environ.get("TOKENS", "1000000"))
SUBSCRIPTIONS = int(os.environ.get("SUBSCRIPTIONS", "10"))
PUSHES = int(os.environ.get("PUSHES", "25600"))
BATCH = int(os.environ.get("BATCH", "64"))
LOAD = os.environ.get("PORTER_STORE_LOAD", str(Path(__file__).resolve().parents[1] / ".build/debug/store-load"))
# How long a server works before it is measured: it remembers the versions of the last 10 seconds, and scans so many tokens a second.
WARM_UP, SCANNED = int(os.environ.get("WARM_UP", "15")), 6_000
ROUNDS = int(os.environ.get("ROUNDS", "1"))
# WatcherIndex.swift defines a cluster's number of records of each kind. Sizes of entries are in it and in DeviceIndex.swift.
RECORDS = int(os.environ.get("RECORDS", str(1 << 18)))
ENTRY, DEVICE_ENTRY = 56, 48
# Of a document with ten subscriptions, as TokenDocumentTests measures it.
DOCUMENT = int(os.environ.get("DOCUMENT", "2000"))
LATELY = 5_000
# How many times each token's document was replaced before, and how many replaced ones a server deletes together.
AGES, ROUND = int(os.environ.get("AGES", "2")), 131_072
TICKS = os.sysconf("SC_CLK_TCK")


def memory(node: nats.Node | PushServer, name: str = "VmRSS") -> int:
    """A node's or a server's memory in megabytes."""
    status = Path(f"/proc/{node.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(name)).split()[1]) // 1000


def processor(node: nats.Node) -> float:
    """A node's processor time in seconds."""
    fields = Path(f"/proc/{node.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def put(node: nats.Node, bucket: str, records: Iterable[tuple[bytes, bytes]], ages: int = 0) -> None:
    """Stores these records, of a name and a payload each, as a server would; and replaces each `ages` times, in random order."""
    connection = nats.Connection(node)
    # As in JetStream+Records.swift. A new record names a message from five seconds before, which is LATELY earlier.
    headers = b"NATS/1.0\r\nPorter-Replaces: %d\r\nPorter-Follows: %d\r\nPorter-Writer: 2mf8jq0x7vkz1\r\n\r\n"
    stream = f"KV_porter_push_{bucket}"
    numbers: dict[bytes, int] = {}
    outdated: list[int] = []

    def stored() -> int:
        """The last message's number. Probes would ask as well, but the node would later look for the oldest of them in files that a busy cluster no longer
        has them in."""
        return connection.request(f"$JS.API.STREAM.INFO.{stream}")["state"]["last_seq"]

    def message(number: int, name: bytes, payload: bytes) -> bytes:
        replaced = numbers.get(name, 0)
        head = headers % (replaced, max(replaced, number - LATELY))
        subject = f"HPUB $KV.porter_push_{bucket}.".encode() + name
        return subject + b" %d %d\r\n%b%b\r\n" % (len(head), len(head) + len(payload), head, payload)

    def store(records: Iterable[tuple[bytes, bytes]]) -> None:
        nonlocal last
        for some in batched(records, 2_000):
            connection.socket.sendall(b"".join(message(last + index, *record) for index, record in enumerate(some, 1)))
            outdated.extend(numbers[name] for name, _ in some if name in numbers)
            if ages:
                numbers.update((name, last + index) for index, (name, _) in enumerate(some, 1))
            # Otherwise the node would have to queue what it has not stored yet.
            last += len(some)
            while stored() < last:
                time.sleep(0.001)
            if len(outdated) > ROUND:
                delete()

    def delete() -> None:
        """As servers do, in order of number."""
        for some in batched(sorted(outdated), 500):
            queries = (b'{"seq":%d,"no_erase":true}' % number for number in some)
            subject = f"PUB $JS.API.STREAM.MSG.DELETE.{stream}".encode()
            connection.socket.sendall(b"".join(subject + b" %d\r\n%b\r\n" % (len(query), query) for query in queries))
            stored()
        outdated.clear()

    last = stored()
    if ages:
        records = list(records)
    store(records)
    for _ in range(ages):
        random.shuffle(records)
        store(records)
    delete()
    connection.close()


def batched(items: Iterable, count: int) -> Iterator[list]:
    iterator = iter(items)
    while some := list(islice(iterator, count)):
        yield some


def fill(node: nats.Node, bucket: str, count: int, size: int, name: bytes = b"%d") -> None:
    payload = os.urandom(size)
    put(node, bucket, ((name % number, payload) for number in range(count)))


def folder_size(node: nats.Node) -> int:
    return sum(each.stat().st_size for each in node.folder.rglob("*") if each.is_file())


def load(cluster: nats.Cluster, tokens: int, pushes: int, records: int) -> dict:
    """The report of `store-load`, with the node's processor time per push, in µs."""
    arguments = [cluster.address, *map(str, (tokens, DOCUMENT, pushes, BATCH, records, WARM_UP + tokens // SCANNED))]
    with subprocess.Popen([LOAD, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        before = processor(cluster.nodes[0])
        result = json.loads(process.stdout.readline() or "{}")
        spent = processor(cluster.nodes[0]) - before
    assert process.returncode == 0, process.returncode
    return {**result, "cost": spent / max(1, pushes) * 1e6}


def measure(tokens: int) -> float:
    cluster = nats.Cluster(1)
    try:
        [node] = cluster.nodes
        load(cluster, 0, 0, 0)
        subscriptions = tokens * SUBSCRIPTIONS
        records, device_records = min(RECORDS, subscriptions), min(RECORDS, tokens)
        fill(node, "tokens", tokens, DOCUMENT, b"n%031d")
        fill(node, "devices", device_records, 1 + DEVICE_ENTRY * -(-tokens // device_records))
        fill(node, "subscriptions", records, 1 + ENTRY * -(-subscriptions // records))
        print(f"{tokens:,} tokens, {subscriptions:,} subscriptions in {records:,} records: files {folder_size(node) / 1e9:.2f} GB, node {memory(node)} MB", flush=True)
        costs = []
        for _ in range(ROUNDS):
            result = load(cluster, tokens, PUSHES, records)
            costs.append(result["cost"])
            print(
                f"  {result['perSecond']:,} pushes a second, {BATCH} together p50 {result['p50']:.0f} ms, p99 {result['p99']:.0f} ms; "
                f"{costs[-1]:.0f} us of the node's processor each; node {memory(node)} MB; "
                f"{result['failures']} batches again", flush=True)
        print(f"  at its peak {memory(node, 'VmHWM')} MB")
        for number in (signal.SIGTERM, signal.SIGKILL):
            node.process.send_signal(number)
            node.process.wait()
            began = time.monotonic()
            node.start()
            while not node.is_healthy():
                time.sleep(0.02)
            print(f"  start after {number.name}: {time.monotonic() - began:.1f} s, {processor(node):.1f} s of its processor, {memory(node)} MB", flush=True)
        return min(costs)
    finally:
        cluster.stop()


if __name__ == "__main__":
    few, many = measure(1_000), measure(TOKENS)
    print(f"cost of a push at the node, {TOKENS:,} tokens beside 1,000: {many / few:.2f} x (goal 1.2)")
