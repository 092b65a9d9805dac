"""porter-admin alongside a running relay and notification server, and with invalid folders."""

import asyncio
import base64
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import unittest
from pathlib import Path

from . import protocol
from .push import Device, PushServer, acquaint, activate, begin, text
from .support import HTTP1, PATIENCE, ROOT, RelayTestCase, connect

TOKEN = "cd" * 32
PROGRAM = os.environ.get("PORTER_ADMIN_PROGRAM", str(ROOT / "Servers/.build/debug/porter-admin"))


def admin(*arguments: str, given: str | None = None, user: int | None = None) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PORTER_ADMIN_")}
    return subprocess.run(
        [PROGRAM, "--config", "/dev/null", *arguments], input=given, capture_output=True, text=True, env=environment,
        user=user, timeout=PATIENCE)


class AdminTestCase(RelayTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.data, self.copy = self.folder.name + "/data", self.folder.name + "/copy"

    def succeeds(self, *arguments: str, given: str | None = None) -> str:
        done = admin(*arguments, given=given)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def fails(self, expected: str, *arguments: str) -> None:
        done = admin(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
        self.assertTrue(done.stderr.startswith("porter-admin: "), done.stderr)
        self.assertIn(expected, done.stderr)


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


class TokenTests(AdminTestCase):
    """With a running notification server."""

    whole = "ok: a notification server's data\n"

    @property
    def place(self) -> list[str]:
        """The location of the tokens, for porter-admin."""
        return ["--data", self.server_data]

    def settings(self) -> dict[str, str]:
        return {}

    def setUp(self) -> None:
        super().setUp()
        self.server_data = self.folder.name + "/server"
        os.mkdir(self.server_data)
        self.device = Device(self.folder.name + "/device")
        self.addCleanup(self.device.close)
        self.relay = self.start()
        self.address = self.relay.address.replace("localhost", "127.0.0.1")

    def serve(self) -> PushServer:
        server = PushServer(self.server_data, relay=self.address, local_socket=self.folder.name + "/device", **self.settings())
        self.addCleanup(server.end)
        return server

    def shown(self) -> dict[str, str]:
        out = self.succeeds("token", *self.place, "--token", "-", given=f"apns_test:{TOKEN}\n")
        return dict(line.split(" = ") for line in out.splitlines())

    def test_a_token_is_shown_and_revoked_while_its_server_runs(self) -> None:
        asyncio.run(asyncio.wait_for(self.story(self.serve()), PATIENCE))

    async def story(self, server: PushServer) -> None:
        from nightporter import Controller

        async with Controller(self.folder.name + "/alice", relay=self.address) as alice, Controller(
            self.folder.name + "/bob", relay=self.address) as bob:
            link = server.link()
            await begin(alice, "alice", link)
            await begin(bob, "bob", None)
            known = await acquaint(alice, bob)
            await activate(alice, self.device, TOKEN)
            await alice.suspend()
            await bob.send(text(known, "one"))
            await asyncio.to_thread(self.device.push)
            # If the answer was too slow for one try, the push is repeated.
            await asyncio.to_thread(server.wait_for_line, "kind=message outcome=accepted")
            self.device.waiting()
            shown = self.shown()
            self.assertEqual((shown["provider"], shown["state"]), ("apns_test", "active"))
            self.assertEqual((shown["subscriptions-ACTIVE"], shown["interval"]), ("1", "20 minutes"))
            self.assertNotIn(TOKEN, str(shown))
            by_id = self.succeeds("token", *self.place, "--token", shown["id"])
            self.assertIn(f"id = {shown['id']}\n", by_id)
            self.assertEqual(
                self.succeeds("revoke", *self.place, "--token", shown["id"]), f"{shown['id']} revoked\n")
            self.fails("there is no such token", "token", *self.place, "--token", shown["id"])
            self.fails("there is no such token", "revoke", *self.place, "--token", "apns_test:" + TOKEN)
            self.fails("expected a token's identifier", "token", *self.place, "--token", "apns_test:xyz")
            # No push for this message: the server answers the next token's registration before any other push.
            await bob.send(text(known, "two"))
            async with Controller(self.folder.name + "/carol", relay=self.address) as carol:
                await begin(carol, "carol", link)
                others = await activate(carol, self.device, "ef" * 32)
            self.assertNotIn(TOKEN, [push["token"] for push in others + self.device.waiting()])
            self.assertEqual(self.succeeds("verify", *self.place), self.whole)

    def test_a_drained_server_sends_what_is_due_and_takes_nothing_more(self) -> None:
        asyncio.run(asyncio.wait_for(self.drain(), PATIENCE))

    async def drain(self) -> None:
        from nightporter import Controller

        server = self.serve()
        link = server.link()
        async with Controller(self.folder.name + "/alice", relay=self.address) as alice, Controller(
            self.folder.name + "/bob", relay=self.address) as bob:
            await begin(alice, "alice", link)
            await begin(bob, "bob", None)
            known = await acquaint(alice, bob)
            await activate(alice, self.device, TOKEN)
            await alice.suspend()
            # The device takes the push, but does not answer until the server drains.
            self.device.answers.clear()
            await bob.send(text(known, "one"))
            await asyncio.to_thread(self.device.push)
            draining = await asyncio.create_subprocess_exec(
                PROGRAM, "--config", "/dev/null", "drain", "--data", self.server_data, stdout=asyncio.subprocess.PIPE)
            self.assertEqual(await draining.stdout.readline(), b"draining process %d\n" % server.process.pid)
            await asyncio.to_thread(server.wait_for_line, "message=draining")
            self.device.answers.set()
            self.assertEqual(await draining.stdout.read(), b"ended\n")
            self.assertEqual(await draining.wait(), 0)
            self.assertEqual(await asyncio.to_thread(server.end), 0)
            self.assertIn("kind=message outcome=accepted", server.lines())
            # If the answer was too slow for one try, the push was repeated.
            self.device.waiting()
            await bob.send(text(known, "two"))
            again = self.serve()
            self.assertEqual(again.link(), link)
            push = await asyncio.to_thread(self.device.push)
            self.assertEqual(push["type"], "alert")
            await asyncio.to_thread(again.wait_for_line, "kind=message outcome=accepted")
            self.assertEqual(again.lines().count("kind=message"), 1, "the first was done with")

    def test_a_servers_data_is_backed_up_while_it_runs_and_restored(self) -> None:
        async def register() -> None:
            from nightporter import Controller

            async with Controller(self.folder.name + "/alice", relay=self.address) as alice:
                await begin(alice, "alice", link)
                await activate(alice, self.device, TOKEN)

        server = self.serve()
        link = server.link()
        asyncio.run(asyncio.wait_for(register(), PATIENCE))
        self.assertEqual(self.succeeds("backup", "--data", self.server_data, "--to", self.copy), "ok\n")
        self.fails("a process serves this folder", "restore", "--from", self.copy, "--data", self.server_data)
        self.fails("has a relay's data", "restore", "--from", self.copy, "--data", self.data)
        server.end(signal.SIGKILL)
        shutil.rmtree(self.server_data)
        self.succeeds("restore", "--from", self.copy, "--data", self.server_data)
        shown = self.shown()
        self.assertEqual(shown["state"], "active")
        self.fails("no relay's data", "mailbox", "--data", self.server_data, "--mailbox", shown["id"])
        self.assertEqual(self.serve().link(), link)
        database = sqlite3.connect(self.copy + "/server.db")
        database.execute("UPDATE token SET signing_key = x'00'")
        database.commit()
        database.close()
        self.fails("damaged tokens: 1", "verify", "--data", self.copy)


class ServerFileTests(AdminTestCase):
    """The file of a notification server that does not run."""

    def setUp(self) -> None:
        super().setUp()
        os.mkdir(self.data)
        self.file = self.data + "/server.db"
        self.serve()
        self.change(f"""
            INSERT INTO token (number, id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code, state,
              used_at) VALUES (1, zeroblob(24), 'apns_test', x'{TOKEN}', 0, randomblob(32), randomblob(32), randomblob(32), randomblob(32),
              randomblob(32), 'active', 0);
            INSERT INTO subscription (number, token, notifier, key, status) VALUES (1, 1, zeroblob(24), randomblob(64), 'ACTIVE');
            INSERT INTO notification (token, subscription, seconds, nonce, metadata) VALUES (1, 1, 1, zeroblob(24), zeroblob(100));
        """)

    def serve(self) -> None:
        server = PushServer(self.data, relay=self.folder.name + "/relay.db", local_socket=self.folder.name + "/device")
        server.link()
        self.assertEqual(server.end(), 0)

    def change(self, statements: str) -> None:
        database = sqlite3.connect(self.file)
        database.executescript(statements)
        database.close()

    def test_a_backup_made_before_an_upgrade_is_verified_and_restored(self) -> None:
        self.change("""
            DROP INDEX token_unusable; DROP INDEX token_expired; DROP TRIGGER token_added; DROP TRIGGER token_removed;
            DROP TABLE token_count; ALTER TABLE notification DROP COLUMN milliseconds; PRAGMA user_version = 5;
        """)
        whole = "ok: a notification server's data\n"
        self.assertEqual(self.succeeds("verify", "--data", self.data), whole)
        self.succeeds("backup", "--data", self.data, "--to", self.copy)
        self.assertEqual(self.succeeds("verify", "--data", self.copy), whole)
        self.succeeds("restore", "--from", self.copy, "--data", self.data, "--replace", "yes")
        device = "apns_test:" + TOKEN
        self.assertIn("state = active\n", self.succeeds("token", "--data", self.data, "--token", device))
        self.assertIn(" revoked\n", self.succeeds("revoke", "--data", self.data, "--token", device))
        # The server upgrades it.
        self.serve()
        self.change("SELECT count FROM token_count")
        self.assertEqual(self.succeeds("verify", "--data", self.data), whole)

    def test_each_kind_of_damaged_record_is_found(self) -> None:
        self.succeeds("verify", "--data", self.data)
        for table, value in [("notification", "nonce = x'00'"), ("subscription", "key = x'00'"), ("token", "code = x'00'")]:
            self.change(f"UPDATE {table} SET {value}")
            self.fails(f"damaged {table}s: 1", "verify", "--data", self.data)


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
