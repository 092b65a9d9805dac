"""Exchanges over HTTP/1.1 and HTTP/2, by third-party clients."""

import struct
import subprocess
import tempfile

from nacl.signing import SigningKey

from . import protocol
from .support import RelayTestCase, connect


class ExchangeTests(RelayTestCase):
    def test_a_message_goes_from_one_person_to_another_over_both_versions_of_http(self):
        relay = self.start()
        one, two = protocol.Client(self.http1(relay).exchange), protocol.Client(self.http2(relay).exchange)
        mailbox = one.mailbox()
        for number in range(3):
            two.send(mailbox, b"message %d" % number)
        self.assertEqual(one.take_all(mailbox), [b"message 0", b"message 1", b"message 2"])
        self.assertEqual(two.take_all(mailbox), [])

    def test_the_largest_message_and_one_byte_more(self):
        person = self.person(self.start())
        mailbox = person.mailbox()
        person.send(mailbox, bytes(16_384))
        with self.assertRaisesRegex(protocol.Refused, "size"):
            person.send(mailbox, bytes(16_385))
        self.assertEqual(person.take_all(mailbox), [bytes(16_384)])

    def test_many_streams_of_one_connection_are_answered_each(self):
        relay = self.start()
        person = self.person(relay)
        mailbox = person.mailbox()
        client = self.http2(relay)
        # The settings' bound on streams must arrive first.
        client.post(protocol.get(mailbox))
        streams = {}
        for number in range(90):
            sent = protocol.send(mailbox, b"%d" % number)
            streams[client.start("POST", "/v1/exchange", sent, content_type="application/octet-stream")] = sent
        for stream, sent in streams.items():
            status, _, body = client.result(stream)
            self.assertEqual((status, protocol.answer(body, sent)[0]), (200, 1))
        self.assertEqual(sorted(map(int, person.take_all(mailbox))), list(range(90)))

    def test_resets_that_cross_the_end_of_their_streams_do_not_end_the_connection(self):
        """A server under load lost its news for seconds: 200 in a connection's life were too many, and so were 200 in half a minute."""
        client = self.http2(self.start())
        sent = protocol.request(b"\4", protocol.identifier(), SigningKey.generate())
        client.exchange(sent)
        ended = client.connection.highest_outbound_stream_id
        # RST_STREAM with CANCEL, RFC 9113, section 6.4. The library refuses to write one.
        client.socket.sendall(struct.pack(">IBII", 4 << 8 | 3, 0, ended, 8) * 1_000)
        for _ in range(3):
            self.assertEqual(client.post(sent)[0], 200)

    def test_pipelined_requests_are_answered_in_order(self):
        relay = self.start()
        sent = [protocol.request(b"\4", protocol.identifier(), SigningKey.generate()) for _ in range(20)]
        with connect(relay.port, ["http/1.1"]) as raw:
            for body in sent:
                raw.sendall(
                    b"POST /v1/exchange HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"
                    b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            received = b""
            while received.count(b"HTTP/1.1 200") < 20 or not received.endswith(b"\2\1"):
                received += raw.recv(65_536)
        self.assertEqual([received.find(body[1:25]) for body in sent],
                         sorted(received.find(body[1:25]) for body in sent))

    def test_curl_pins_the_key_and_refuses_another(self):
        relay = self.start()
        body = protocol.request(b"\4", protocol.identifier(), SigningKey.generate())
        pin = relay.fingerprint.replace("-", "+").replace("_", "/") + "="
        with tempfile.NamedTemporaryFile() as file:
            file.write(body)
            file.flush()
            for version in ["--http1.1", "--http2"]:
                def curl(key: str) -> subprocess.CompletedProcess:
                    return subprocess.run(
                        ["curl", "--silent", "--insecure", version, "--pinnedpubkey", "sha256//" + key,
                         "--header", "Content-Type: application/octet-stream", "--data-binary", "@" + file.name,
                         f"https://127.0.0.1:{relay.port}/v1/exchange"], capture_output=True)
                done = curl(pin)
                self.assertEqual(done.returncode, 0)
                with self.assertRaisesRegex(protocol.Refused, "auth"):
                    protocol.answer(done.stdout, body)
                self.assertEqual(curl("A" * 43 + "=").returncode, 90, "another key")


class SignatureTests(RelayTestCase):
    """Requests that are replayed, changed, or about other people's mailboxes."""

    def test_a_replayed_request_changes_nothing_more(self):
        relay = self.start()
        client = self.http1(relay)
        person = protocol.Client(client.exchange)
        mailbox = person.mailbox()
        sent = protocol.send(mailbox, b"once")
        answers = {client.exchange(sent) for _ in range(5)}
        self.assertEqual(len(answers), 1)
        made = protocol.create(mailbox.key, mailbox.sender_key)
        self.assertEqual(client.exchange(made), client.exchange(made))
        self.assertEqual(person.take_all(mailbox), [b"once"])
        client.exchange(sent)
        self.assertEqual(person.take_all(mailbox), [], "also after it was acknowledged")

    def test_a_signature_is_valid_for_its_request_only(self):
        person = self.person(self.start())
        mine, other = person.mailbox(), person.mailbox()
        for changed in self.changes(protocol.send(mine, b"text"), other):
            with self.assertRaisesRegex(protocol.Refused, "auth|syntax|version"):
                person.ask(changed)
        self.assertEqual((person.take_all(mine), person.take_all(other)), ([], []))

    @staticmethod
    def changes(request: bytes, other: protocol.Mailbox) -> list[bytes]:
        """The request with a changed byte in each field, another mailbox, no signature, and one by another key."""
        changed = []
        for offset in [0, 1, 24, 26, 89, 91, 115, 116, 120, 141]:
            changed.append(request[:offset] + bytes([request[offset] ^ 0x40]) + request[offset + 1:])
        changed.append(request[:91] + other.sender + request[115:])
        changed.append(request[:25] + b"\0" + request[90:])
        command, entity = request[115:], request[91:115]
        changed.append(protocol.request(command, entity, SigningKey.generate()))
        changed.append(protocol.request(command, entity, other.sender_key))
        return changed

    def test_other_peoples_mailboxes_and_those_that_do_not_exist_get_the_same_answer(self):
        person = self.person(self.start())
        mailbox, stranger = person.mailbox(), SigningKey.generate()
        for command in [b"\4", b"\x11", b"\5" + protocol.identifier(), b"\x09", b"\x08", b"\2" + bytes(stranger.verify_key)]:
            for entity in [mailbox.recipient, mailbox.sender, protocol.identifier()]:
                with self.assertRaisesRegex(protocol.Refused, "auth"):
                    person.ask(protocol.request(command, entity, stranger))
        person.send(mailbox, b"still there")
        self.assertEqual(person.take_all(mailbox), [b"still there"])
