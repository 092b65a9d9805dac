"""Trouble around a relay is reported in its log and at /health while it lasts, and ends without a restart when the cause is gone."""

import datetime
import os
import signal
import sqlite3
import subprocess
import time
import unittest
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from nacl.signing import SigningKey

from . import protocol
from .support import PATIENCE, HTTP1, HTTP2, JetStreamTestCase, Relay
from .trouble import HangingDisk, TroubleTestCase, WallClock

# An answer takes a second at most, and more on a busy machine; without a bound it takes a minute or never comes.
SOON = 30


class CertificateTests(TroubleTestCase):
    def certificate(self, seconds: int) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(datetime.timezone.utc)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "relay.test")])
        made = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(seconds=seconds)).sign(key, hashes.SHA256()))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        for path, content in [(self.key, private), (self.path, made.public_bytes(serialization.Encoding.PEM))]:
            Path(path + ".new").write_bytes(content)
            os.chmod(path + ".new", 0o600)
            os.rename(path + ".new", path)

    def test_one_that_expires_is_said_until_it_is_replaced(self):
        self.key, self.path = self.folder.name + "/key.pem", self.folder.name + "/certificate.pem"
        self.certificate(20)
        relay = self.start(certificate=self.path, key=self.key)
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))
        mailbox = self.works(relay)
        self.health(relay, "certificate: expired")
        self.assertLess(relay.metric("porter_relay_certificate_expiry_seconds"), 1)
        self.assertIn("the certificate has expired", relay.lines())
        # Clients that know the fingerprint are not affected.
        self.works(relay, mailbox)
        self.certificate(1_000_000)
        self.health(relay, "ok\n")
        self.assertIn("the certificate is valid again", relay.lines())
        self.works(relay, mailbox)


class ClockTests(TroubleTestCase):
    def test_one_that_jumps_is_said_and_changes_nothing(self):
        years, clock = 365 * 86_400, WallClock(self.folder.name)
        move = clock.move
        with clock.environment:
            relay = self.start()
        person = self.person(relay)
        mailbox = person.mailbox()
        person.send(mailbox, b"kept")
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))
        # By this clock, past the 21 days for which a message is kept.
        move(400 * 86_400)
        self.health(relay, "clock: moved by 34560000 s")
        self.assertIn("the system's clock was moved", relay.lines())
        self.works(relay, mailbox, (b"kept",))
        # Past the end of its own certificate.
        move(11 * years)
        self.health(relay, "certificate: expired")
        self.works(relay, mailbox)
        move(-2 * years)
        self.health(relay, f"clock: moved by {-2 * years} s")
        self.works(relay, mailbox)
        move(0)
        self.health(relay, "ok\n")
        self.assertIn("the system's clock is back", relay.lines())
        self.works(relay, mailbox)


    def test_one_that_was_wrong_at_the_first_start_does_not_prevent_the_next(self):
        """The relay's own certificate is then not valid yet."""
        clock = WallClock(self.folder.name)
        clock.move(3 * 365 * 86_400)
        with clock.environment:
            first = self.start()
            first.kill(signal.SIGTERM)
        relay = self.start()
        self.assertEqual(relay.fingerprint, first.fingerprint)
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))
        self.works(relay)


class DiskTests(TroubleTestCase):
    def small_disk(self) -> Path:
        """Mounts a small disk for the relay's data, which is nearly full until the returned file is removed."""
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        data = self.folder.name + "/data"
        os.mkdir(data)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40M", "none", data], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "-l", data], check=True))
        filler = Path(data, "filler")
        filler.write_bytes(bytes(36 << 20))
        return filler

    def test_one_that_is_full_is_said_and_nothing_accepted_is_lost(self):
        filler = self.small_disk()
        relay = self.start()
        client = HTTP1(relay.port)
        self.addCleanup(client.close)
        person = protocol.Client(client.exchange)
        mailboxes = [person.mailbox() for _ in range(4)]
        accepted: list[list[bytes]] = [[] for _ in mailboxes]
        number, status = 0, 200
        while status == 200:
            body = b"%d" % number + bytes(16_000)
            status, headers, _ = client.post(protocol.send(mailboxes[number % 4], body))
            if status == 200:
                accepted[number % 4].append(body)
            number += 1
        self.assertEqual((status, headers["retry-after"]), (503, "2"))
        self.assertGreater(number, 20)
        self.assertIn("storage: ", relay.operator("/health")[1])
        self.assertEqual(relay.operator("/ready")[0], 503)
        self.assertIn("the relay's file failed", relay.lines())
        # Reading needs no room, and its success does not mean there is any.
        for _ in range(20):
            self.assertEqual(client.post(protocol.get(mailboxes[0]))[0], 200)
            self.assertIn("storage: ", relay.operator("/health")[1])
            self.assertEqual(client.post(protocol.send(mailboxes[0], bytes(16_000)))[0], 503)
        self.assertEqual(relay.lines().count("the relay's file failed"), 1)
        self.assertNotIn("the relay's file works again", relay.lines())
        filler.unlink()
        # The next exchange that needs the disk finds room.
        person.send(mailboxes[0], b"there is room")
        accepted[0].append(b"there is room")
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))
        self.assertIn("the relay's file works again", relay.lines())
        self.assertEqual([person.take_all(mailbox) for mailbox in mailboxes], accepted)

    def test_a_relay_that_gets_no_exchanges_finds_out_that_there_is_room(self):
        """As behind a balancer, which sends nothing to a relay that is not ready."""
        filler = self.small_disk()
        relay = self.start()
        client = self.http1(relay)
        mailboxes = [protocol.Client(client.exchange).mailbox() for _ in range(4)]
        number = 0
        while client.post(protocol.send(mailboxes[number % 4], bytes(16_000)))[0] == 200:
            number += 1
        self.assertEqual(relay.operator("/ready")[0], 503)
        filler.unlink()
        self.health(relay, "ok\n")
        self.assertEqual(relay.operator("/ready")[0], 200)


class AnswerTimeTests(TroubleTestCase):
    """Each request is answered in time, even if its file is not. It may be carried out later, so its client repeats it."""

    def start_with_mailboxes(self) -> tuple[Relay, protocol.Client, list[protocol.Mailbox]]:
        relay = self.start()
        person = self.person(relay)
        return relay, person, [person.mailbox() for _ in range(4)]

    def ask(self, relay: Relay, requests: list[bytes]) -> dict[int, int]:
        """Makes all requests at the same time; returns how many got each status, and fails if one takes too long."""
        client, begin = self.http2(relay), time.monotonic()
        streams = [client.start("POST", "/v1/exchange", each, content_type="application/octet-stream") for each in requests]
        answers = [client.result(stream) for stream in streams]
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertEqual({fields["retry-after"] for status, fields, _ in answers if status != 200}, {"2"})
        statuses = [status for status, _, _ in answers]
        return {status: statuses.count(status) for status in statuses}

    def repeat(self, relay: Relay, sends: list[bytes], mailboxes: list[protocol.Mailbox]) -> None:
        """Repeats the requests after the trouble: each message is there once."""
        client = self.http1(relay)
        for each in sends:
            client.exchange(each)
        person = protocol.Client(client.exchange)
        taken = [person.take_all(mailbox) for mailbox in mailboxes]
        self.assertEqual([sorted(each) for each in taken], [[b"%d" % number for number in range(10)]] * len(mailboxes))

    def test_a_file_in_use_elsewhere_delays_no_answer(self):
        relay, person, mailboxes = self.start_with_mailboxes()
        sends = [protocol.send(mailbox, b"%d" % number) for mailbox in mailboxes for number in range(10)]
        writer = sqlite3.connect(self.folder.name + "/data/relay.db", isolation_level=None)
        self.addCleanup(writer.close)
        writer.execute("BEGIN EXCLUSIVE")
        self.assertEqual(self.ask(relay, sends), {503: 40})
        self.health(relay, "storage: the database is in use elsewhere")
        self.assertIn("the relay's file failed", relay.lines())
        # Reading needs no lock.
        self.assertEqual(person.take_all(mailboxes[0]), [])
        writer.execute("ROLLBACK")
        self.health(relay, "ok\n")
        self.assertIn("the relay's file works again", relay.lines())
        self.repeat(relay, sends, mailboxes)

    def test_a_disk_that_hangs_delays_no_answer(self):
        with HangingDisk(self.folder.name) as disk:
            relay, _, mailboxes = self.start_with_mailboxes()
        sends = [protocol.send(mailbox, b"%d" % number) for mailbox in mailboxes for number in range(10)]
        disk.hang()
        self.assertEqual(self.ask(relay, sends), {503: 40}, "under way or waiting")
        self.health(relay, "storage: the file has not answered for ")
        self.assertEqual(relay.operator("/ready")[0], 503)
        self.assertIn("the relay's file does not answer", relay.lines())
        # Reading would wait behind it.
        self.assertEqual(self.ask(relay, [protocol.get(mailbox) for mailbox in mailboxes]), {503: 4})
        self.assertEqual(relay.metric("porter_relay_waiting"), 0)
        disk.resume()
        self.health(relay, "ok\n")
        self.assertEqual(relay.operator("/ready")[0], 200)
        self.assertIn("the relay's file answers again", relay.lines())
        self.repeat(relay, sends, mailboxes)


class LoadTestCase(TroubleTestCase):
    """More load than a relay can handle: nothing is wrong, but a balancer should send clients elsewhere."""

    def is_overloaded(self, relay: Relay) -> bool:
        """Waits until it is not ready, or something is wrong."""
        end = time.monotonic() + PATIENCE
        while (ready := relay.operator("/ready")[0]) == 200 and relay.operator("/health")[0] == 200:
            self.assertLess(time.monotonic(), end)
        return ready == 503 and relay.operator("/health") == (200, "ok\n")

    def ready_again(self, relay: Relay) -> None:
        end = time.monotonic() + PATIENCE
        while relay.operator("/ready")[0] != 200:
            self.assertLess(time.monotonic(), end, relay.operator("/health")[1])
            time.sleep(0.05)

    def send_many(self, relay: Relay, mailbox) -> tuple[HTTP2, list[int]]:
        client = self.http2(relay)
        bodies = [protocol.send(mailbox, b"%d" % number) for number in range(40)]
        return client, [client.start("POST", "/v1/exchange", body, content_type="application/octet-stream") for body in bodies]


class FileLoadTests(LoadTestCase):
    def test_too_many_requests_that_wait_for_the_file(self):
        with HangingDisk(self.folder.name) as disk:
            relay = self.start(waiting_requests="8")
        is_overloaded = False
        # On a busy machine those that wait may be answered, because of their time, before the relay is asked.
        while not is_overloaded:
            self.assertIsNone(relay.process.poll())
            # A mailbox has room for the messages of a few rounds.
            mailbox = self.works(relay)
            disk.hang()
            client, streams = self.send_many(relay, mailbox)
            is_overloaded = relay.operator("/ready")[0] == 503 and relay.operator("/health") == (200, "ok\n")
            is_overloaded = is_overloaded and relay.metric("porter_relay_ready") == 0
            disk.resume()
            statuses = [client.result(stream)[0] for stream in streams]
            self.assertLessEqual(set(statuses), {200, 503})
            if is_overloaded:
                self.assertIn(503, statuses)
            self.ready_again(relay)
            self.assertEqual(relay.metric("porter_relay_ready"), 1)
            accepted = statuses.count(200)
            self.assertGreaterEqual(len(self.person(relay).take_all(mailbox)), accepted, "what was accepted is there")

    def test_too_many_connections(self):
        relay = self.start(connections="3")
        clients = [self.http1(relay) for _ in range(3)]
        for client in clients:
            client.exchange(protocol.request(b"\4", protocol.identifier(), SigningKey.generate()))
        self.assertTrue(self.is_overloaded(relay))
        clients[0].close()
        self.ready_again(relay)


class ClusterLoadTests(LoadTestCase, JetStreamTestCase):
    def test_too_many_requests_that_wait_for_the_cluster(self):
        relay = self.start(waiting_requests="8")
        mailbox = self.works(relay)
        [node] = self.cluster.nodes
        # Each request waits for 700 ms, but a busy machine may take that long to ask.
        for _ in range(20):
            node.freeze()
            client, streams = self.send_many(relay, mailbox)
            was_overloaded = self.is_overloaded(relay)
            node.thaw()
            self.assertIn(503, {client.result(stream)[0] for stream in streams})
            self.ready_again(relay)
            if was_overloaded:
                return
        self.fail("never overloaded")


if __name__ == "__main__":
    unittest.main()
