"""Relays that change one mailbox at the same time, and nodes that are down or have no quorum."""

import random
import re
import threading
import time

from . import protocol
from .chaos import Client
from .patient import Patient
from .support import ClusterTestCase


class PatientTestCase(ClusterTestCase):
    def person(self, relay) -> Patient:
        person = Patient(relay.port)
        self.addCleanup(person.client.close)
        return person


class RestartedNodeTests(PatientTestCase):
    def test_mailboxes_survive_restarts_of_all_nodes_after_trouble(self):
        """In trouble a relay makes room. A node that restarts carries out again what is in its log: nothing that it would apply to all mailboxes may be
        there."""
        relay = self.start("relay")
        person = self.person(relay)
        mailboxes = [person.mailbox() for _ in range(20)]
        for mailbox in mailboxes:
            person.send(mailbox, b"waits")
        # Probes of several seconds are there when room is made.
        time.sleep(4)
        leader = self.cluster.leader("porter_mailboxes_0")
        leader.kill()
        self.wait(relay, "unready", lambda: relay.operator("/ready")[0] == 503)
        self.wait(relay, "ready", lambda: relay.operator("/ready")[0] == 200)
        leader.start()
        self.cluster.wait()
        for node in self.cluster.nodes:
            node.kill()
            node.start()
            self.cluster.wait()
            self.wait(relay, "ready", lambda: relay.operator("/ready")[0] == 200)
        person = self.person(relay)
        self.assertEqual([person.take_all(mailbox) for mailbox in mailboxes], [[b"waits"]] * len(mailboxes))

    def wait(self, relay, what: str, holds) -> None:
        end = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), end, f"{what}: {relay.operator('/health')[1]}")
            time.sleep(0.05)


class ContentionTests(PatientTestCase):
    def test_relays_that_change_one_mailbox_at_the_same_time_lose_nothing(self):
        """In a cluster of three, a node checks a compare-and-set before ordering it among others: two that arrive together must not both pass."""
        relays = [self.start("one"), self.start("two")]
        mailbox = self.person(relays[0]).mailbox()
        taken: list[bytes] = []

        def write(relay, start):
            person = self.person(relay)
            for number in range(start, 120, 2):
                while True:
                    try:
                        person.send(mailbox, b"%d" % number)
                        break
                    except protocol.Refused as refusal:
                        assert str(refusal) == "quota", refusal

        def read(relay):
            person, deadline = self.person(relay), time.monotonic() + 60
            while len(taken) < 120 and time.monotonic() < deadline:
                taken.extend(person.take_all(mailbox))

        threads = [threading.Thread(target=write, args=(relay, index)) for index, relay in enumerate(relays)]
        threads.append(threading.Thread(target=read, args=(relays[1],)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(map(int, taken)), list(range(120)))

    def test_a_mailbox_that_rested_is_changed_by_two_relays_at_the_same_time(self):
        """Its newest version is older than the stream's last acknowledgement, so relays look for other versions from there."""
        relays = [self.start("one"), self.start("two")]
        people = [self.person(relay) for relay in relays]
        mailbox, expected = people[0].mailbox(), []
        for round_ in range(2):
            end = time.monotonic() + 7
            while time.monotonic() < end:
                # Something must be acknowledged in the meantime.
                other = people[round_].mailbox()
                people[round_].send(other, b"x")
                time.sleep(0.5)
            bodies = [[b"%d %d %d" % (round_, index, number) for number in range(20)] for index in range(2)]
            threads = [
                threading.Thread(target=lambda each, bodies: [each.send(mailbox, body) for body in bodies], args=pair)
                for pair in zip(people, bodies)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            expected += [body for each in bodies for body in each]
        self.assertEqual(sorted(people[1].take_all(mailbox)), sorted(expected))


class QuorumTests(PatientTestCase):
    def logs(self, relay, line: str) -> None:
        """Waits for a line in the log: it follows the change of /health."""
        end = time.monotonic() + 60
        while not re.search(line, relay.lines()):
            self.assertLess(time.monotonic(), end, relay.lines())
            time.sleep(0.05)

    def test_a_relay_starts_and_serves_while_a_node_is_down(self):
        one = self.person(self.start("one"))
        mailbox = one.mailbox()
        self.cluster.nodes[0].kill()
        client = Client([self.start("two").port], random.Random(0))
        attempt = protocol.identifier()
        client.ask(lambda: protocol.send(mailbox, b"x", attempt))
        _, fields = client.ask(lambda: protocol.get(mailbox))
        self.assertEqual(fields[33:], b"x")
        client.close()

    def test_without_a_quorum_it_says_so_within_a_second_and_recovers_by_itself(self):
        relay = self.start()
        client, person = self.http1(relay), self.person(relay)
        mailbox = person.mailbox()
        person.send(mailbox, b"before")
        for node in self.cluster.nodes[1:]:
            node.freeze()
        attempt, times = protocol.identifier(), []
        # The remaining node may lead, and takes a moment to notice that it is alone.
        for _ in range(8):
            began = time.monotonic()
            status, headers, answer = client.post(protocol.send(mailbox, b"during", attempt))
            self.assertEqual((status, headers.get("retry-after")), (503, "2"), answer)
            times.append(time.monotonic() - began)
        self.assertLess(sorted(times)[4], 2, "an answer within a second, on a busy machine too, except perhaps some")
        status, text = relay.operator("/health")
        self.assertEqual(status, 503)
        self.assertIn("storage: ", text)
        self.assertEqual(relay.operator("/ready")[0], 503)
        self.logs(relay, r'level=error message="the cluster failed" reason=.+')
        self.assertNotIn("the cluster works again", relay.lines())
        for node in self.cluster.nodes[1:]:
            node.thaw()
        deadline = time.monotonic() + 120
        while relay.operator("/health")[0] != 200:
            self.assertLess(time.monotonic(), deadline, "it does not recover")
            time.sleep(0.1)
        self.logs(relay, r'level=info message="the cluster works again"')
        # Each stream elects a leader again at a different time.
        patient, taken = Client([relay.port], random.Random(0)), []
        self.addCleanup(patient.close)
        patient.ask(lambda: protocol.send(mailbox, b"during", attempt))
        for _ in range(2):
            _, fields = patient.ask(lambda: protocol.get(mailbox))
            taken.append(fields[33:])
            patient.ask(lambda: protocol.acknowledge(mailbox, fields[:24]))
        self.assertEqual(taken, [b"before", b"during"])
