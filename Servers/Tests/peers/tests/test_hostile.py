"""A relay's defences against slow, faulty or greedy clients."""

import os
import random
import select
import socket
import ssl
import subprocess
import unittest
import xml.etree.ElementTree

import h2.errors
import h2.events
import h2.settings
from nacl.signing import SigningKey

from . import protocol
from .support import PATIENCE, Relay, RelayTestCase, connect, context

HEAD = (
    b"POST /v1/exchange HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: 100\r\n")


def rest(raw: ssl.SSLSocket) -> bytes:
    """All bytes until the other side closes."""
    received = b""
    try:
        while part := raw.recv(65_536):
            received += part
    except (ConnectionError, ssl.SSLError):
        pass
    return received


class TLSTests(RelayTestCase):
    def probe(self, port: int, *flags: str) -> str:
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *flags], input="", capture_output=True, text=True)
        return done.stdout + done.stderr

    def test_only_tls_1_3_is_spoken(self):
        relay = self.start()
        self.assertIn("New, TLSv1.3", self.probe(relay.port, "-tls1_3"))
        for version in ["-tls1_2", "-tls1_1", "-tls1"]:
            text = self.probe(relay.port, version, "-cipher", "ALL:@SECLEVEL=0")
            self.assertNotIn("New, TLSv1", text, version)
            self.assertIn("Cipher is (NONE)", text, version)

    def test_a_scanner_finds_nothing_that_is_old_or_weak(self):
        relay = self.start()
        done = subprocess.run(
            ["sslscan", "--xml=-", f"127.0.0.1:{relay.port}"], capture_output=True, text=True, timeout=120)
        test = xml.etree.ElementTree.fromstring(done.stdout).find("ssltest")
        spoken = [f"{each.get('type')} {each.get('version')}" for each in test.iter("protocol") if each.get("enabled") == "1"]
        self.assertEqual(spoken, ["tls 1.3"])
        self.assertEqual({each.get("cipher") for each in test.iter("cipher")}, {
            "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"})
        self.assertTrue(all(int(each.get("bits")) >= 128 for each in [*test.iter("cipher"), *test.iter("group")]))
        self.assertEqual([each.get("supported") for each in test.iter("renegotiation")], ["0"])
        self.assertEqual({each.get("vulnerable") for each in test.iter("heartbleed")}, {"0"})
        certificate = test.find("certificates/certificate")
        self.assertEqual(certificate.find("pk").get("error"), "false")
        self.assertEqual(certificate.findtext("signature-algorithm"), "ecdsa-with-SHA256")
        self.assertEqual(certificate.findtext("expired"), "false")

    def test_protocols_are_negotiated_and_early_data_is_not(self):
        relay = self.start()
        self.assertIn("ALPN protocol: h2", self.probe(relay.port, "-alpn", "h2,http/1.1"))
        self.assertIn("ALPN protocol: http/1.1", self.probe(relay.port, "-alpn", "http/1.1"))
        text = self.probe(relay.port, "-tls1_3")
        self.assertIn("No ALPN negotiated", text)
        self.assertIn("Early data was not sent", text)
        self.assertNotIn("Max Early Data: 1", text)

    def test_what_is_no_tls_is_closed(self):
        relay = self.start()
        for garbage in [b"GET / HTTP/1.1\r\n\r\n", os.urandom(5_000), b"\x16\x03\x01\xff\xff" + bytes(70_000)]:
            with socket.create_connection(("127.0.0.1", relay.port), timeout=120) as raw:
                raw.sendall(garbage)
                self.assertNotIn(b"HTTP", rest(raw))
        self.assertEqual(relay.operator("/ready")[0], 200)


class SlowTests(RelayTestCase):
    """In these tests a request has a second to arrive."""

    def test_a_handshake_that_never_ends_is_cut_off(self):
        relay = self.start(request_time="1s")
        with socket.create_connection(("127.0.0.1", relay.port), timeout=120) as raw:
            self.assertEqual(rest(raw), b"")

    def test_a_head_that_comes_byte_by_byte_is_cut_off(self):
        relay = self.start(request_time="1s")
        with connect(relay.port, ["http/1.1"]) as raw:
            # Each byte is progress, but none extends the time, so the connection ends in the middle.
            with self.assertRaises((ConnectionError, ssl.SSLError)):
                for byte in HEAD * 1_000_000:
                    raw.sendall(bytes([byte]))
                    raw.settimeout(0.01)
                    try:
                        if raw.recv(1) == b"":
                            raise ConnectionError
                    except TimeoutError:
                        pass

    def test_a_body_that_never_ends_is_answered_with_408(self):
        relay = self.start(request_time="1s")
        with connect(relay.port, ["http/1.1"]) as raw:
            raw.sendall(HEAD + b"\r\n" + b"half")
            self.assertTrue(rest(raw).startswith(b"HTTP/1.1 408"))
        client = self.http2(relay)
        stream = client.connection.get_next_available_stream_id()
        client.connection.send_headers(stream, [
            (":method", "POST"), (":path", "/v1/exchange"), (":scheme", "https"), (":authority", "x"),
            ("content-type", "application/octet-stream")])
        client.events[stream] = []
        client.flush()
        events = client.wait(stream, (h2.events.ResponseReceived, h2.events.StreamReset))
        fields = [dict(event.headers)[":status"] for event in events if isinstance(event, h2.events.ResponseReceived)]
        self.assertEqual(fields, ["408"])

    def test_a_resting_connection_is_closed_after_its_time(self):
        relay = self.start(idle_time="1s")
        client = self.http1(relay)
        client.exchange(protocol.request(b"\4", protocol.identifier(), SigningKey.generate()))
        self.assertEqual(rest(client.connection.sock), b"")
        other = self.http2(relay)
        while other.read():
            pass


class SizeTests(RelayTestCase):
    def test_large_heads_and_bodies_are_refused_in_bounded_memory(self):
        relay = self.start()
        before = relay.resident()
        with connect(relay.port, ["http/1.1"]) as raw:
            raw.sendall(HEAD + b"X: " + b"a" * 20_000 + b"\r\n\r\n")
            self.assertTrue(rest(raw).startswith(b"HTTP/1.1 431"))
        with connect(relay.port, ["http/1.1"]) as raw:
            raw.sendall(HEAD + b"".join(b"X%d: a\r\n" % number for number in range(200)) + b"\r\n")
            self.assertTrue(rest(raw).startswith(b"HTTP/1.1 4"))
        with connect(relay.port, ["http/1.1"]) as raw:
            raw.sendall(HEAD.replace(b"100", b"65537") + b"\r\n")
            self.assertTrue(raw.recv(65_536).startswith(b"HTTP/1.1 413"))
        with connect(relay.port, ["http/1.1"]) as raw:
            # No length is given, and the body never ends.
            with self.assertRaises((ConnectionError, ssl.SSLError)):
                raw.sendall(HEAD.replace(b"Content-Length: 100", b"Transfer-Encoding: chunked") + b"\r\n")
                for _ in range(1_000_000):
                    raw.sendall(b"10000\r\n" + bytes(0x10000) + b"\r\n")
        self.assertLess(relay.resident(), before + (64 << 20))
        self.assertEqual(relay.operator("/ready")[0], 200)

    def test_a_body_over_http2_is_bounded_too(self):
        client = self.http2(self.start())
        # As much as flow control allows before the answer.
        status, _, _ = client.result(client.start("POST", "/v1/exchange", bytes(65_000), content_type="application/octet-stream"))
        self.assertEqual(status, 200)
        stream = client.connection.get_next_available_stream_id()
        client.connection.send_headers(stream, [
            (":method", "POST"), (":path", "/v1/exchange"), (":scheme", "https"), (":authority", "x"),
            ("content-type", "application/octet-stream"), ("content-length", "70000")])
        client.events[stream] = []
        client.flush()
        self.assertEqual(dict(client.wait(stream, h2.events.ResponseReceived)[0].headers)[":status"], "413")


class MalformedTests(RelayTestCase):
    def test_requests_that_are_no_http_are_refused_one_by_one(self):
        relay = self.start()
        for garbage in [
            b"\r\n\r\n\0\0\0", b"POST\r\n\r\n", b"POST /v1/exchange HTTP/9.9\r\n\r\n", HEAD + b"Content-Length: 7\r\n\r\n",
            HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", HEAD.replace(b"100", b"-1") + b"\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", os.urandom(3_000),
        ]:
            with connect(relay.port, ["http/1.1"]) as raw:
                raw.sendall(garbage)
                raw.settimeout(120)
                self.assertNotIn(b" 200 ", rest(raw)[:20], garbage[:40])
        self.assertEqual(relay.operator("/ready")[0], 200)

    def test_random_and_truncated_requests_are_answered_each_with_a_refusal(self):
        seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
        with self.subTest(seed=seed):
            chance = random.Random(seed)
            relay = self.start()
            client = self.http1(relay)
            person = protocol.Client(client.exchange)
            mailbox = person.mailbox()
            whole = [
                protocol.send(mailbox, b"x"), protocol.get(mailbox), protocol.listen(mailbox.key, [mailbox] * 3),
                protocol.create(mailbox.key), protocol.request(b"\x0d" + bytes(32) + b"\0\1", key=mailbox.key)]
            for _ in range(400):
                request = bytearray(chance.choice(whole))
                if chance.random() < 0.5:
                    request = request[: chance.randrange(1, len(request))]
                for _ in range(chance.randrange(1, 4)):
                    request[chance.randrange(len(request))] = chance.randrange(256)
                answer = client.exchange(bytes(request))
                self.assertEqual(answer[0], 1)
                self.assertIn(answer[25], range(1, 12))
            self.assertEqual(relay.process.poll(), None)

    def test_http2_peers_that_break_its_rules_are_cut_off_and_others_are_not(self):
        relay = self.start()
        good = self.http2(relay)
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
        for frames in [
            os.urandom(4_000),
            b"\xff\xff\xff\0\0\0\0\0\1",  # a DATA frame of 16 MB on a stream that does not exist
            (b"\0\0\4\3\0\0\0\0\1" + b"\0\0\0\x08") * 1_000,  # RST_STREAM for idle streams
            (b"\0\0\x08\6\0\0\0\0\0" + bytes(8)) * 100_000,  # PING without end
            (b"\0\0\0\4\0\0\0\0\0") * 100_000,  # SETTINGS without end
        ]:
            with connect(relay.port, ["h2"]) as raw:
                try:
                    raw.sendall(preface + frames)
                except (ConnectionError, ssl.SSLError):
                    pass
                rest(raw)
        status, _, _ = good.result(good.start("GET", "/health"))
        self.assertEqual(status, 200)

    def test_rapid_resets_end_a_connection(self):
        relay = self.start(source_rate="1", source_burst="1")
        client = self.http2(relay)
        try:
            for _ in range(2_000):
                stream = client.start("GET", "/health")
                client.connection.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
                client.flush()
            while client.read():
                pass
        except (ConnectionError, ssl.SSLError):
            pass
        self.assertEqual(relay.operator("/ready")[0], 200)


class ReadingTests(RelayTestCase):
    """Clients that ask, but do not read the answers."""

    BODY = bytes(16_000)
    COUNT = 4_000

    def questions(self, relay: Relay) -> list[bytes]:
        person = self.person(relay)
        mailboxes = [person.mailbox() for _ in range(8)]
        for mailbox in mailboxes:
            person.send(mailbox, self.BODY)
        return [protocol.get(mailbox) for mailbox in mailboxes]

    def pipeline(self, relay: Relay, questions: list[bytes]) -> ssl.SSLSocket:
        """Sends questions until the relay stops reading, or all are sent."""
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        plain.settimeout(PATIENCE)
        plain.connect(("127.0.0.1", relay.port))
        raw = context(["http/1.1"]).wrap_socket(plain, server_hostname="localhost")
        self.addCleanup(raw.close)
        raw.settimeout(3)
        head = HEAD.replace(b"Content-Length: 100\r\n", b"")
        try:
            for number in range(self.COUNT):
                question = questions[number % len(questions)]
                raw.sendall(head + b"Content-Length: %d\r\n\r\n" % len(question) + question)
        except (TimeoutError, ConnectionError, ssl.SSLError):
            pass
        return raw

    def answered(self, relay: Relay) -> float:
        """The number of messages the relay has given once it gives no more, even while it answers others many times."""
        person, last = self.person(relay), -1.0
        mailbox = person.mailbox()
        while (count := relay.metric('porter_relay_exchanges_total{command="getMessage",result="done"}')) != last:
            last = count
            for _ in range(50):
                self.assertEqual(person.take_all(mailbox), [])
        return count

    def test_answers_that_are_not_read_do_not_pile_up(self):
        relay = self.start()
        questions = self.questions(relay)
        before = relay.resident()
        self.pipeline(relay, questions)
        answered = self.answered(relay)
        grown = relay.resident() - before
        print(f"a client that does not read: {answered:.0f} answers, {grown >> 10} kB")
        # No more than the system's buffers take.
        self.assertLess(answered, self.COUNT / 2)
        self.assertLess(grown, self.COUNT * len(self.BODY) / 3)

    def test_a_connection_whose_answers_are_not_read_ends(self):
        relay = self.start(answer_time="1s")
        raw = self.pipeline(relay, self.questions(relay))
        raw.settimeout(PATIENCE)
        self.assertLess(rest(raw).count(b"HTTP/1.1 200"), self.COUNT)

    def test_a_stream_whose_answer_is_not_read_is_reset(self):
        relay = self.start(answer_time="1s")
        [question, *_] = self.questions(relay)
        client = self.http2(relay)
        client.connection.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 100})
        client.flush()
        stream = client.start("POST", "/v1/exchange", question, content_type="application/octet-stream")
        # Gives the stream no more flow-control window.
        client.connection.acknowledge_received_data = lambda *_: None
        client.wait(stream, h2.events.StreamReset)
        self.assertEqual(client.result(client.start("GET", "/health"))[0], 200)

    def test_a_client_that_reads_late_gets_every_answer(self):
        relay = self.start()
        questions = self.questions(relay)
        head = HEAD.replace(b"Content-Length: 100\r\n", b"")
        asked = b"".join(
            head + b"Content-Length: %d\r\n\r\n" % len(each) + each
            for each in (questions[number % len(questions)] for number in range(300)))
        raw = connect(relay.port, ["http/1.1"])
        self.addCleanup(raw.close)
        # In one thread, since an OpenSSL connection must not be written in one thread and read in another.
        raw.setblocking(False)
        self.write(raw, asked)
        self.answered(relay)
        received = b""
        while received.count(b"HTTP/1.1 200") < 300 or len(received) < 300 * len(self.BODY):
            received += self.read(raw)

    def write(self, raw: ssl.SSLSocket, data: bytes) -> None:
        """Writes all the data to a non-blocking connection."""
        while data:
            try:
                data = data[raw.send(data):]
            except ssl.SSLWantWriteError:
                self.assertTrue(select.select([], [raw], [], PATIENCE)[1], "the relay reads no more")

    def read(self, raw: ssl.SSLSocket) -> bytes:
        """Waits for the next data on a non-blocking connection."""
        while True:
            try:
                part = raw.recv(65_536)
                self.assertTrue(part, "the connection ended")
                return part
            except ssl.SSLWantReadError:
                self.assertTrue(select.select([raw], [], [], PATIENCE)[0], "no answer came")


class IdleTests(RelayTestCase):
    def test_many_idle_connections_cost_little_and_keep_none_out(self):
        count = int(os.environ.get("PORTER_IDLE_CONNECTIONS", "300"))
        relay = self.start(connections=str(count + 50))
        before = relay.resident()
        idle = []
        self.addCleanup(lambda: [each.close() for each in idle])
        for number in range(count):
            idle.append(connect(relay.port, ["h2" if number % 2 else "http/1.1"]))
        person = self.person(relay)
        mailbox = person.mailbox()
        person.send(mailbox, b"through")
        self.assertEqual(person.take_all(mailbox), [b"through"])
        each = (relay.resident() - before) / count
        print(f"{count} idle connections: {each / 1024:.0f} kB each")
        self.assertLess(each, 256 * 1024)


if __name__ == "__main__":
    unittest.main()
