"""Measures whether the time of an answer tells a mailbox that does not exist from one whose key the client lacks: `make bench-timing`.

One client asks a porter-relay over HTTPS, one question at a time, in random order. With a file, a cold mailbox has not been asked for since the relay
started. On a NATS node, its record lies in a block of the node's files that was not read for longer than the node keeps blocks in memory. COUNT sets the
number of questions about each kind of mailbox, COLD that of the questions about cold ones on a node, which need some 0.3 s each; STORES which to measure.

The last columns compare each kind with mailboxes that do not exist: the probability that one of those takes longer (0.5: no difference), and
how many answers about one mailbox make out the kind in 19 of 20 cases, for a client that knows well how long mailboxes that do not exist take (after Noether).
"""

import bisect
import gc
import os
import random
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests/peers"))
from nacl.signing import SigningKey  # noqa: E402
from tests import nats, protocol, support  # noqa: E402

COUNT = int(os.environ.get("COUNT") or 3_000)
COLD = int(os.environ.get("COLD") or 1_000)
STORES = (os.environ.get("STORES") or "file node").split()
# A node forgets a block ten seconds after it was last read.
BLOCKS, BLOCK_BYTES, FORGOTTEN_AFTER = 50, 8 << 20, 15
RECORD_BYTES = 500
WARM, FULL_MAILBOX = 20, 128
MISSING, AGAIN, WARM_KIND, FULL, COLD_KIND = "no such mailbox", "the same, again", "wrong key", "wrong key, 128 messages", "wrong key, cold"
WRONG = SigningKey.generate()
# The normal distribution's quantiles for an error of 0.05 on either side.
QUANTILES = 2 * statistics.NormalDist().inv_cdf(0.95)


class Asker:
    """One connection; measures exchanges."""

    def __init__(self, port: int):
        self.socket = support.connect(port, ["http/1.1"])
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, recipient: bytes) -> float:
        """The milliseconds until the answer is there."""
        body = protocol.get(protocol.Mailbox(recipient, b"", WRONG, None))
        head = f"POST /v1/exchange HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        request, received = head.encode() + body, b""
        begin = time.perf_counter_ns()
        self.socket.sendall(request)
        while (end := received.find(b"\r\n\r\n")) < 0 or len(received) < end + 4 + self.length(received[:end]):
            some = self.socket.recv(65_536)
            assert some, "the connection ended"
            received += some
        spent = time.perf_counter_ns() - begin
        assert received.startswith(b"HTTP/1.1 200"), received
        try:
            protocol.answer(received[end + 4:], body)
        except protocol.Refused as refusal:
            assert str(refusal) == "auth", refusal
            return spent / 1e6
        raise AssertionError("not refused")

    @staticmethod
    def length(head: bytes) -> int:
        return next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))


class Mailboxes:
    def __init__(self, relay: support.Relay):
        self.client = support.HTTP1(relay.port)
        self.person = protocol.Client(self.client.exchange)

    def make(self, messages: int = 0) -> bytes:
        mailbox = self.person.mailbox()
        for _ in range(messages):
            self.person.send(mailbox, b"1")
        return mailbox.recipient


def measure(relay: support.Relay, kinds: dict[str, list[bytes]], rounds: list[list[str]], pause: float = 0) -> dict[str, list[float]]:
    """Asks in rounds, each in random order and no sooner than `pause` seconds after the one before. Cold mailboxes are asked for once."""
    asker, times = Asker(relay.port), {kind: [] for kind in [MISSING, AGAIN, *kinds]}
    cold = iter(kinds[COLD_KIND])
    for _ in range(200):
        asker.ask(protocol.identifier())
        for warm in [WARM_KIND, FULL]:
            asker.ask(random.choice(kinds[warm]))
    gc.collect()
    gc.disable()
    for asked in rounds:
        begin = time.monotonic()
        random.shuffle(asked)
        for index, kind in enumerate(asked):
            recipient = protocol.identifier() if kind in (MISSING, AGAIN) else next(cold) if kind == COLD_KIND else random.choice(kinds[kind])
            time.sleep(max(0, begin + pause * index / len(asked) - time.monotonic()))
            times[kind].append(asker.ask(recipient))
        time.sleep(max(0, begin + pause - time.monotonic()))
    gc.enable()
    return times


def with_file(folder: str) -> dict[str, list[float]]:
    relay = support.Relay(folder)
    mailboxes = Mailboxes(relay)
    kinds = {COLD_KIND: [mailboxes.make() for _ in range(COUNT)]}
    # Their neighbours in the file.
    for _ in range(COUNT):
        mailboxes.make()
    random.shuffle(kinds[COLD_KIND])
    kinds |= {WARM_KIND: [mailboxes.make(1) for _ in range(WARM)], FULL: [mailboxes.make(FULL_MAILBOX) for _ in range(WARM)]}
    relay.kill(15)
    relay = support.Relay(folder)
    try:
        return measure(relay, kinds, [[MISSING, AGAIN, WARM_KIND, FULL, COLD_KIND] for _ in range(COUNT)])
    finally:
        relay.kill(15)


def with_node(folder: str) -> dict[str, list[float]]:
    cluster = nats.Cluster(1)
    relay = support.Relay(folder, store=cluster.address)
    try:
        mailboxes, connection = Mailboxes(relay), nats.Connection(cluster.nodes[0])
        [stream] = [
            each["config"]["name"] for each in connection.api("STREAM.LIST")["streams"] if "mailbox" in each["config"]["name"]]
        mailboxes.make()
        subject = next(each["subject"] for each in connection.messages(stream)).rsplit(".", 1)[0]
        # Records of others: a block is full of them.
        record, headers = os.urandom(RECORD_BYTES), {"Porter-Replaces": "0", "Porter-Follows": "0", "Porter-Writer": "bench"}
        lines = ("NATS/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n").encode()
        sizes = b"%d %d" % (len(lines), len(lines) + len(record))
        blocks: list[list[bytes]] = []
        for _ in range(BLOCKS):
            blocks.append([mailboxes.make() for _ in range(-(-COLD // BLOCKS))])
            for _ in range(BLOCK_BYTES // (RECORD_BYTES + 150) // 500):
                connection.socket.sendall(b"".join(
                    b"HPUB %b.%b  %b\r\n%b%b\r\n" % (subject.encode(), os.urandom(11).hex().encode(), sizes, lines, record) for _ in range(499)))
                # Otherwise the node would have to queue what it has not stored yet.
                connection.request(f"{subject}.{os.urandom(11).hex()}", record, headers)
        kinds = {
            WARM_KIND: [mailboxes.make(1) for _ in range(WARM)], FULL: [mailboxes.make(FULL_MAILBOX) for _ in range(WARM)],
            # One from each block in turn.
            COLD_KIND: [each for some in zip(*blocks) for each in some]}
        state = connection.api(f"STREAM.INFO.{stream}")["state"]
        print(f"{state['messages']:,} records, {state['bytes'] / 1e6:,.0f} MB", file=sys.stderr)
        time.sleep(FORGOTTEN_AFTER)
        asked = [MISSING, AGAIN, WARM_KIND, FULL] * max(1, round(COUNT / len(kinds[COLD_KIND]))) + [COLD_KIND]
        return measure(relay, kinds, [list(asked) for _ in kinds[COLD_KIND]], FORGOTTEN_AFTER / BLOCKS)
    finally:
        relay.kill(15)
        cluster.stop()


def slower(some: list[float], others: list[float]) -> float:
    """The probability that one of the first takes longer than one of the others (Mann and Whitney's U, divided by the number of pairs)."""
    others = sorted(others)
    return statistics.fmean((bisect.bisect_left(others, each) + bisect.bisect_right(others, each)) / 2 for each in some) / len(others)


def report(store: str, times: dict[str, list[float]]) -> None:
    print(f"| {store:24} | number | lower quartile | median | upper quartile | p99 | none slower | ± | answers needed |")
    print("|---|---|---|---|---|---|---|---|---|")
    none = times[MISSING]
    for kind, found in times.items():
        quartiles, last = statistics.quantiles(found, n=4), statistics.quantiles(found, n=100)[-1]
        line = f"| {kind:24} | {len(found):,} | {quartiles[0]:.3f} ms | {quartiles[1]:.3f} | {quartiles[2]:.3f} | {last:.2f} |"
        if kind != MISSING:
            probability = slower(none, found)
            # Twice the standard error, if there is no difference.
            error = 2 * ((len(none) + len(found) + 1) / (12 * len(none) * len(found))) ** 0.5
            difference = abs(probability - 0.5)
            needed = f"{max(1, QUANTILES ** 2 / (12 * difference ** 2)):,.0f}" if difference > error else "no difference found"
            line += f" {probability:.3f} | {error:.3f} | {needed} |"
        else:
            line += " | | |"
        print(line)
    print(flush=True)


with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as parent:
    for store in STORES:
        report(f"porter-relay, a {store}", (with_file if store == "file" else with_node)(f"{parent}/{store}"))
