"""Trouble at a push service: porter-push reports its cause in the log and at /health, sends nothing into the void, and delivers what waits once the
cause is gone, without a restart."""

import asyncio
import json
import tempfile
import time
import unittest
from collections.abc import Callable

from .push import PushServer, acquaint, begin, text, watched
from .support import PATIENCE
from .test_apns import TOKEN, Apple, settings
from .test_webpush import PushService

FOREVER = 1_000


class ProviderTestCase(unittest.TestCase):
    service: Apple | PushService
    provider: str

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def accepted(self) -> list[dict]:
        return [request for request in self.service.order(report=True)["requests"] if request.get("status") in (200, 201)]

    def next_accepted(self, before: int) -> dict:
        """Waits until the service has accepted more than that many pushes."""
        end = time.monotonic() + PATIENCE
        while len(accepted := self.accepted()) <= before:
            self.assertLess(time.monotonic(), end, self.server.lines())
            time.sleep(0.05)
        return accepted[before]

    def is_said_until_it_is_over(self, cause: Callable[[], object], problem: str, logged: str, over: Callable[[], object]) -> None:
        """The trouble begins while a phone sleeps, and a message arrives for it."""
        asyncio.run(asyncio.wait_for(self.story(self.server.link(), cause, problem, logged, over), 2 * PATIENCE))
        self.assertEqual(self.server.end(), 0)
        for secret in (self.token, "localhost", "127.0.0.1", "/push/alice"):
            self.assertNotIn(secret, self.server.lines())

    async def story(self, link: str, cause, problem: str, logged: str, over) -> None:
        from nightporter import Controller

        server = self.server
        async with Controller(f"{self.folder}/alice") as alice, Controller(f"{self.folder}/bob") as bob:
            await begin(alice, "alice", link, relay=f"{self.folder}/relay.db")
            await begin(bob, "bob", None, relay=f"{self.folder}/relay.db")
            known = await acquaint(alice, bob)
            await alice.send(f"/_ntf register {self.provider} {self.token} INSTANT")
            push = await asyncio.to_thread(self.next_accepted, 0)
            data = json.loads(push["body"])["notificationData"]
            await alice.send(f"/_ntf verify {self.provider} {self.token} {data['nonce']} {data['verification']}")
            await watched(alice)
            await alice.suspend()
            self.assertEqual(server.operator("/health"), (200, "ok\n"))
            before = len(self.accepted())

            cause()
            await bob.send(text(known, "hello"))
            await asyncio.to_thread(server.wait_for_health, 503, f"provider {self.provider}: {problem}\n")
            self.assertEqual(server.operator("/ready")[0], 200, "clients are served")
            self.assertIn(logged, server.lines())
            self.assertNotIn(self.recovery, server.lines())
            self.assertEqual(len(self.accepted()), before)

            over()
            push = await asyncio.to_thread(self.next_accepted, before)
            answer = await alice.receive_push(json.loads(push["body"]))
            self.assertEqual([each["body"] for each in answer["notifications"]], ["hello"])
            await asyncio.to_thread(server.wait_for_health, 200, "ok\n")
            await asyncio.to_thread(server.wait_for_line, self.recovery)


class APNsTroubleTests(ProviderTestCase):
    provider, token = "apns_dev", TOKEN
    recovery = "a push provider works again"

    def setUp(self) -> None:
        super().setUp()
        self.service = Apple(self.folder)
        self.addCleanup(self.service.close)
        self.server = PushServer(self.folder, **settings(self.folder, self.service.port), apns_timeout="2s")
        self.addCleanup(self.server.end)

    def said(self, reason: str, cause: Callable[[], object], over: Callable[[], object]) -> None:
        self.is_said_until_it_is_over(cause, f"cannot be reached ({reason})", reason, over)

    def on_new_connections(self, **order: object) -> Callable[[], object]:
        return lambda: self.service.order(**order, disconnect=True)

    def test_a_service_that_never_begins_to_answer(self) -> None:
        self.said("no answer for 2 s", self.on_new_connections(deaf=True), lambda: self.service.order(deaf=False))

    def test_a_service_that_holds_its_answers(self) -> None:
        self.said(
            "no answer for 2 s", lambda: self.service.order(plan=[{"hold": True}] * FOREVER), lambda: self.service.order(plan=[]))

    def test_a_service_that_drops_connections(self) -> None:
        self.said(
            "it closed the connection", lambda: self.service.order(plan=[{"drop": True}] * FOREVER), lambda: self.service.order(plan=[]))

    def test_a_service_that_refuses_connections(self) -> None:
        self.said(
            "connection refused", self.on_new_connections(listening=False), lambda: self.service.order(listening=True))

    def certificate(self, name: str, reason: str) -> None:
        self.said(reason, self.on_new_connections(certificate=name), lambda: self.service.order(certificate="good"))

    def test_a_certificate_that_has_expired(self) -> None:
        self.certificate("expired", "its certificate has expired")

    def test_a_certificate_of_an_unknown_authority(self) -> None:
        self.certificate("strange", "its certificate is not trusted")

    def test_a_certificate_for_another_name(self) -> None:
        self.certificate("misnamed", "its certificate is for another name")

    def test_a_service_that_is_unavailable(self) -> None:
        self.said(
            "503 ServiceUnavailable", lambda: self.service.order(plan=[{"status": 503, "reason": "ServiceUnavailable"}] * FOREVER),
            lambda: self.service.order(plan=[]))

    def test_a_provider_token_that_is_refused(self) -> None:
        reason = "403 InvalidProviderToken"
        self.is_said_until_it_is_over(
            lambda: self.service.order(plan=[{"status": 403, "reason": "InvalidProviderToken"}] * FOREVER),
            f"refuses the provider token or topic ({reason})", reason, lambda: self.service.order(plan=[]))

    def test_a_name_that_does_not_resolve(self) -> None:
        self.server.end()
        values = settings(self.folder, self.service.port) | {"apns_endpoint": "nowhere.invalid:443"}
        self.server = PushServer(self.folder, **values)
        self.addCleanup(self.server.end)
        asyncio.run(asyncio.wait_for(self.unresolved(self.server.link()), PATIENCE))

    async def unresolved(self, link: str) -> None:
        from nightporter import Controller

        async with Controller(f"{self.folder}/alice") as alice:
            await begin(alice, "alice", link, relay=f"{self.folder}/relay.db")
            await alice.send(f"/_ntf register apns_dev {TOKEN} INSTANT")
            await asyncio.to_thread(self.server.wait_for_health, 503, "provider apns_dev: cannot be reached (its name does not resolve)\n")
            self.assertIn("its name does not resolve", self.server.lines())


class WebPushTroubleTests(ProviderTestCase):
    """A push service that fails is left alone for half a minute."""

    provider = "webpush"
    recovery = "push services work again"

    def setUp(self) -> None:
        super().setUp()
        self.service = PushService(self.folder)
        self.addCleanup(self.service.close)
        self.token = self.service.token("/push/alice")
        self.server = PushServer(
            self.folder, relay=f"{self.folder}/relay.db", webpush_key=f"{self.folder}/vapid.pem",
            webpush_contact="mailto:operator@example.org", webpush_authority=f"{self.folder}/server.pem", webpush_private_addresses="yes",
            webpush_timeout="2s")
        self.addCleanup(self.server.end)

    def said(self, reason: str, cause: Callable[[], object], over: Callable[[], object]) -> None:
        self.is_said_until_it_is_over(cause, f"push services in use: 1, failing: 1 ({reason}: 1)", reason, over)

    def test_a_service_that_holds_its_answers(self) -> None:
        self.said(
            "no answer for 2 s", lambda: self.service.order(plan=[{"hold": True}] * FOREVER), lambda: self.service.order(plan=[]))

    def test_a_certificate_that_has_expired(self) -> None:
        self.said(
            "its certificate has expired", lambda: self.service.order(certificate="expired", disconnect=True),
            lambda: self.service.order(certificate="good"))

    def test_a_service_that_refuses_connections(self) -> None:
        self.said(
            "connection refused", lambda: self.service.order(listening=False, disconnect=True), lambda: self.service.order(listening=True))


if __name__ == "__main__":
    unittest.main()
