"""The process: starting, stopping, being killed in the middle of work, its certificate and its configuration."""

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from . import protocol
from .support import HTTP1, PATIENCE, PROGRAM, RelayTestCase, connect, context, environment


class EndTests(RelayTestCase):
    def load(self, relay, mailboxes, accepted, attempts):
        """Starts one thread for each mailbox, which sends until the relay is gone, and records accepted messages."""
        def run(index):
            client = HTTP1(relay.port)
            try:
                for number in range(1_000_000):
                    body = b"%d" % number
                    attempts[index].append(protocol.identifier())
                    protocol.Client(client.exchange).send(mailboxes[index], body, attempts[index][-1])
                    accepted[index].append(body)
                    if len(accepted[index]) == 100:
                        return
            except (OSError, AssertionError, Exception):
                return
            finally:
                client.close()

        threads = [threading.Thread(target=run, args=(index,)) for index in range(len(mailboxes))]
        for thread in threads:
            thread.start()
        return threads

    def test_killed_in_the_middle_of_load_it_has_every_accepted_message_once(self):
        for round_ in range(3):
            with self.subTest(round=round_):
                relay = self.start()
                person = self.person(relay)
                mailboxes = [person.mailbox() for _ in range(8)]
                accepted, attempts = [[] for _ in mailboxes], [[] for _ in mailboxes]
                threads = self.load(relay, mailboxes, accepted, attempts)
                while sum(map(len, accepted)) < 100 + 150 * round_ and any(thread.is_alive() for thread in threads):
                    threads[0].join(0.001)
                relay.kill()
                for thread in threads:
                    thread.join()
                self.assertGreater(sum(map(len, accepted)), 0)
                relay = self.start()
                person = self.person(relay)
                for mailbox, bodies, names in zip(mailboxes, accepted, attempts):
                    # The message without an answer is sent again, as a client does.
                    if len(names) > len(bodies):
                        person.send(mailbox, b"%d" % len(bodies), names[-1])
                    self.assertEqual(person.take_all(mailbox), [b"%d" % number for number in range(len(names))])
                relay.kill(signal.SIGTERM)

    def test_asked_to_stop_it_finishes_what_it_has_read_and_ends_the_streams(self):
        relay = self.start()
        person = self.person(relay)
        mailboxes = [person.mailbox() for _ in range(4)]
        accepted, attempts = [[] for _ in mailboxes], [[] for _ in mailboxes]
        stream = self.news(relay, protocol.listener())
        stream.next()
        idle = [connect(relay.port, ["http/1.1"]), self.http2(relay).socket]
        threads = self.load(relay, mailboxes, accepted, attempts)
        while sum(map(len, accepted)) < 50:
            threads[0].join(0.001)
        self.assertEqual(relay.kill(signal.SIGTERM), 0)
        for thread in threads:
            thread.join()
        self.assertIsNone(stream.next())
        for each in idle:
            each.close()
        self.assertIn("message=stopped", relay_log(self.folder.name))
        self.assertFalse(Path(self.folder.name + "/data/relay.db-wal").exists(), "the log was written back")
        relay = self.start()
        person = self.person(relay)
        for mailbox, bodies in zip(mailboxes, accepted):
            found = person.take_all(mailbox)
            self.assertEqual(found[:len(bodies)], bodies)
            self.assertLessEqual(len(found), len(bodies) + 1)

    def test_asked_to_stop_it_waits_for_no_handshake(self):
        relay = self.start(grace="90s", request_time="90s")
        with socket.create_connection(("127.0.0.1", relay.port)) as silent:
            while relay.metric("porter_relay_connections") == 0:
                self.assertIsNone(relay.process.poll())
            begun = time.monotonic()
            self.assertEqual(relay.kill(signal.SIGTERM), 0)
            self.assertLess(time.monotonic() - begun, 45)
            self.assertEqual(silent.recv(1), b"")

    def test_after_a_drain_a_stop_asks_a_connection_that_completed_its_handshake_since(self):
        relay = self.start(grace="90s", drain_time="90s")
        plain = socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE)
        while relay.metric("porter_relay_connections") == 0:
            self.assertIsNone(relay.process.poll())
        relay.process.send_signal(signal.SIGUSR1)
        while relay.operator("/ready")[0] == 200:
            self.assertIsNone(relay.process.poll())
        # Those that still connect are served.
        with context(["http/1.1"]).wrap_socket(plain, server_hostname="localhost") as late:
            late.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertTrue(late.recv(15).startswith(b"HTTP/1.1 200"))
            begun = time.monotonic()
            self.assertEqual(relay.kill(signal.SIGTERM), 0)
            self.assertLess(time.monotonic() - begun, 45)

    def test_a_full_file_is_said_and_the_relay_recovers_when_there_is_room(self):
        relay = self.start(store_limit="1M")
        client = self.http1(relay)
        person = protocol.Client(client.exchange)
        mailboxes = [person.mailbox() for _ in range(2)]
        stored, status, headers = 0, 200, {}
        while status == 200:
            status, headers, _ = client.post(protocol.send(mailboxes[stored % 2], b"%d" % stored + bytes(16_000)))
            stored += status == 200
        self.assertEqual((status, headers["retry-after"]), (503, "2"))
        self.assertIn("the disk is full", relay.operator("/health")[1])
        self.assertEqual(client.connection.sock is not None, True, "the connection stays")
        found = [person.take_all(mailbox) for mailbox in mailboxes]
        self.assertEqual(sum(map(len, found)), stored)
        person.send(mailboxes[0], b"there is room")
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))

    def test_two_relays_do_not_serve_one_folder(self):
        relay = self.start()
        done = run("serve", "--data", self.folder.name + "/data", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("another porter-relay serves this folder", done.stderr)
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))

    def test_logs_and_metrics_say_nothing_about_persons(self):
        relay = self.start(log_level="debug", log_form="json")
        name = protocol.listener()
        person = protocol.Client(self.http1(relay, name).exchange)
        mailbox = person.mailbox()
        person.send(mailbox, b"a text that must not appear")
        person.take_all(mailbox)
        self.news(relay, name).next()
        metrics = relay.operator("/metrics")[1]
        relay.kill(signal.SIGTERM)
        everything = relay_log(self.folder.name) + metrics
        for secret in [name, "must not appear", mailbox.recipient.hex(), mailbox.sender.hex(), "127.0.0.1"]:
            self.assertNotIn(secret, everything)


def relay_log(folder: str) -> str:
    return Path(folder + "/data.log").read_text()


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, env={**environment(), **variables}, timeout=120)


class CertificateTests(RelayTestCase):
    def make(self, name: str) -> None:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
             f"{self.folder.name}/{name}.key", "-out", f"{self.folder.name}/{name}.pem", "-subj", f"/CN={name}"],
            check=True, capture_output=True)
        os.chmod(f"{self.folder.name}/{name}.key", 0o600)

    def subject(self, port: int) -> str:
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{port}"], input="", capture_output=True, text=True)
        return next(line for line in done.stdout.splitlines() if line.startswith("subject="))

    def replace(self, name: str) -> None:
        for kind in ["key", "pem"]:
            shutil.copyfile(f"{self.folder.name}/{name}.{kind}", f"{self.folder.name}/new.{kind}")
            os.chmod(f"{self.folder.name}/new.{kind}", 0o600)
            os.rename(f"{self.folder.name}/new.{kind}", f"{self.folder.name}/used.{kind}")

    def test_a_certificate_is_replaced_without_a_restart(self):
        for name in ["one", "two", "three"]:
            self.make(name)
        self.replace("one")
        relay = self.start(certificate=self.folder.name + "/used.pem", key=self.folder.name + "/used.key")
        self.assertIn("one", self.subject(relay.port))
        person = self.person(relay)
        mailbox = person.mailbox()
        self.replace("two")
        relay.process.send_signal(signal.SIGHUP)
        while "two" not in self.subject(relay.port):
            self.assertIsNone(relay.process.poll())
        # Without a signal.
        self.replace("three")
        while "three" not in self.subject(relay.port):
            self.assertIsNone(relay.process.poll())
        person.send(mailbox, b"on the connection from before")
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))
        os.remove(self.folder.name + "/used.key")
        relay.process.send_signal(signal.SIGHUP)
        while relay.operator("/health")[0] == 200:
            self.assertIsNone(relay.process.poll())
        self.assertIn("three", self.subject(relay.port), "the earlier one is still in use")
        self.assertIn("used.key", relay.operator("/health")[1])

    def test_the_address_stays_the_same_over_restarts(self):
        data = self.folder.name + "/data"
        first = run("address", "--data", data, "--name", "relay.example.org")
        self.assertRegex(first.stdout, r"^https://relay\.example\.org#[A-Za-z0-9_-]{43}\n$")
        self.assertEqual(run("address", "--data", data, "--name", "relay.example.org").stdout, first.stdout)
        relay = self.start()
        self.assertEqual(relay.fingerprint, first.stdout.strip().split("#")[1])

    def test_a_start_without_a_usable_key_says_why(self):
        self.make("one")
        self.make("two")
        folder = self.folder.name

        def fails(certificate: str, key: str, expected: str) -> None:
            done = run("check", "--certificate", f"{folder}/{certificate}", "--key", f"{folder}/{key}")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(expected, done.stderr)

        fails("one.pem", "two.key", "does not belong to the certificate")
        fails("none.pem", "one.key", "No such file")
        os.chmod(folder + "/one.key", 0o644)
        fails("one.pem", "one.key", "chmod 600")
        done = run("check", "--certificate", folder + "/one.pem")
        self.assertIn("certificate and key are set together", done.stderr)


class GivenFileTests(RelayTestCase):
    """Files that other libraries read later: a program checks them before it starts."""

    def fails(self, program: str, command: str, expected: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(Path(PROGRAM).parent / program), command, *arguments], capture_output=True, text=True, env=environment(),
            timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertIn(expected, done.stderr)

    def test_what_reaches_a_cluster_is_checked_before_the_start(self):
        folder = self.folder.name
        given = {name: f"{folder}/{name}" for name in ["none", "open", "garbage"]}
        for name in ["open", "garbage"]:
            Path(given[name]).write_text("garbage")
        os.chmod(given["open"], 0o644)
        os.chmod(given["garbage"], 0o600)
        # There is no cluster and no relay at this address.
        store = ["--store", "nats://127.0.0.1:1"]
        relay = ["--data", folder + "/data", "--listen", "127.0.0.1:0", "--operators", "127.0.0.1:0", *store]
        push = [
            "--relay", "https://127.0.0.1:1", "--state", folder + "/server.db", "--operators", "127.0.0.1:0",
            "--local-socket", folder + "/device", *store]
        programs = [
            ("porter-relay", "check", relay), ("porter-relay", "serve", relay), ("porter-push", "check", push),
            ("porter-push", "serve", push), ("porter-admin", "verify", store)]
        for program, command, arguments in programs:
            with self.subTest(program=program, command=command):
                for name, expected in [("none", "No such file"), ("open", "chmod 600"), ("garbage", "no user's JWT")]:
                    self.fails(program, command, expected, *arguments, "--nats-credentials", given[name])
                for name, expected in [("none", "No such file"), ("garbage", "no certificate in PEM form")]:
                    self.fails(program, command, expected, *arguments, "--nats-authorities", given[name])

    def test_the_authority_of_a_relay_is_checked_before_the_start(self):
        folder = self.folder.name
        Path(folder, "garbage").write_text("garbage")
        push = ["--relay", "https://127.0.0.1:1", "--state", folder + "/server.db", "--local-socket", folder + "/device"]
        for name, expected in [("none", "No such file"), ("garbage", "no certificate in PEM form")]:
            self.fails("porter-push", "check", expected, *push, "--relay-authority", f"{folder}/{name}")


class ConfigurationTests(RelayTestCase):
    def test_flags_are_stronger_than_variables_and_those_than_the_file(self):
        file = Path(self.folder.name) / "relay.conf"
        file.write_text("source-rate = 11\nsource-burst = 12  # a comment\ngrace = 3s\n")
        done = run(
            "--config", str(file), "--print-config", "--grace", "5s", PORTER_RELAY_SOURCE_BURST="13",
            PORTER_RELAY_GRACE="4s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"source-rate = 11  # {file}:1\n", done.stdout)
        self.assertIn("source-burst = 13  # PORTER_RELAY_SOURCE_BURST\n", done.stdout)
        self.assertIn("grace = 5s  # --grace\n", done.stdout)

    def test_mistakes_end_the_start_with_a_text(self):
        for arguments in [["--nothing"], ["serve", "--source-rate", "0"], ["check", "--silence", "31s"], ["--config", "/nowhere"], ["stop"]]:
            done = run(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertTrue(done.stderr.startswith("porter-relay: "), done.stderr)
        done = run("serve", "--data", self.folder.name + "/no/folder")
        self.assertIn("No such file", done.stderr)
        self.assertIn("--listen", run("--help").stdout)
