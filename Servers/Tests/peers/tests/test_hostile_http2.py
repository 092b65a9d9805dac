"""A relay's defences against clients that misuse HTTP/2, frame by frame."""

import ssl
import threading
import time
import unittest

import hpack
from nacl.signing import SigningKey

from . import protocol
from .support import Relay, RelayTestCase, connect

DATA, HEADERS, PRIORITY, RESET, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4
# A relay without a limit would wait for its idle time, five minutes.
PATIENCE = 60
# Other clients are served within a second, or many on a machine that is busy with other things.
SOON = 30
# More than a relay needs to serve a few clients, and much less than attacks try to take.
MOST_MEMORY = 48 << 20


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


def setting(name: int, value: int) -> bytes:
    return frame(SETTINGS, 0, 0, name.to_bytes(2) + value.to_bytes(4))


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
START = PREFACE + frame(SETTINGS, 0, 0)
EXCHANGE = [
    (":method", "POST"), (":path", "/v1/exchange"), (":scheme", "https"), (":authority", "x"),
    ("content-type", "application/octet-stream")]


def block(*more: tuple[str, str]) -> bytes:
    """A header block that uses no dynamic table."""
    encoder = hpack.Encoder()
    encoder.header_table_size = 0
    return encoder.encode([*EXCHANGE, *more], huffman=False)


class Witness:
    """Another client, which makes exchanges as long as an attack lasts."""

    def __init__(self, test: "AttackTestCase", relay: Relay):
        self.test, self.relay, self.slowest, self.count, self.most = test, relay, 0.0, 0, 0
        # Of another source.
        self.client = test.http1(relay, source="127.0.0.2")
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def ask(self) -> None:
        begin = time.monotonic()
        status, _, _ = self.client.post(protocol.request(b"\4", protocol.identifier(), SigningKey.generate()))
        assert status == 200, status
        self.slowest = max(self.slowest, time.monotonic() - begin)
        self.count += 1
        self.most = max(self.most, self.relay.resident())

    def run(self) -> None:
        while not self.is_over.is_set():
            self.ask()
            time.sleep(0.01)

    def __enter__(self) -> "Witness":
        self.ask()
        self.before = self.relay.resident()
        self.thread.start()
        return self

    def __exit__(self, kind, *_) -> None:
        self.is_over.set()
        self.thread.join()
        if kind is None:
            count = self.count
            self.ask()
            self.test.assertEqual(self.count, count + 1, "another client is served")
            self.test.assertLess(self.slowest, SOON)
            grown = self.most - self.before
            self.test.assertLess(grown, MOST_MEMORY)
            self.test.assertEqual(self.relay.operator("/ready")[0], 200)
            print(f"{self.test.id().split('.')[-1]}: {self.slowest * 1000:.0f} ms, {grown >> 10} kB")


class AttackTestCase(RelayTestCase):
    def raw(self, relay: Relay, start: bytes = START) -> ssl.SSLSocket:
        raw = connect(relay.port, ["h2"])
        self.addCleanup(raw.close)
        raw.settimeout(PATIENCE)
        raw.sendall(start)
        return raw

    def end(self, raw: ssl.SSLSocket) -> bytes:
        """Everything until the relay closes the connection, which it must."""
        received = b""
        try:
            while part := raw.recv(65_536):
                received = (received + part)[-1_000_000:]
        except (ConnectionError, ssl.SSLError):
            pass
        return received

    def push(self, raw: ssl.SSLSocket, data: bytes, pieces: int) -> bool:
        """Sends the data so many times, and reads nothing. Returns whether the relay ended the connection."""
        try:
            for _ in range(pieces):
                raw.sendall(data)
        except TimeoutError:
            return False
        except (ConnectionError, ssl.SSLError):
            return True
        return False


class SlowTests(AttackTestCase):
    """In these tests a request has a second to arrive."""

    def trickle(self, raw: ssl.SSLSocket, data: bytes) -> None:
        """Sends byte after byte until the relay closes the connection: each is progress, but none extends the time."""
        end = time.monotonic() + PATIENCE
        with self.assertRaises((ConnectionError, ssl.SSLError)):
            for byte in data:
                raw.sendall(bytes([byte]))
                raw.settimeout(0.01)
                try:
                    if raw.recv(65_536) == b"":
                        raise ConnectionError
                except TimeoutError:
                    pass
                self.assertLess(time.monotonic(), end, "the relay waits")

    def test_what_never_ends_is_cut_off(self):
        """A preface, a frame, and a header block of several frames."""
        relay = self.start(request_time="1s")
        with Witness(self, relay):
            for start in [PREFACE[:4], START + b"\0\0", START + frame(HEADERS, 0, 1, block())]:
                self.end(self.raw(relay, start))

    def test_what_comes_byte_by_byte_is_cut_off(self):
        relay = self.start(request_time="1s")
        with Witness(self, relay):
            for kind in [HEADERS, DATA, 0xEE]:
                self.trickle(self.raw(relay), frame(kind, END_HEADERS, 1, bytes(16_000)))
            # Header blocks may have no more than a few of these.
            self.trickle(self.raw(relay, START + frame(HEADERS, 0, 1, block())), frame(CONTINUATION, 0, 1, bytes(16_000)))

    def test_a_body_that_comes_byte_by_byte_is_answered_with_408(self):
        relay = self.start(request_time="1s")
        with Witness(self, relay):
            raw = self.raw(relay, START + frame(HEADERS, END_HEADERS, 1, block()))
            end, received, decoder = time.monotonic() + PATIENCE, b"", hpack.Decoder()
            statuses = []
            while not statuses:
                self.assertLess(time.monotonic(), end)
                raw.sendall(frame(DATA, 0, 1, b"x"))
                raw.settimeout(0.05)
                try:
                    received += raw.recv(65_536)
                except TimeoutError:
                    pass
                while len(received) >= 9 and len(received) >= 9 + int.from_bytes(received[:3]):
                    length = 9 + int.from_bytes(received[:3])
                    if received[3] == HEADERS:
                        statuses += [value for name, value in decoder.decode(received[9:length]) if name == ":status"]
                    received = received[length:]
            self.assertEqual(statuses, ["408"])

    def test_slow_clients_within_the_time_are_served(self):
        """Frames and blocks that take a while, one after the other, for longer than one of them may."""
        relay = self.start(request_time="2s")
        raw = self.raw(relay)
        for stream in range(1, 8, 2):
            health = hpack.Encoder().encode(
                [(":method", "GET"), (":path", "/health"), (":scheme", "https"), (":authority", "x")])
            for part in [frame(HEADERS, END_STREAM, stream, health[:3]), frame(CONTINUATION, END_HEADERS, stream, health[3:])]:
                raw.sendall(part[:5])
                time.sleep(0.4)
                raw.sendall(part[5:])
        received = b""
        while received.count(b"ok\n") < 4:
            received += raw.recv(65_536)


class HeaderTests(AttackTestCase):
    def test_header_blocks_over_the_limit_end_the_connection(self):
        relay = self.start()
        large = block(*((f"x-{number}", "a" * 4_000) for number in range(5)))
        many = block(*((f"x-{number}", "a") for number in range(2_000)))
        with Witness(self, relay):
            for fields in [large, many, block() + bytes(15_900)]:
                pieces = [fields[start:start + 10_000] for start in range(0, len(fields), 10_000)]
                frames = frame(HEADERS, 0 if pieces[1:] else END_HEADERS, 1, pieces[0])
                for number, piece in enumerate(pieces[1:], 2):
                    frames += frame(CONTINUATION, END_HEADERS if number == len(pieces) else 0, 1, piece)
                raw = self.raw(relay, START + frames)
                self.end(raw)

    def test_endless_continuations_end_the_connection(self):
        relay = self.start()
        with Witness(self, relay):
            for payload in [b"", b"\x40\x01a\x01b", bytes(1) * 16_000]:
                raw = self.raw(relay, START + frame(HEADERS, 0, 1, block()))
                if not self.push(raw, frame(CONTINUATION, 0, 1, payload) * 10, 10_000):
                    self.end(raw)

    def test_a_large_field_that_is_repeated_by_reference_is_not_expanded(self):
        """An HPACK bomb: a kilobyte of references to an entry of 4 kB."""
        relay = self.start()
        # Into the dynamic table, as its newest entry: index 62.
        entry = b"\x40" + hpack.hpack.encode_integer(1, 7) + b"x" + hpack.hpack.encode_integer(3_900, 7) + b"a" * 3_900
        with Witness(self, relay):
            for count in [1_000, 16_000]:
                raws = [self.raw(relay) for _ in range(20)]
                for raw in raws:
                    self.push(raw, frame(HEADERS, END_HEADERS | END_STREAM, 1, block() + entry), 1)
                    for stream in range(3, 41, 2):
                        if self.push(raw, frame(HEADERS, END_HEADERS | END_STREAM, stream, block() + b"\xbe" * count)[:16_393], 1):
                            break
                for raw in raws:
                    self.end(raw)

    def test_a_table_larger_than_agreed_ends_the_connection(self):
        relay = self.start()
        with Witness(self, relay):
            resize = bytes(hpack.hpack.encode_integer(1 << 30, 5))
            raw = self.raw(relay, START + frame(HEADERS, END_HEADERS, 1, bytes([resize[0] | 0x20]) + resize[1:] + block()))
            self.end(raw)


class FloodTests(AttackTestCase):
    def test_rapid_resets_end_the_connection(self):
        """CVE-2023-44487: each stream makes work, and none counts as open."""
        relay = self.start(source_rate="50", source_burst="500")
        question = protocol.request(b"\4", protocol.identifier(), SigningKey.generate())
        with Witness(self, relay):
            raw = self.raw(relay)
            for start in range(0, 20_000, 50):
                frames = b"".join(
                    frame(HEADERS, END_HEADERS, stream, block()) + frame(DATA, END_STREAM, stream, question)
                    + frame(RESET, 0, stream, (8).to_bytes(4))
                    for stream in range(2 * start + 1, 2 * start + 101, 2))
                if self.push(raw, frames, 1):
                    break
            self.end(raw)

    def test_control_frames_without_end_end_the_connection(self):
        relay = self.start()
        with Witness(self, relay):
            for flood in [frame(PING, 0, 0, bytes(8)), frame(SETTINGS, 0, 0), setting(4, 65_535), frame(PRIORITY, 0, 1, bytes(5))]:
                raw = self.raw(relay)
                if not self.push(raw, flood * 1_000, 300):
                    self.end(raw)

    def test_frames_without_end_that_are_ignored_cost_little(self):
        relay = self.start()
        with Witness(self, relay):
            for flood in [frame(0xEE, 0, 0, b"x"), frame(WINDOW_UPDATE, 0, 0, (1).to_bytes(4))]:
                self.push(self.raw(relay), flood * 1_000, 50)

    def test_empty_data_without_end_ends_the_connection(self):
        relay = self.start()
        with Witness(self, relay):
            raw = self.raw(relay, START + frame(HEADERS, END_HEADERS, 1, block()))
            self.push(raw, frame(DATA, 0, 1) * 1_000, 100)
            self.end(raw)


class WindowTests(AttackTestCase):
    def test_answers_without_a_window_end_with_their_time(self):
        relay = self.start(answer_time="2s")
        person = self.person(relay)
        mailbox = person.mailbox()
        person.send(mailbox, bytes(16_000))
        with Witness(self, relay):
            raws = [self.raw(relay, PREFACE + setting(4, 0)) for _ in range(4)]
            for raw in raws:
                self.push(raw, b"".join(
                    frame(HEADERS, END_HEADERS, stream, block()) + frame(DATA, END_STREAM, stream, protocol.get(mailbox))
                    for stream in range(1, 200, 2)), 1)
            for raw in raws:
                received = b""
                while received.count(frame(RESET, 0, 199)[3:9]) < 1:
                    received += raw.recv(65_536)
                self.assertNotIn(bytes(100), received)

    def test_a_window_of_a_few_bytes_at_a_time_extends_no_time(self):
        relay = self.start(answer_time="2s")
        person = self.person(relay)
        mailbox = person.mailbox()
        person.send(mailbox, bytes(16_000))
        with Witness(self, relay):
            raw = self.raw(relay, PREFACE + setting(4, 0) + frame(HEADERS, END_HEADERS, 1, block())
                           + frame(DATA, END_STREAM, 1, protocol.get(mailbox)))
            received, end = b"", time.monotonic() + PATIENCE
            while frame(RESET, 0, 1)[3:9] not in received:
                self.assertLess(time.monotonic(), end)
                raw.sendall(frame(WINDOW_UPDATE, 0, 1, (1).to_bytes(4)))
                raw.settimeout(0.05)
                try:
                    received += raw.recv(65_536)
                except TimeoutError:
                    pass


if __name__ == "__main__":
    unittest.main()
