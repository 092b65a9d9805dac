"""porter-admin alongside a running relay, and with invalid folders."""

import base64
import os
import signal
import sqlite3
import subprocess
import unittest
from pathlib import Path

from . import protocol
from .admin import PROGRAM, AdminTestCase, admin
from .support import HTTP1, PATIENCE, connect


class MailboxTests(AdminTestCase):
    def test_a_mailbox_shows_what_it_has_used_of_its_quota(self):
        relay = self.start()
        person = self.person(relay)
        mailbox, open_ = person.mailbox(), person.mailbox(secured=False)
        for _ in range(3):
            person.send(mailbox, b"x" * 1_000)
        recipient = base64.urlsafe_b64encode(mailbox.recipient).decode()
        shown = self.succeeds("mailbox", "--data", self.data, "--mailbox", recipient)
        self.assertIn("waiting = 3 of 128 messages\nsize = 3000 bytes\noldest = ", shown)
        self.assertIn("secured = yes\nnotifications = no\nlisteners = 0\n", shown)
        sender = base64.urlsafe_b64encode(mailbox.sender).decode()
        self.assertEqual(self.succeeds("mailbox", "--data", self.data, "--mailbox", "-", given=sender + "\n")[:11], shown[:11])
        person.take_all(mailbox)
        shown = self.succeeds("mailbox", "--data", self.data, "--mailbox", sender)
        self.assertIn("waiting = 0 of 128 messages\nsize = 0 bytes\nsecured", shown)
        other = base64.urlsafe_b64encode(open_.sender).decode()
        self.assertIn("secured = no", self.succeeds("mailbox", "--data", self.data, "--mailbox", other))
        unknown = base64.urlsafe_b64encode(protocol.identifier()).decode()
        self.fails("there is no such mailbox", "mailbox", "--data", self.data, "--mailbox", unknown)
        self.fails("expected an identifier", "mailbox", "--data", self.data, "--mailbox", "short")
        self.fails("mailbox is not set", "mailbox", "--data", self.data)
        self.fails("no notification server's data", "token", "--data", self.data, "--token", "abcd")


class SecretTests(AdminTestCase):
    def test_secrets_are_neither_listed_nor_taken_from_a_file_that_all_can_read(self):
        listed = self.succeeds("--print-config", "--token", "hush", "--mailbox", "hush")
        self.assertNotIn("hush", listed)
        file = Path(self.folder.name, "admin.conf")
        file.write_text("token = hush\n")
        for mode, expected in [
            (0o640, (0, "")),
            (0o644, (1, f"porter-admin: {file}:1: token: others can read this file (mode 644); run: chmod o-rwx {file}\n")),
        ]:
            file.chmod(mode)
            done = admin("--config", str(file), "--print-config")
            self.assertEqual((done.returncode, done.stderr), expected)


class VerifyTests(AdminTestCase):
    def relay_data(self) -> None:
        relay = self.start()
        person = self.person(relay)
        for _ in range(8):
            mailbox = person.mailbox()
            for number in range(16):
                person.send(mailbox, b"%d" % number + bytes(2_000))
        self.assertEqual(relay.kill(signal.SIGTERM), 0)

    def test_data_that_is_served_is_whole(self):
        relay = self.start()
        person = self.person(relay)
        person.send(person.mailbox(), b"x")
        self.assertEqual(self.succeeds("verify", "--data", self.data), "ok: a relay's data\n")
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))

    def test_folders_that_are_no_data_are_refused(self):
        Path(self.data).mkdir()
        self.fails("neither a relay's data", "verify", "--data", self.data)
        self.fails("No such file", "verify", "--data", self.folder.name + "/nothing")
        (Path(self.data) / "relay.db").write_bytes(b"not a database" * 1_000)
        self.fails("not a database", "verify", "--data", self.data)
        with sqlite3.connect(self.folder.name + "/other.db") as other:
            other.execute("CREATE TABLE mailbox(number INTEGER)")
        other.close()
        os.replace(self.folder.name + "/other.db", self.data + "/relay.db")
        self.fails("not a relay's", "verify", "--data", self.data)
        self.fails("not a folder", "verify", "--data", self.data + "/relay.db")

    def test_damage_is_found(self):
        self.relay_data()
        whole = Path(self.data + "/relay.db").read_bytes()
        page = 4_096
        found = 0
        for number in range(2, len(whole) // page, 3):
            damaged = bytearray(whole)
            damaged[number * page:number * page + 64] = bytes([0xA5]) * 64
            Path(self.data + "/relay.db").write_bytes(damaged)
            found += admin("verify", "--data", self.data).returncode == 1
        self.assertGreater(found, len(whole) // page // 6, "overflow pages of bodies have no structure to be damaged")
        Path(self.data + "/relay.db").write_bytes(whole)
        self.succeeds("verify", "--data", self.data)
        for statement, expected in [
            ("UPDATE mailbox SET recipient_key = x'00' WHERE number = 1", "mailboxes with malformed identifiers or keys: 1"),
            ("UPDATE message SET body = zeroblob(16385) WHERE number = 1", "malformed messages: 1"),
            ("DELETE FROM mailbox WHERE number = 2", "rows that refer to none: message: 16"),
            ("UPDATE message SET mailbox = 1; INSERT INTO message SELECT 1000 + number, mailbox, identifier, identifier, 0, 0, x'', 0 FROM message",
             "mailboxes over their quota: 1"),
        ]:
            with sqlite3.connect(self.data + "/relay.db") as database:
                database.executescript(statement)
            database.close()
            self.fails(expected, "verify", "--data", self.data)
            for name in ["relay.db-wal", "relay.db-shm"]:
                Path(self.data, name).unlink(missing_ok=True)
            Path(self.data + "/relay.db").write_bytes(whole)
        self.succeeds("verify", "--data", self.data)
        os.chmod(self.data + "/key.pem", 0o644)
        self.fails("others can read this key", "verify", "--data", self.data)
        os.remove(self.data + "/key.pem")
        self.fails("key.pem: No such file", "verify", "--data", self.data)


class DrainTests(AdminTestCase):
    # A GOAWAY that ends no stream.
    goaway = b"\0\0\x08\7\0\0\0\0\0" + b"\x7f\xff\xff\xff" + bytes(4)

    def test_a_relay_drains_and_ends(self):
        relay = self.start()
        idle, other = connect(relay.port, ["http/1.1"]), connect(relay.port, ["h2"])
        other.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
        settings = other.recv(65_536)
        stream = self.news(relay, protocol.listener())
        stream.next()
        person = self.person(relay)
        mailbox = person.mailbox()
        draining = subprocess.Popen(
            [PROGRAM, "drain", "--data", self.data], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIsNone(stream.next())
        self.assertEqual(relay.operator("/ready")[0], 503)
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))
        # A client that has not noticed yet is still served.
        late = HTTP1(relay.port)
        protocol.Client(late.exchange).send(mailbox, b"late")
        late.close()
        received = settings
        while self.goaway not in received:
            received += other.recv(65_536)
        other.close()
        idle.close()
        out, errors = draining.communicate(timeout=PATIENCE)
        self.assertEqual((draining.returncode, errors), (0, ""))
        self.assertEqual(out, f"draining process {relay.process.pid}\nended\n")
        self.assertEqual(relay.kill(), 0)
        self.assertEqual(self.person(self.start()).take_all(mailbox), [b"late"])

    def test_a_drain_ends_after_its_time(self):
        relay = self.start(drain_time="1s", grace="1s")
        slow = connect(relay.port, ["http/1.1"])
        slow.sendall(b"POST /v1/exchange HTTP/1.1\r\n")
        self.assertTrue(self.succeeds("drain", "--data", self.data).endswith("ended\n"))
        slow.close()
        self.assertEqual(relay.kill(), 0)

    def test_a_folder_that_is_not_served_cannot_be_drained(self):
        self.start().kill(signal.SIGTERM)
        self.fails("no process serves this folder", "drain", "--data", self.data)
        # Locked by another program, which is not touched.
        locked = subprocess.Popen(
            ["flock", self.data + "/lock", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        locked.stdin.write("x\n")
        locked.stdin.flush()
        locked.stdout.readline()
        self.fails("is no porter-relay or porter-push", "drain", "--data", self.data)
        self.assertIsNone(locked.poll())
        locked.communicate()


if __name__ == "__main__":
    unittest.main()
