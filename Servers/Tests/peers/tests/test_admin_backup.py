"""porter-admin's backups of a relay's data."""

import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import unittest
from pathlib import Path

from . import protocol
from .admin import PROGRAM, AdminTestCase, admin
from .support import HTTP1, PATIENCE


class BackupTests(AdminTestCase):
    def load(self, relay, mailboxes, accepted, stop):
        def run(index):
            client = HTTP1(relay.port)
            person = protocol.Client(client.exchange)
            number = 0
            while not stop.is_set() and number < 100:
                person.send(mailboxes[index], b"%d" % number)
                accepted[index] += 1
                number += 1
            client.close()

        threads = [threading.Thread(target=run, args=(index,)) for index in range(len(mailboxes))]
        for thread in threads:
            thread.start()
        return threads

    def test_a_backup_made_under_load_has_everything_that_was_accepted_before_it(self):
        relay = self.start()
        person = self.person(relay)
        mailboxes = [person.mailbox() for _ in range(6)]
        accepted, stop = [0] * len(mailboxes), threading.Event()
        threads = self.load(relay, mailboxes, accepted, stop)
        while sum(accepted) < 60:
            threads[0].join(0.001)
        before = list(accepted)
        self.assertEqual(self.succeeds("backup", "--data", self.data, "--to", self.copy), "ok\n")
        stop.set()
        for thread in threads:
            thread.join()
        address = relay.address.split("#")[1]
        self.assertEqual(os.stat(self.copy).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(self.copy + "/relay.db").st_mode & 0o777, 0o600)
        self.fails("is there already", "backup", "--data", self.data, "--to", self.copy)
        self.fails("a process serves this folder", "restore", "--from", self.copy, "--data", self.data)
        relay.kill()
        # The machine is lost, and another one takes over.
        shutil.rmtree(self.data)
        self.assertEqual(self.succeeds("restore", "--from", self.copy, "--data", self.data), "ok\n")
        relay = self.start()
        self.assertEqual(relay.address.split("#")[1], address)
        person = self.person(relay)
        for mailbox, least in zip(mailboxes, before):
            found = person.take_all(mailbox)
            self.assertEqual(found, [b"%d" % number for number in range(len(found))])
            self.assertGreaterEqual(len(found), least)

    def test_a_restore_replaces_data_only_when_asked_and_puts_it_aside(self):
        relay = self.start()
        person = self.person(relay)
        first, second = person.mailbox(), person.mailbox()
        person.send(first, b"before")
        self.succeeds("backup", "--data", self.data, "--to", self.copy)
        person.send(second, b"after")
        relay.kill()
        self.fails("there is data already", "restore", "--from", self.copy, "--data", self.data)
        self.assertEqual(self.succeeds("restore", "--from", self.copy, "--data", self.data, "--replace", "yes"), "ok\n")
        # The replaced data was kept intact, with its log.
        for name in ["relay.db", "relay.db-wal", "relay.db-shm", "key.pem", "certificate.pem"]:
            if Path(self.data, name + ".replaced").exists():
                Path(self.folder.name, "aside").mkdir(exist_ok=True)
                shutil.copy(Path(self.data, name + ".replaced"), Path(self.folder.name, "aside", name))
        self.succeeds("verify", "--data", self.folder.name + "/aside")
        person = self.person(self.start())
        self.assertEqual([person.take_all(first), person.take_all(second)], [[b"before"], []])
        self.assertFalse(Path(self.data, "restoring").exists())

    def test_root_restores_what_a_service_of_another_user_can_use(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files to another user")
        self.start().kill(signal.SIGTERM)
        self.succeeds("backup", "--data", self.data, "--to", self.copy)
        shutil.rmtree(self.data)
        os.mkdir(self.data, 0o700)
        os.chown(self.data, 4711, 4712)
        self.succeeds("restore", "--from", self.copy, "--data", self.data)
        names = sorted(os.listdir(self.data))
        self.assertIn("lock", names)
        for name in names:
            status = os.stat(Path(self.data, name))
            self.assertEqual((status.st_uid, status.st_gid), (4711, 4712), name)
        self.succeeds("verify", "--data", self.data)

    def test_a_restore_follows_no_link_that_the_services_user_has_left(self):
        self.start().kill(signal.SIGTERM)
        self.succeeds("backup", "--data", self.data, "--to", self.copy)
        elsewhere = Path(self.folder.name, "elsewhere")
        elsewhere.mkdir()
        (elsewhere / "passwd").write_text("root")
        for place in ["restoring", "lock"]:
            shutil.rmtree(self.data)
            os.mkdir(self.data, 0o700)
            os.symlink(elsewhere if place == "restoring" else elsewhere / "new", Path(self.data, place))
            reason = "Not a directory" if place == "restoring" else "Too many levels of symbolic links"
            self.fails(f"{self.data}/{place}: {reason}", "restore", "--from", self.copy, "--data", self.data)
            self.assertEqual(os.listdir(elsewhere), ["passwd"])
        # What an interrupted restore left is replaced.
        os.remove(Path(self.data, "lock"))
        os.mkdir(Path(self.data, "restoring"))
        Path(self.data, "restoring", "relay.db").write_text("half")
        self.succeeds("restore", "--from", self.copy, "--data", self.data)
        self.assertFalse(Path(self.data, "restoring").exists())

    def test_a_backup_where_nothing_can_be_written_is_verified_and_restored(self):
        relay = self.start()
        person = self.person(relay)
        mailbox = person.mailbox()
        person.send(mailbox, b"kept")
        self.succeeds("backup", "--data", self.data, "--to", self.copy)
        relay.kill()
        names = ["certificate.pem", "key.pem", "relay.db"]
        self.assertEqual(sorted(os.listdir(self.copy)), names, "the copy needs no log")
        os.chmod(self.folder.name, 0o755)
        # Root may write everywhere.
        user = 65_534 if os.geteuid() == 0 else None
        for mode in ["DELETE", "WAL"]:
            database = sqlite3.connect(self.copy + "/relay.db")
            database.execute(f"PRAGMA journal_mode={mode}")
            database.close()
            self.assertEqual(sorted(os.listdir(self.copy)), names)
            for name in names:
                os.chown(Path(self.copy, name), user or -1, -1)
                os.chmod(Path(self.copy, name), 0o400)
            os.chown(self.copy, user or -1, -1)
            os.chmod(self.copy, 0o500)
            shutil.rmtree(self.data)
            os.mkdir(self.data, 0o700)
            os.chown(self.data, user or -1, -1)
            for arguments in [("verify", "--data", self.copy), ("restore", "--from", self.copy, "--data", self.data)]:
                done = admin(*arguments, user=user)
                self.assertEqual((done.returncode, done.stderr), (0, ""), (mode, arguments))
            os.chmod(self.copy, 0o700)
            os.chmod(self.copy + "/relay.db", 0o600)
        self.assertEqual(self.person(self.start()).take_all(mailbox), [b"kept"])

    def test_a_damaged_backup_is_not_restored_and_damaged_data_not_backed_up(self):
        self.start().kill(signal.SIGTERM)
        self.succeeds("backup", "--data", self.data, "--to", self.copy)
        whole = Path(self.copy + "/relay.db").read_bytes()
        Path(self.copy + "/relay.db").write_bytes(whole[:4_096] + bytes([0xA5]) * 4_096 + whole[8_192:])
        before = Path(self.data + "/relay.db").read_bytes()
        self.fails("is damaged", "restore", "--from", self.copy, "--data", self.data, "--replace", "yes")
        self.assertEqual(Path(self.data + "/relay.db").read_bytes(), before)
        self.fails("is damaged", "backup", "--data", self.copy, "--to", self.folder.name + "/again")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["copy", "data", "data.log"])

    def test_a_disk_that_is_full_leaves_nothing_half_made(self):
        relay = self.start()
        person = self.person(relay)
        for _ in range(4):
            mailbox = person.mailbox()
            for _ in range(32):
                person.send(mailbox, bytes(16_000))
        limited = subprocess.run(
            ["sh", "-c", 'ulimit -f 512; trap "" XFSZ; exec "$@"', "sh", PROGRAM, "backup", "--data", self.data, "--to", self.copy],
            capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((limited.returncode, limited.stdout), (1, ""), limited.stderr)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["data", "data.log"])
        self.assertEqual(relay.operator("/health"), (200, "ok\n"))
        self.succeeds("backup", "--data", self.data, "--to", self.copy)


if __name__ == "__main__":
    unittest.main()
