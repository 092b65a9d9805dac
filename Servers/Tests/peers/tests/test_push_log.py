"""The log of porter-push: lines that a program reads, about no person."""

import asyncio
import base64
import contextlib
import json
import os
import sqlite3
import unittest

from .push import PushServer, acquaint, begin, text, watched
from .support import RelayTestCase
from .test_apns import TOKEN, Apple, settings
from .test_webpush import PushService


class PushLogTests(RelayTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.relay = self.start()
        self.folders = {name: f"{self.folder.name}/{name}" for name in ("apple", "service")}
        for folder in self.folders.values():
            os.mkdir(folder)
        self.apple, self.service = Apple(self.folders["apple"]), PushService(self.folders["service"])
        self.addCleanup(self.apple.close)
        self.addCleanup(self.service.close)
        self.address = self.relay.address.replace("localhost", "127.0.0.1")

    def test_lines_have_their_values_apart_and_name_no_person(self) -> None:
        values = settings(self.folders["apple"], self.apple.port) | {
            "relay": self.address, "webpush_key": f"{self.folders['service']}/vapid.pem", "webpush_contact": "mailto:operator@example.org",
            "webpush_authority": f"{self.folders['service']}/server.pem", "webpush_private_addresses": "yes",
            "webpush_timeout": "2s", "apns_timeout": "2s", "log_level": "debug", "log_form": "json"}
        server = PushServer(self.folder.name, **values)
        self.addCleanup(server.end)
        link = server.link()
        asyncio.run(asyncio.wait_for(self.story(server, link), 240))
        self.assertEqual(server.end(), 0)

        lines = [json.loads(line) for line in server.lines().splitlines()]
        for line in lines:
            self.assertLessEqual({"time", "level", "message"}, set(line))
            self.assertTrue(all(isinstance(value, str) for value in line.values()), line)
            # A value in a message is `name=value`.
            self.assertNotIn("=", line["message"])
        self.assertLessEqual({"debug", "info", "warning"}, {line["level"] for line in lines})
        pushes = {(line["kind"], line["outcome"]) for line in lines if line["message"] == "push"}
        self.assertLessEqual({("verification", "accepted"), ("message", "accepted")}, pushes)
        [paused] = [line for line in lines if line["message"] == "a push provider cannot be reached"][:1]
        self.assertEqual((paused["provider"], paused["reason"]), ("apns_dev", "503 ServiceUnavailable"))
        self.assertIn(
            ("503", "ServiceUnavailable"), {(line.get("status"), line.get("reason")) for line in lines if line["message"] == "refused"})
        self.assertTrue(any(line["message"] == "request" and line["command"] for line in lines))
        for secret in self.secrets(link):
            self.assertNotIn(secret, server.lines())

    def secrets(self, link: str) -> list[str]:
        found = [TOKEN, self.service.keys, "localhost", "127.0.0.1", "/push/", "hello", "alice", "bob", link, self.relay.fingerprint]
        # Of mailboxes, notifiers and their keys.
        identifiers: set[bytes] = set()
        with contextlib.closing(sqlite3.connect(f"{self.folder.name}/data/relay.db")) as store:
            for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in store.execute(f"SELECT * FROM {table}"):
                    identifiers.update(value for value in row if isinstance(value, bytes) and len(value) in (24, 32))
        self.assertGreater(len(identifiers), 10)
        for identifier in identifiers:
            found += [identifier.hex(), base64.urlsafe_b64encode(identifier).rstrip(b"=").decode()]
        return found

    async def story(self, server: PushServer, link: str) -> None:
        """Each of two people has a provider, which first fails, and a message."""
        from nightporter import Controller

        folder = self.folder.name
        async with (
            Controller(folder + "/alice", relay=self.address) as alice, Controller(folder + "/bob", relay=self.address) as bob,
        ):
            await begin(alice, "alice", link)
            await begin(bob, "bob", link)
            known = await acquaint(alice, bob)
            self.apple.order(plan=[{"status": 503, "reason": "ServiceUnavailable"}] * 2)
            await self.register(alice, "apns_dev", TOKEN, self.apple, 3)
            self.service.order(plan=[{"drop": True}])
            await self.register(bob, "webpush", self.service.token("/push/bob"), self.service, 2)
            await watched(alice)
            await alice.suspend()
            await bob.send(text(known, "hello"))
            await asyncio.to_thread(self.apple.push, 4)
            await asyncio.to_thread(server.wait, lambda: '"kind":"message"' in server.lines())

    async def register(self, c, provider: str, token: str, service: Apple | PushService, number: int) -> None:
        """The service accepts its push with this number."""
        await c.send(f"/_ntf register {provider} {token} INSTANT")
        data = json.loads((await asyncio.to_thread(service.push, number))["body"])["notificationData"]
        await c.send(f"/_ntf verify {provider} {token} {data['nonce']} {data['verification']}")
        self.assertEqual((await c.send(f"/_ntf check {provider} {token}"))["status"], "ACTIVE")


if __name__ == "__main__":
    unittest.main()
