"""Measures what a push costs porter-push and a NATS node, with few and with many tokens: `make bench-pushes-jetstream`.

One relay, one server and one node, with few tokens and again with TOKENS. Of these, evenly spread over the bucket, ACTIVE belong to devices that
get messages, as in `delay.py`; the others, and nine of ten subscriptions of each, take up room. Messages come as fast as the server pushes them, to
devices in random order. Both get them by turns, and afterwards delete what the pushes have replaced, which is part of their cost. Reports the
processor time of the server and of the node per push, and the node's memory.
"""

import base64
import hashlib
import os
import sqlite3
import struct
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import delay  # noqa: E402
import scale_jetstream as scale  # noqa: E402
from tests import nats  # noqa: E402

ACTIVE = int(os.environ.get("ACTIVE", "75000"))
UNDER_WAY = 1_000
ROUNDS = int(os.environ.get("ROUNDS", "8"))
SECONDS = float(os.environ.get("SECONDS", "8"))
KNOWING, DELETING = 1_200, 900
# A node does some things every two minutes.
IDLE = 120
# As in WatcherIndex.swift.
VERSION, BITS = 2, scale.RECORDS.bit_length() - 1
ACTIVE_STATUS = 2
NOTIFICATIONS, METADATA = 6, 144


@dataclass
class Device:
    """A token that gets messages, with its mailbox's notifier."""

    identifier: bytes
    notifier: bytes
    document: bytes


def number(value: int) -> bytes:
    """As in TokenDocument+Bytes.swift."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(encoded) + bytes([value])


def field(content: bytes) -> bytes:
    return number(len(content)) + content


def document(token: Mapping, notifier: bytes, seed: bytes, subscriptions: int = scale.SUBSCRIPTIONS) -> bytes:
    """A token with all its subscriptions, of which the first is this one, and a notification from each of six mailboxes."""
    now = time.time_ns() // 1_000_000
    names = ("id", "provider", "push_token", "signing_key", "client_box_key", "box_key", "push_key", "code", "state")
    fields = [each.encode() if isinstance(each := token[name], str) else each for name in names]
    numbers = (token["generation"], 0, now, now, now)
    notifiers = [notifier] + [os.urandom(24) for _ in range(subscriptions - 1)]
    entries = [field(each) + field(seed[:32]) + bytes([ACTIVE_STATUS]) for each in notifiers]
    notifications = [
        number(each) + number(now - 60_000) + field(os.urandom(24)) + field(os.urandom(METADATA))
        for each in range(min(NOTIFICATIONS, subscriptions))]
    head = bytes([3]) + b"".join(map(field, fields)) + b"".join(map(number, numbers))
    lists = (number(len(each)) + b"".join(each) for each in (entries, notifications))
    return head + b"".join(lists) + number(0) * 3 + field(b"")


def devices(state: Path) -> list[Device]:
    with closing(sqlite3.connect(state)) as store:
        store.row_factory = sqlite3.Row
        rows = store.execute("SELECT token.*, notifier, key FROM token JOIN subscription ON token = token.number")
        return [Device(row["id"], row["notifier"], document(row, row["notifier"], row["key"])) for row in rows]


def settings(state: Path, secret: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The cluster's, with the server's identity, and a check of all tokens that is over."""
    with closing(sqlite3.connect(state)) as store:
        keys = store.execute("SELECT box_key, recipient_key, service_key, recipient, sender FROM identity").fetchone()
    yield b"watchers", bytes([VERSION, BITS]) + secret
    yield b"identity", struct.pack(">H", len(keys)) + b"".join(struct.pack(">I", len(key)) + key for key in keys)
    yield b"check", struct.pack(">qqq", time.time_ns() // 1_000_000, 1, 1)


def tokens(devices: list[Device], count: int) -> Iterator[tuple[bytes, bytes]]:
    other = os.urandom(max(len(each.document) for each in devices))
    step = count // len(devices)
    for position in range(count):
        if position % step == 0 and position // step < len(devices):
            device = devices[position // step]
            yield base64.urlsafe_b64encode(device.identifier), device.document
        else:
            yield b"n%031d" % position, other


def records(devices: list[Device], count: int, secret: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The index of all subscriptions, of which there are `count`."""
    noted: dict[int, list[bytes]] = {}
    now = struct.pack(">q", time.time_ns() // 1_000_000)
    for device in devices:
        tag = hashlib.blake2b(device.notifier, digest_size=32, key=secret).digest()
        noted.setdefault(int.from_bytes(tag[:4]) >> (32 - BITS), []).append(device.notifier + device.identifier + now)
    each = count / scale.RECORDS
    for position in range(scale.RECORDS):
        entries = b"".join(noted.get(position, []))
        room = (int((position + 1) * each) - int(position * each)) * scale.ENTRY - len(entries)
        if entries or room > 0:
            yield b"%d" % position, b"\1" + os.urandom(max(0, room)) + entries


class Setup:
    """One relay, server and node, with `count` tokens. Notes what pushes have cost."""

    def __init__(self, source: Path, folder: Path, count: int):
        self.count, self.folder, self.pushes = count, folder, 0
        active = min(ACTIVE, count)
        # ACTIVE messages in all.
        self.each = min(delay.REQUESTS, -(-ACTIVE // active))
        files = delay.fill(source, folder, active, self.each)
        known, secret = devices(files.state), os.urandom(32)
        assert all(len(device.document) == len(known[0].document) for device in known)
        self.cluster, self.pair = nats.Cluster(1), None
        try:
            [self.node] = self.cluster.nodes
            scale.load(self.cluster, 0, 0, 0)
            scale.put(self.node, "settings", settings(files.state, secret))
            scale.put(self.node, "tokens", tokens(known, count), scale.AGES)
            scale.put(self.node, "subscriptions", records(known, count * scale.SUBSCRIPTIONS, secret))
            device_records = min(scale.RECORDS, count)
            scale.fill(self.node, "devices", device_records, 1 + scale.DEVICE_ENTRY * -(-count // device_records))
            print(
                f"{count:,} tokens with documents of {len(known[0].document):,} bytes, {count * scale.SUBSCRIPTIONS:,} subscriptions; "
                f"files {scale.folder_size(self.node) / 1e9:.2f} GB, node {scale.memory(self.node)} MB", flush=True)
            files.state.unlink()
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Starts relay and server, and waits until the server knows all tokens and their index, which it would otherwise read from the node."""
        self.pair = delay.Pair(self.folder, self.each, 0, UNDER_WAY, store=self.cluster.address, nats_replicas="1", log_level="info")
        began = time.monotonic()
        while self.pair.push.lines().count("records of a stream are known") < 2:
            assert self.pair.push.process.poll() is None and time.monotonic() < began + KNOWING, self.pair.push.lines()
            time.sleep(0.1)
        print(
            f"{self.count:>9,} tokens: porter-push serves after {self.pair.started_in:.1f} s; all records are known {time.monotonic() - began:.0f} s later; "
            f"memory: node {scale.memory(self.node)} MB, porter-push {scale.memory(self.pair.push)} MB", flush=True)
        self.before, self.versions_before, self.began = self.spent(), self.versions(), time.monotonic()

    def spent(self) -> tuple[float, float]:
        """Processor time of the server and of the node."""
        return delay.processor_seconds(self.pair.push.process), scale.processor(self.node)

    def round(self) -> None:
        before = self.spent()
        result = self.pair.run(f"flood {SECONDS}")
        assert result["sent"], "all messages have been sent: ACTIVE must be greater"
        self.pushes += result["sent"]
        server, node = self.costs(before, result["sent"])
        print(
            f"{self.count:>9,} tokens: {result['sent'] / result['seconds']:,.0f} pushes a second, delay p50 {result['delay']['p50']:.0f} ms; "
            f"server {server:,.0f} us, node {node:,.0f} us; memory: node {scale.memory(self.node)} MB", flush=True)

    def costs(self, before: tuple[float, float], pushes: int) -> list[float]:
        """Processor time since then of the server and of the node for each of the pushes, in µs."""
        return [(now - then) / pushes * 1e6 for now, then in zip(self.spent(), before)]

    def versions(self) -> int:
        """In the stream of tokens: those of all records, and replaced ones that are to be deleted."""
        probe = "$KV.porter_push_tokens.probe"
        connection = nats.Connection(self.node)
        state = connection.request("$JS.API.STREAM.INFO.KV_porter_push_tokens", b'{"subjects_filter":"%b"}' % probe.encode())["state"]
        connection.close()
        return state["messages"] - (state.get("subjects") or {}).get(probe, 0)

    def has_deleted(self) -> bool:
        """What the pushes have replaced."""
        return self.versions() < self.versions_before + self.pushes / 100

    def end(self) -> None:
        self.whole, self.seconds, self.before = self.costs(self.before, self.pushes), time.monotonic() - self.began, self.spent()

    def total(self) -> float:
        """Of a push and of deleting what it replaced, in µs: the processor time from the start to the end, less what both have taken since with nothing to do."""
        idle = [(now - then) / IDLE for now, then in zip(self.spent(), self.before)]
        server, node = (whole - each * self.seconds / self.pushes * 1e6 for whole, each in zip(self.whole, idle))
        print(
            f"{self.count:>9,} tokens, {self.pushes:,} pushes, with deletions: server {server:,.0f} us, node {node:,.0f} us; with nothing to do "
            f"{idle[0] * 1e3:.1f} ms and {idle[1] * 1e3:.1f} ms of each second; at their peaks the node has {scale.memory(self.node, 'VmHWM')} MB and "
            f"porter-push {scale.memory(self.pair.push, 'VmHWM')} MB; "
            f"files {scale.folder_size(self.node) / 1e9:.2f} GB", flush=True)
        return server + node

    def stop(self) -> None:
        if self.pair:
            self.pair.stop()
        self.cluster.stop()


def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as parent, ExitStack() as stack:
        source = Path(parent, "template")
        delay.template(source)
        setups = []
        for count in (1_000, scale.TOKENS):
            setups.append(Setup(source, Path(parent, f"tokens{count}"), count))
            stack.callback(setups[-1].stop)
        # The relay closes connections that are idle for long.
        for setup in reversed(setups):
            setup.start()
        # By turns: a machine that becomes slower does so for both.
        for _ in range(ROUNDS):
            for setup in setups:
                setup.round()
        began = time.monotonic()
        while not all(setup.has_deleted() for setup in setups):
            assert time.monotonic() < began + DELETING, [setup.versions() for setup in setups]
            time.sleep(5)
        print(f"what the pushes replaced was deleted {time.monotonic() - began:.0f} s after them", flush=True)
        for setup in setups:
            setup.end()
        time.sleep(IDLE)
        few, many = (setup.total() for setup in setups)
    print(f"cost of a push, {scale.TOKENS:,} tokens beside 1,000: {many / few:.2f} x (goal 1.2)")


if __name__ == "__main__":
    main()
