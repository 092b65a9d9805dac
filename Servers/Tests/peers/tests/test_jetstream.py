"""The tests of the relay with its mailboxes in JetStream."""

import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from nacl.signing import SigningKey

from . import nats, protocol, support, test_exchanges, test_news, test_process
from .chaos import Client
from .support import JetStreamTestCase, RelayTestCase


class ExchangeTests(JetStreamTestCase, test_exchanges.ExchangeTests):
    pass


class SignatureTests(JetStreamTestCase, test_exchanges.SignatureTests):
    pass


class NewsTests(JetStreamTestCase, test_news.NewsTests):
    pass


class LimitTests(JetStreamTestCase, test_news.LimitTests):
    # Each signature is a question to the node, and a request has less than a second.
    signatures, burst = 64, 28


class EndTests(JetStreamTestCase):
    """Like those in `test_process`, but the mailboxes outlive the relay."""

    load = test_process.EndTests.load
    test_killed_in_the_middle_of_load_it_has_every_accepted_message_once = (
        test_process.EndTests.test_killed_in_the_middle_of_load_it_has_every_accepted_message_once)
    test_logs_and_metrics_say_nothing_about_persons = test_process.EndTests.test_logs_and_metrics_say_nothing_about_persons


class StartTests(RelayTestCase):
    def test_without_a_cluster_it_waits_for_one_and_says_so(self):
        cluster = nats.Cluster()
        self.addCleanup(cluster.stop)
        cluster.nodes[0].kill()
        relay = self.start(store=cluster.address)
        status, text = relay.operator("/health")
        self.assertEqual((status, "storage: no connection to nats://127.0.0.1" in text), (503, True), text)
        self.assertEqual(relay.operator("/ready")[0], 503)
        status, headers, _ = self.http1(relay).post(b"x")
        self.assertEqual((status, headers["retry-after"]), (503, "2"))
        cluster.nodes[0].start()
        end = time.monotonic() + support.PATIENCE
        while relay.operator("/ready")[0] != 200:
            self.assertLess(time.monotonic(), end, relay.lines()[-2_000:])
            time.sleep(0.1)
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))
        person = self.person(relay)
        mailbox = person.mailbox()
        person.send(mailbox, b"late")
        self.assertEqual(person.take_all(mailbox), [b"late"])
        self.assertEqual(relay.kill(signal.SIGTERM), 0)

    def test_it_ends_while_it_waits_for_a_cluster(self):
        [port] = nats.free_ports(1)
        self.assertEqual(self.start(store=f"nats://127.0.0.1:{port}").kill(signal.SIGTERM), 0)

    def test_a_place_that_is_no_cluster_is_refused(self):
        for place, expected in [
            ("https://x", "expected file or nats://"), ("nats://user:password@x", "without a user")]:
            done = test_process.run(
                "serve", "--data", self.folder.name + "/data", "--listen", "127.0.0.1:0", "--operators", "127.0.0.1:0",
                "--store", place)
            self.assertEqual(done.returncode, 1)
            self.assertIn(expected, done.stderr)
            self.assertNotIn("password", done.stderr)


    def test_a_name_that_nats_refuses_is_refused_at_once(self):
        for program in ["porter-relay", "porter-push", "porter-admin"]:
            for arguments in [["--print-config"], ["verify" if program == "porter-admin" else "check"]]:
                with self.subTest(program=program, arguments=arguments):
                    done = subprocess.run(
                        [Path(support.PROGRAM).parent / program, *arguments, "--store=nats://127.0.0.1:1", "--nats-name=a.b"],
                        capture_output=True, text=True, timeout=support.PATIENCE, env=support.environment())
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("nats-name: expected at most 200 letters, digits, - and _ instead of 'a.b'", done.stderr)


class SharingTests(JetStreamTestCase):
    """Several relays serve the same mailboxes."""

    def two(self):
        return [self.start("one"), self.start("two")]

    def test_a_message_goes_from_one_relay_to_another(self):
        one, two = map(self.person, self.two())
        mailbox = one.mailbox()
        for number in range(10):
            [one, two][number % 2].send(mailbox, b"%d" % number)
        tag, fields = two.ask(protocol.get(mailbox))
        self.assertEqual((tag, fields[33:]), (4, b"0"))
        one.ask(protocol.acknowledge(mailbox, fields[:24]))
        with self.assertRaisesRegex(protocol.Refused, "noMessage"):
            two.ask(protocol.acknowledge(mailbox, fields[:24]))
        self.assertEqual(two.take_all(mailbox), [b"%d" % number for number in range(1, 10)])

    def test_a_listener_at_one_relay_is_woken_by_a_sender_at_another(self):
        relays = self.two()
        name, key = protocol.listener(), SigningKey.generate()
        client = protocol.Client(self.http1(relays[0], name).exchange)
        mailbox = client.mailbox()
        _, fields = client.ask(protocol.listen(key, [mailbox]))
        stream = self.news(relays[0], name)
        self.assertEqual(stream.next(), "news")
        self.person(relays[1]).send(mailbox, b"x")
        self.assertEqual(stream.next(), "news")
        _, arrived = client.ask(protocol.arrivals(key, fields[:32]))
        self.assertEqual(arrived[34:], mailbox.recipient)

    def test_a_mailbox_is_made_secured_and_deleted_once(self):
        relays = self.two()
        clients = [self.person(relay) for relay in relays]
        key, senders = SigningKey.generate(), [SigningKey.generate(), SigningKey.generate()]
        made = {client.ask(protocol.create(key))[1] for client in clients}
        self.assertEqual(len(made), 1)
        recipient, sender = made.copy().pop()[:24], made.pop()[24:]
        clients[0].ask(protocol.request(b"\2" + bytes(senders[0].verify_key), recipient, key))
        for client in clients:
            with self.assertRaisesRegex(protocol.Refused, "auth"):
                client.ask(protocol.request(b"\2" + bytes(senders[1].verify_key), recipient, key))
            with self.assertRaisesRegex(protocol.Refused, "auth"):
                client.ask(protocol.request(b"\3" + protocol.identifier() + b"\0x", sender))
            client.send(protocol.Mailbox(recipient, sender, key, senders[0]), b"x")
        clients[1].ask(protocol.request(b"\x09", recipient, key))
        # The other relay remembers it, and a leader that lacks a mailbox may lag.
        self.assertEqual(self.http1(relays[0]).post(protocol.request(b"\4", recipient, key))[0], 503)
        for client in clients:
            for refused in [protocol.request(b"\x09", recipient, key), protocol.request(b"\4", recipient, key)]:
                with self.assertRaisesRegex(protocol.Refused, "auth"):
                    client.ask(refused)
            with self.assertRaisesRegex(protocol.Refused, "auth"):
                client.send(protocol.Mailbox(recipient, sender, key, senders[0]), b"x")
        again = clients[0].ask(protocol.create(key))[1]
        self.assertNotIn(recipient, [again[:24], again[24:]])

    def test_a_send_makes_the_leader_look_through_nothing(self):
        """Otherwise it would search all messages of the last seconds."""
        node = self.cluster.nodes[0]
        node.kill()
        # Logs the requests it gets.
        node.command.append("--trace")
        node.start()
        self.cluster.wait()
        made = self.start("one")
        mailboxes = [self.person(made).mailbox() for _ in range(20)]
        made.kill()
        person = self.person(self.start("two"))
        log = node.folder.with_suffix(".log")

        def asked(count: int) -> int:
            """How often it is asked for the next or the last message of a subject while `count` messages are sent."""
            begin = log.stat().st_size
            for number in range(count):
                person.send(random.choice(mailboxes), b"%d" % number)
            return log.read_bytes()[begin:].count(b"_by_subj")

        self.assertGreater(asked(4), 3, "a relay that has just begun knows no mailbox")
        end = time.monotonic() + support.PATIENCE
        while asked(20) > 0:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)

    def test_a_deleted_mailbox_stays_so_though_a_relay_has_left_earlier_versions(self):
        person = self.person(self.start("two", nats_partitions="1"))
        nodes = nats.Connection(self.cluster.nodes[0])
        self.addCleanup(nodes.close)

        def versions() -> dict[str, int]:
            information = nodes.api("STREAM.INFO.porter_mailboxes_0", subjects_filter="porter.mailbox.0.*")
            found = information["state"].get("subjects") or {}
            return {subject: count for subject, count in found.items() if not subject.endswith(".probe")}

        # A busy machine may take so long that relays delete some of them before.
        for _ in range(20):
            one = self.start("one", nats_partitions="1")
            begin = time.monotonic()
            mailbox = self.person(one).mailbox()
            for _ in range(5):
                self.person(one).send(mailbox, b"x")
            one.kill()
            person.ask(protocol.request(b"\x09", mailbox.recipient, mailbox.key))
            found = list(versions().values())
            if found == [7] or time.monotonic() - begin < 5:
                break
            end = time.monotonic() + support.PATIENCE
            while versions():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
        self.assertEqual(found, [7], "five were left by the relay that was killed, and none deletes them soon")
        end = time.monotonic() + support.PATIENCE
        while versions():
            with self.assertRaisesRegex(protocol.Refused, "auth"):
                person.ask(protocol.request(b"\4", mailbox.recipient, mailbox.key))
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        with self.assertRaisesRegex(protocol.Refused, "auth"):
            person.ask(protocol.request(b"\4", mailbox.recipient, mailbox.key))

    def test_a_message_whose_body_nodes_have_lost_comes_from_the_relay_that_accepted_it(self):
        relays = [self.start(name, nats_partitions="1") for name in ["one", "two"]]
        one, two = map(self.person, relays)
        nodes = nats.Connection(self.cluster.nodes[0])
        self.addCleanup(nodes.close)
        mailbox = one.mailbox()
        for body in [b"first", b"second"]:
            one.send(mailbox, body)
        nodes.api("STREAM.PURGE.porter_bodies_0")
        two.send(mailbox, b"third")
        self.assertEqual(two.take_all(mailbox), [b"first", b"second", b"third"])
        one.send(mailbox, b"fourth")
        nodes.api("STREAM.PURGE.porter_bodies_0")
        relays[0].kill()
        two.send(mailbox, b"fifth")
        # No relay that answers has the fourth. It is not said to be gone before it is as old as what a relay remembers.
        _, fields = two.ask(protocol.get(mailbox))
        self.assertEqual(fields[33:], b"fifth")
        two.ask(protocol.acknowledge(mailbox, fields[:24]))
        self.assertEqual(self.http1(relays[1]).post(protocol.get(mailbox))[0], 503)

    def test_a_full_mailbox_is_full_at_every_relay(self):
        one, two = map(self.person, self.two())
        mailbox = one.mailbox()
        for number in range(128):
            [one, two][number % 2].send(mailbox, b"x")
        for client in [one, two]:
            with self.assertRaisesRegex(protocol.Refused, "quota"):
                client.send(mailbox, b"x")
        _, fields = one.ask(protocol.get(mailbox))
        one.ask(protocol.acknowledge(mailbox, fields[:24]))
        two.send(mailbox, b"x")

    def test_repeats_at_another_relay_are_recognised(self):
        one, two = map(self.person, self.two())
        mailbox, attempt = one.mailbox(), protocol.identifier()
        for client in [one, two, one]:
            client.send(mailbox, b"once", attempt)
        self.assertEqual(two.take_all(mailbox), [b"once"])
        one.send(mailbox, b"once", attempt)
        self.assertEqual(two.take_all(mailbox), [])

    def test_a_notification_that_comes_to_no_service_is_logged_with_the_reason(self):
        relay = self.start(log_level="debug")
        client, service = self.person(relay), SigningKey.generate()
        watched = protocol.Watched.make(client)
        client.ask(protocol.subscribe_notifiers(service, [(watched.notifier, watched.notifier_key)]))
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        self.assertEqual(client.take_all(watched.mailbox), [b"x"])
        _, fields = client.ask(protocol.due_notifications(service))
        self.assertEqual(protocol.notifications(fields)[1], [])
        [line] = relay.ended()
        self.assertRegex(line, r'number=1 reason="its message is gone" revision=\d+')

    def test_a_strangers_question_makes_the_nodes_keep_nothing(self):
        """A service needs no more than a key of its own."""
        relay = self.start()
        client = self.person(relay)
        connection = nats.Connection(self.cluster.nodes[0])

        def consumers() -> int:
            return connection.api("STREAM.INFO.porter_notifications")["state"]["consumer_count"]

        watched, service = protocol.Watched.make(client), SigningKey.generate()
        client.ask(protocol.subscribe_notifiers(service, [(watched.notifier, watched.notifier_key)]))
        client.ask(protocol.send(watched.mailbox, b"x", notify=True))
        self.assertEqual(len(protocol.notifications(client.ask(protocol.due_notifications(service))[1])[1]), 1)
        before = consumers()
        self.assertGreater(before, 0)
        for _ in range(10):
            client.ask(protocol.due_notifications(SigningKey.generate()))
        self.assertEqual(consumers(), before)

    def test_notifications_that_a_consumer_passes_over_are_given_by_another_one(self):
        """Its stream was rolled back, and a consumer never moves back."""
        relay = self.start()
        client, service = self.person(relay), SigningKey.generate()
        watched = protocol.Watched.make(client)
        client.ask(protocol.subscribe_notifiers(service, [(watched.notifier, watched.notifier_key)]))
        patient = Client([relay.port], random.Random(0))
        self.addCleanup(patient.close)

        def due() -> list[protocol.Notification]:
            _, fields = patient.ask(lambda: protocol.due_notifications(service))
            return protocol.notifications(fields)[1]

        def send() -> None:
            attempt = protocol.identifier()
            patient.ask(lambda: protocol.send(watched.mailbox, b"x", attempt, notify=True))

        for _ in range(5):
            send()
        nonces = [each.nonce for each in due()]
        self.assertEqual(len(nonces), 5)
        patient.ask(lambda: protocol.acknowledge_notifications(service, nonces))
        [node] = self.cluster.nodes
        node.process.terminate()
        node.process.wait(support.PATIENCE)
        [messages] = node.folder.glob("**/streams/porter_notifications/msgs")
        shutil.rmtree(messages)
        node.start()
        self.cluster.wait()
        for _ in range(3):
            send()
        self.assertEqual(due(), [], "they are passed over")
        end = time.monotonic() + support.PATIENCE
        while len(found := due()) < 3:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.5)
        nonces = [each.nonce for each in found]
        patient.ask(lambda: protocol.acknowledge_notifications(service, nonces))
        self.assertEqual(due(), [])
