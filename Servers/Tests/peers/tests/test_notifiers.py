"""Notifications for a service, which may have several servers."""

import base64
import json
import sqlite3
import time

from nacl.signing import SigningKey

from . import protocol
from .support import JetStreamTestCase, News, Relay, RelayTestCase


class NotifierTestCase(RelayTestCase):
    def due(self, client: protocol.Client, service: SigningKey, limit: int = 256):
        tag, fields = client.ask(protocol.due_notifications(service, limit))
        self.assertEqual(tag, 8)
        return protocol.notifications(fields)

    def watched(self, client: protocol.Client, service: SigningKey) -> protocol.Watched:
        watched = protocol.Watched.make(client)
        tag, fields = client.ask(protocol.subscribe_notifiers(service, [(watched.notifier, watched.notifier_key)]))
        self.assertEqual((tag, fields), (5, b"\0\1\0"))
        return watched

    def head(self, client: protocol.Client, mailbox: protocol.Mailbox) -> bytes:
        return client.ask(protocol.get(mailbox))[1][:24]

    def again(self, client: protocol.Client, service: SigningKey) -> protocol.Notification:
        """Waits for a notification that was given but not acknowledged: the relay says when it is due again, and gives it again."""
        while True:
            wait, found = self.due(client, service)
            if found:
                return found[0]
            self.assertIsNotNone(wait)

    def taken(self, relay: Relay) -> tuple[protocol.Client, SigningKey, protocol.Watched, list[News]]:
        """A recipient and a service listen. The service has pushed a notification, which the recipient was woken for too."""
        service, names = SigningKey.generate(), [protocol.listener(), protocol.listener()]
        recipient, server = [protocol.Client(self.http1(relay, name).exchange) for name in names]
        watched = self.watched(server, service)
        recipient.ask(protocol.listen(SigningKey.generate(), [watched.mailbox]))
        streams = [self.news(relay, name) for name in names]
        for stream in streams:
            stream.next()
        self.person(relay).ask(protocol.send(watched.mailbox, b"x", notify=True))
        self.assertEqual([stream.next() for stream in streams], ["news", "news"])
        taken = self.again(server, service)
        server.ask(protocol.acknowledge_notifications(service, [taken.nonce]))
        self.assertEqual(self.due(server, service)[1], [])
        return server, service, watched, streams


class NotifierTests(NotifierTestCase):
    def test_a_notification_says_to_its_recipient_which_message_waits(self):
        client, service = self.person(self.start()), SigningKey.generate()
        watched = self.watched(client, service)
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        client.ask(protocol.send(watched.mailbox, b"quiet"))
        _, [notification] = self.due(client, service)
        self.assertEqual(notification.notifier, watched.notifier)
        self.assertEqual(len(notification.metadata), 144)
        self.assertEqual(notification.message(watched.keys), self.head(client, watched.mailbox))
        client.ask(protocol.acknowledge_notifications(service, [notification.nonce]))
        self.assertEqual(self.due(client, service), (None, []))

    def test_one_exchange_acknowledges_and_gives_and_says_where_a_message_waits(self):
        client, service = self.person(self.start()), SigningKey.generate()
        watched, own = self.watched(client, service), client.mailbox()
        entries = [(own.recipient, own.key), (own.recipient, SigningKey.generate()), (protocol.identifier(), own.key)]

        def take(nonces: list[bytes]) -> tuple[list[protocol.Notification], bytes]:
            tag, fields = client.ask(protocol.acknowledge_and_get_notifications(service, nonces, entries))
            self.assertEqual(tag, 13)
            _, found, rest = protocol.leading_notifications(fields)
            return found, rest

        self.assertEqual(take([]), ([], b"\0\3\0\2\2"))
        client.ask(protocol.send(own, b"a request"))
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        [first], states = take([])
        self.assertEqual(states, b"\0\3\1\2\2")
        self.assertEqual(first.message(watched.keys), self.head(client, watched.mailbox))
        client.ask(protocol.send(watched.mailbox, b"y", notify=True))
        [second], _ = take([first.nonce])
        self.assertNotEqual(second.nonce, first.nonce)
        self.assertEqual(take([second.nonce]), ([], b"\0\3\1\2\2"))
        self.assertEqual(self.due(client, service), (None, []))

    def test_a_notification_goes_with_its_message(self):
        client, service = self.person(self.start()), SigningKey.generate()
        watched = self.watched(client, service)
        for body in [b"gone", b"stays"]:
            client.ask(protocol.send(watched.mailbox, body, notify=True))
        client.ask(protocol.acknowledge(watched.mailbox, self.head(client, watched.mailbox)))
        _, [notification] = self.due(client, service)
        self.assertEqual(notification.message(watched.keys), self.head(client, watched.mailbox))

    def test_what_came_before_the_service_is_there_for_it(self):
        client = self.person(self.start())
        watched = protocol.Watched.make(client)
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        first, second = SigningKey.generate(), SigningKey.generate()
        for service in [first, second]:
            _, fields = client.ask(protocol.subscribe_notifiers(service, [(watched.notifier, watched.notifier_key)]))
            self.assertEqual(fields, b"\0\1\1")
        self.assertEqual(len(self.due(client, second)[1]), 1)
        self.assertEqual(self.due(client, first)[1], [], "it was taken from this one")

    def test_with_new_keys_the_earlier_notifications_end(self):
        client, service = self.person(self.start()), SigningKey.generate()
        watched = self.watched(client, service)
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        client.ask(protocol.request(b"\x08", watched.mailbox.recipient, watched.mailbox.key))
        self.assertEqual(self.due(client, service)[1], [])
        _, fields = client.ask(protocol.subscribe_notifiers(service, [(watched.notifier, watched.notifier_key)]))
        self.assertEqual(fields, b"\0\1\2", "auth")

    def test_another_service_gets_and_acknowledges_nothing(self):
        client, service, other = self.person(self.start()), SigningKey.generate(), SigningKey.generate()
        watched = self.watched(client, service)
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        self.assertEqual(self.due(client, other)[1], [])
        _, fields = client.ask(protocol.subscribe_notifiers(other, [(watched.notifier, SigningKey.generate())]))
        self.assertEqual(fields, b"\0\1\2")
        _, [notification] = self.due(client, service)
        client.ask(protocol.acknowledge_notifications(other, [notification.nonce]))
        again = self.again(client, service)
        self.assertEqual(again.message(watched.keys), notification.message(watched.keys))

    def test_a_push_waits_for_a_recipient_who_listens(self):
        relay, service = self.start(), SigningKey.generate()
        name, key = protocol.listener(), SigningKey.generate()
        client = protocol.Client(self.http1(relay, name).exchange)
        watched = self.watched(client, service)
        client.ask(protocol.listen(key, [watched.mailbox]))
        stream = self.news(relay, name)
        stream.next()
        other = self.person(relay)
        for _ in range(5):
            sent = time.monotonic()
            other.ask(protocol.send(watched.mailbox, b"x", notify=True))
            self.assertEqual(stream.next(), "news")
            wait, found = self.due(other, service)
            if time.monotonic() - sent < 1.5:
                break
            # On a busy machine the two seconds may have passed. The next push is another message's.
            head = self.head(other, watched.mailbox)
            other.ask(protocol.acknowledge_notifications(service, [each.nonce for each in found or [self.again(other, service)]]))
            client.ask(protocol.acknowledge(watched.mailbox, head))
        self.assertEqual(found, [])
        self.assertLessEqual(wait, 2_001)
        self.assertEqual(self.again(other, service).message(watched.keys), self.head(other, watched.mailbox))

    def test_what_a_recipient_leaves_is_pushed_again(self):
        """The recipient was listening, so the push was left to it at first."""
        server, service, watched, streams = self.taken(self.start())
        streams[0].close()
        self.assertEqual(streams[1].next(), "news")
        again = self.again(server, service)
        self.assertEqual(again.message(watched.keys), self.head(server, watched.mailbox))
        server.ask(protocol.acknowledge_notifications(service, [again.nonce]))
        self.assertEqual(self.due(server, service)[1], [], "no one listens any more")

    def test_a_service_is_woken(self):
        relay, service, name = self.start(), SigningKey.generate(), protocol.listener()
        client = protocol.Client(self.http1(relay, name).exchange)
        watched = self.watched(client, service)
        stream = self.news(relay, name)
        stream.next()
        self.person(relay).ask(protocol.send(watched.mailbox, b"x", notify=True))
        self.assertEqual(stream.next(), "news")
        self.assertEqual(len(self.due(client, service)[1]), 1)


class FileNotifierTests(NotifierTestCase):
    def test_what_a_recipient_leaves_while_the_file_is_in_use_is_pushed_again(self):
        relay = self.start()
        server, service, watched, streams = self.taken(relay)
        writer = sqlite3.connect(self.folder.name + "/data/relay.db", isolation_level=None)
        self.addCleanup(writer.close)
        writer.execute("BEGIN EXCLUSIVE")
        streams[0].close()
        while relay.metric("porter_relay_streams") > 1:
            time.sleep(0.01)
        # After the end of the stream.
        self.assertEqual(self.http1(relay).post(protocol.send(watched.mailbox, b"later"))[0], 503)
        writer.execute("ROLLBACK")
        self.assertEqual(streams[1].next(), "news")
        self.assertEqual(self.again(server, service).message(watched.keys), self.head(server, watched.mailbox))


class JetStreamNotifierTests(JetStreamTestCase, NotifierTests):
    def test_servers_of_a_service_share_its_notifications(self):
        relays = [self.start("one"), self.start("two")]
        clients, service = list(map(self.person, relays)), SigningKey.generate()
        watched = self.watched(clients[0], service)
        for _ in range(40):
            clients[0].ask(protocol.send(watched.mailbox, b"x", notify=True))
        given = []
        for turn in range(4):
            _, found = self.due(clients[turn % 2], service, limit=10)
            given += [each.message(watched.keys) for each in found]
            # At the other relay, not the one that gave them.
            clients[(turn + 1) % 2].ask(protocol.acknowledge_notifications(service, [each.nonce for each in found]))
        self.assertEqual((len(given), len(set(given))), (40, 40))
        self.assertEqual(self.due(clients[0], service), (None, []))

    def test_what_one_server_took_and_lost_goes_to_another(self):
        relay, service = self.start(), SigningKey.generate()
        client = self.person(relay)
        watched = self.watched(client, service)
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        _, [lost] = self.due(client, service)
        self.assertEqual(self.again(client, service).nonce, lost.nonce)

    def test_nodes_delete_unused_consumers(self):
        """Also those that an earlier relay has made without a limit."""
        relay = self.start()
        client, service = self.person(relay), SigningKey.generate()
        watched = self.watched(client, service)
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        name = base64.urlsafe_b64encode(bytes(service.verify_key)).decode().rstrip("=")
        consumer = {
            "durable_name": name, "filter_subject": f"porter.notify.{name}", "deliver_policy": "all", "ack_policy": "explicit",
            "ack_wait": 5_000_000_000, "max_deliver": -1, "max_ack_pending": -1, "max_waiting": 512, "replay_policy": "instant"}
        made = self.cluster.request(
            f"$JS.API.CONSUMER.DURABLE.CREATE.porter_notifications.{name}",
            json.dumps({"stream_name": "porter_notifications", "config": consumer}).encode())
        self.assertNotIn("inactive_threshold", json.loads(made)["config"])
        self.assertEqual(len(self.due(client, service)[1]), 1)
        known = json.loads(self.cluster.request(f"$JS.API.CONSUMER.INFO.porter_notifications.{name}"))
        self.assertEqual(known["config"]["inactive_threshold"], 3_600 * 1_000_000_000)

    def test_a_queue_that_has_lost_its_consumer_gets_another(self):
        relay = self.start()
        client, service = self.person(relay), SigningKey.generate()
        watched = self.watched(client, service)
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        _, [lost] = self.due(client, service)
        name = base64.urlsafe_b64encode(bytes(service.verify_key)).decode().rstrip("=")
        deleted = self.cluster.request(f"$JS.API.CONSUMER.DELETE.porter_notifications.{name}")
        self.assertIn(b'"success":true', deleted)
        http = self.http1(relay)
        while True:
            asked = protocol.due_notifications(service)
            status, _, answer = http.post(asked)
            if status == 200 and (found := protocol.notifications(protocol.answer(answer, asked)[1])[1]):
                break
        self.assertEqual(found[0].nonce, lost.nonce)
