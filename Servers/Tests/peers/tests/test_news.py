"""News: arrivals for a listener, as server-sent events with a resume point."""

import struct
import subprocess
import time

import h2.events
from nacl.signing import SigningKey

from . import protocol
from .support import PROGRAM, RelayTestCase


class NewsTests(RelayTestCase):
    def listening(self, relay, mailboxes=None):
        """A client with a listener, its mailbox, its key and its position."""
        name, key = protocol.listener(), SigningKey.generate()
        client = protocol.Client(self.http1(relay, name).exchange)
        mailbox = client.mailbox()
        tag, fields = client.ask(protocol.listen(key, [mailbox] + (mailboxes or [])))
        self.assertEqual(tag, 9)
        return client, name, mailbox, key, fields[:32]

    def arrived(self, client, key, position):
        tag, fields = client.ask(protocol.arrivals(key, position))
        count = struct.unpack(">H", fields[32:34])[0]
        return fields[:32], [fields[34 + 24 * index:58 + 24 * index] for index in range(count)]

    def test_a_message_is_news_and_arrivals_name_its_mailbox(self):
        relay = self.start()
        client, name, mailbox, key, position = self.listening(relay)
        stream = self.news(relay, name)
        self.assertEqual(stream.next(), "news", "a first stream asks once")
        self.assertEqual(self.arrived(client, key, position)[1], [])
        self.person(relay).send(mailbox, b"x")
        self.assertEqual(stream.next(), "news")
        position, mailboxes = self.arrived(client, key, position)
        self.assertEqual(mailboxes, [mailbox.recipient])
        self.assertEqual(self.arrived(client, key, position)[1], [])

    def test_nothing_is_missed_between_two_streams(self):
        relay = self.start()
        _, name, mailbox, _, _ = self.listening(relay)
        first = self.news(relay, name)
        first.next()
        first.close()
        quiet = self.news(relay, name, first.last)
        self.assertEqual(quiet.next(), "open")
        quiet.close()
        self.person(relay).send(mailbox, b"x")
        self.assertEqual(self.news(relay, name, quiet.last).next(), "news")

    def test_after_a_restart_the_listener_is_unknown_and_listens_again(self):
        relay = self.start()
        client, name, mailbox, key, position = self.listening(relay)
        stream = self.news(relay, name)
        stream.next()
        relay.kill()
        self.assertIsNone(stream.next())
        relay = self.start()
        again = self.news(relay, name, stream.last)
        self.assertEqual(again.next(), "reset")
        client = protocol.Client(self.http1(relay, name).exchange)
        with self.assertRaisesRegex(protocol.Refused, "auth"):
            client.ask(protocol.arrivals(key, position))
        client.ask(protocol.listen(key, [mailbox]))
        with self.assertRaisesRegex(protocol.Refused, "auth"):
            client.ask(protocol.arrivals(key, position))
        self.person(relay).send(mailbox, b"x")
        self.assertEqual(again.next(), "news")

    def test_nothing_is_said_of_mailboxes_without_their_keys(self):
        relay = self.start()
        mailbox = self.person(relay).mailbox()
        stolen = protocol.Mailbox(mailbox.recipient, mailbox.sender, SigningKey.generate(), None)
        _, name, own, _, _ = self.listening(relay, [stolen])
        stream = self.news(relay, name)
        stream.next()
        self.person(relay).send(mailbox, b"not for them")
        self.person(relay).send(own, b"for them")
        self.assertEqual(stream.next(), "news")
        self.assertTrue(stream.last.endswith(".1"), stream.last)

    def test_a_silent_stream_says_that_it_lives(self):
        relay = self.start(silence="1s")
        stream = self.news(relay, protocol.listener())
        self.assertEqual(stream.next(), "reset")
        self.assertEqual(stream.next(), ":")
        self.assertEqual(stream.next(), ":")

    def test_silence_is_counted_from_the_latest_event(self):
        """A client gives up a stream after 75 s: a comment after up to twice the time would be too late."""
        relay = self.start(silence="12s")
        _, name, mailbox, _, _ = self.listening(relay)
        stream = self.news(relay, name)
        self.assertEqual(stream.next(), "news")
        begun = time.monotonic()
        time.sleep(3)
        self.person(relay).send(mailbox, b"x")
        self.assertEqual(stream.next(), "news")
        self.assertEqual(stream.next(), ":")
        self.assertGreater(time.monotonic() - begun, 14.5)
        self.assertLess(time.monotonic() - begun, 22)

    def test_a_second_stream_ends_the_first(self):
        relay = self.start()
        _, name, mailbox, _, _ = self.listening(relay)
        first = self.news(relay, name)
        first.next()
        second = self.news(relay, name, first.last)
        self.assertEqual(second.next(), "open")
        self.assertIsNone(first.next())
        self.person(relay).send(mailbox, b"x")
        self.assertEqual(second.next(), "news")

    def test_streams_go_over_http2_beside_exchanges(self):
        relay = self.start()
        name, key = protocol.listener(), SigningKey.generate()
        client = self.http2(relay, name)
        person = protocol.Client(client.exchange)
        mailbox = person.mailbox()
        person.ask(protocol.listen(key, [mailbox]))
        stream = client.start("GET", "/v1/news", accept="text/event-stream")
        client.wait(stream, h2.events.DataReceived)
        self.person(relay).send(mailbox, b"x")
        while b"event: news\nid: " not in self.text(client, stream).replace(b"event: news", b"", 1):
            client.read()
        self.assertEqual(person.take_all(mailbox), [b"x"])

    @staticmethod
    def text(client, stream) -> bytes:
        return b"".join(event.data for event in client.events[stream] if isinstance(event, h2.events.DataReceived))

    def test_streams_of_a_source_are_bounded(self):
        relay = self.start(source_streams="2")
        streams = [self.news(relay, protocol.listener()) for _ in range(3)]
        self.assertEqual([stream.status for stream in streams], [200, 200, 429])
        self.assertEqual(relay.metric("porter_relay_streams"), 2)

    def test_only_the_relay_bounds_what_a_trusted_source_has(self):
        limits = {"source_streams": "2", "source_listeners": "2", "source_connections": "2"}
        relay = self.start(trusted_sources="127.0.0.1", **limits)
        streams = [self.news(relay, protocol.listener()) for _ in range(5)]
        self.assertEqual([stream.status for stream in streams], [200] * 5)
        self.assertEqual(relay.metric("porter_relay_streams"), 5)

    def test_no_header_names_the_source(self):
        relay = self.start(trusted_sources="192.0.2.1", source_rate="1", source_burst="2")
        client = self.http1(relay)
        request = protocol.request(b"\4", protocol.identifier(), SigningKey.generate())
        named = {"X-Forwarded-For": "192.0.2.1", "X-Real-IP": "192.0.2.1", "Forwarded": "for=192.0.2.1"}
        self.assertIn(429, [client.post(request, named)[0] for _ in range(20)])

    def test_a_client_beyond_the_listeners_can_send_and_fetch(self):
        relay = self.start(source_listeners="1")
        self.person(relay).mailbox()
        protocol.Client(self.http1(relay, protocol.listener()).exchange).mailbox()
        late = protocol.Client(self.http1(relay, protocol.listener()).exchange)
        mailbox = late.mailbox()
        late.send(mailbox, b"x")
        self.assertEqual(late.take_all(mailbox), [b"x"])


class LimitTests(RelayTestCase):
    # Of one request. The burst is for six of them.
    signatures, burst = 256, 100

    def test_a_source_with_too_many_requests_is_told_when_to_come_back(self):
        relay = self.start(source_rate="1", source_burst="5")
        client = self.http1(relay)
        request = protocol.request(b"\4", protocol.identifier(), SigningKey.generate())
        results = []
        while not results or results[-1][0] == 200:
            results.append(client.post(request))
        self.assertGreaterEqual(len(results), 6)
        status, headers, _ = results[-1]
        self.assertEqual((status, headers["retry-after"]), (429, "1"))
        self.assertNotIn("porter-limit", headers)

    def test_a_request_with_many_signatures_counts_as_several(self):
        relay = self.start(source_rate="1", source_burst=str(self.burst))
        client, other = self.http1(relay), self.http1(relay, source="127.0.0.2")

        def check(count: int) -> bytes:
            return protocol.request(b"\x0e" + count.to_bytes(2, "big") + bytes(88 * count))

        begun, answered = time.monotonic(), 0
        while client.post(check(self.signatures))[0] != 429:
            answered += 1
            # With each second, one more may take what is left.
            self.assertLessEqual(answered, 7 + time.monotonic() - begun)
        self.assertGreaterEqual(answered, 6, "17 of the hundred each, and the last may take what is left")
        self.assertNotIn(429, [other.post(check(8))[0] for _ in range(self.burst * 9 // 10)])

    def test_no_rate_counts_for_a_trusted_source(self):
        rates = {"source_rate": "1", "source_burst": "1", "mailbox_rate": "1", "mailbox_burst": "1", "creation_rate": "1", "creation_burst": "1"}
        strange = self.start(trusted_sources="192.0.2.0/24,2001:db8::1", **rates)
        client = self.http1(strange)
        request = protocol.request(b"\4", protocol.identifier(), SigningKey.generate())
        self.assertIn(429, [client.post(request)[0] for _ in range(20)])
        relay = self.start("other", trusted_sources="192.0.2.0/24, 127.0.0.1", **rates)
        for client in [self.http1(relay), self.http2(relay)]:
            person = protocol.Client(client.exchange)
            mailboxes = [person.mailbox() for _ in range(5)]
            for _ in range(20):
                person.send(mailboxes[0], b"x")
        done = subprocess.run([PROGRAM, "check", f"--data={self.folder.name}/third", "--trusted-sources=10.0.0.1/8"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("trusted-sources: expected addresses or networks", done.stderr)

    def test_a_mailbox_with_too_many_requests_is_limited_and_others_are_not(self):
        relay = self.start(mailbox_rate="1", mailbox_burst="5")
        client = self.http1(relay)
        person = protocol.Client(client.exchange)
        mailbox, other = person.mailbox(), person.mailbox()
        for _ in range(5):
            person.send(mailbox, b"x")
        status, headers, _ = client.post(protocol.send(mailbox, b"x"))
        while status == 200:
            status, headers, _ = client.post(protocol.send(mailbox, b"x"))
        self.assertEqual((status, headers["porter-limit"], headers["retry-after"]), (429, "mailbox", "1"))
        person.send(other, b"x")
        # Without the key, a client cannot learn that the mailbox is limited.
        with self.assertRaisesRegex(protocol.Refused, "auth"):
            person.ask(protocol.request(b"\3" + protocol.identifier() + b"\0x", mailbox.sender, SigningKey.generate()))

    def test_one_sender_does_not_use_up_the_share_of_others_in_a_mailbox_that_is_open_to_all(self):
        relay = self.start(mailbox_rate="1", mailbox_burst="5")
        client, hostile = self.http1(relay), self.http1(relay, source="127.0.0.2")
        person = protocol.Client(client.exchange)
        open_to_all, secured = person.mailbox(secured=False), person.mailbox()
        for mailbox, is_shared in [(open_to_all, False), (secured, True)]:
            statuses = [hostile.post(protocol.send(mailbox, b"x"))[0]]
            # Until the share is used up: after a second there is more.
            while statuses[-1] != 429:
                statuses.append(hostile.post(protocol.send(mailbox, b"x"))[0])
            self.assertEqual(statuses[0], 200)
            # The signatures of a secured mailbox show that all of these are one sender's. There may be more for one of them by then.
            statuses = [client.post(protocol.send(mailbox, b"x"))[0] for _ in range(3)]
            self.assertEqual(429 in statuses, is_shared, statuses)

    def test_a_source_that_makes_mailboxes_without_end_is_limited(self):
        relay = self.start(creation_rate="1", creation_burst="5")
        client = self.http1(relay)
        person = protocol.Client(client.exchange)
        mailboxes = [person.mailbox() for _ in range(5)]
        status = 200
        while status == 200:
            status, _, _ = client.post(protocol.create(SigningKey.generate()))
        self.assertEqual(status, 429)
        person.send(mailboxes[0], b"x")

    def test_connections_of_a_source_are_bounded(self):
        relay = self.start(source_connections="3")
        clients = [self.http1(relay) for _ in range(3)]
        request = protocol.request(b"\4", protocol.identifier(), SigningKey.generate())
        for client in clients:
            client.exchange(request)
        with self.assertRaises(OSError):
            self.http1(relay).exchange(request)
        clients[0].exchange(request)
