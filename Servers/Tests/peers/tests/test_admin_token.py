"""porter-admin with the data of a notification server."""

import asyncio
import os
import shutil
import signal
import sqlite3
import unittest

from .admin import PROGRAM, TOKEN, AdminTestCase
from .push import Device, PushServer, acquaint, activate, begin, text, watched
from .support import PATIENCE


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
            await watched(alice)
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
            await watched(alice)
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


if __name__ == "__main__":
    unittest.main()
