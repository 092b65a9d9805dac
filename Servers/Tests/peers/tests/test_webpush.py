"""porter-push between an app, played by the library in Python, and a stand-in for a push service that opens messages with http-ece."""

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .push import PROGRAM, PushServer, acquaint, begin, text, watched
from .support import PATIENCE

STAND_IN = Path(__file__).parents[1] / "webpush.py"


class PushService:
    def __init__(self, folder: str):
        self.process = subprocess.Popen(
            [sys.executable, STAND_IN, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        first = json.loads(self.process.stdout.readline())
        self.port, self.sender = first["port"], first["sender"]
        self.keys = first["p256dh"] + first["auth"]

    def token(self, path: str, host: str = "localhost") -> str:
        """The token, as a host makes it from what its push service's client returns."""
        return self.keys + f"https://{host}:{self.port}{path}".encode().hex()

    def order(self, **order: object) -> dict:
        self.process.stdin.write(json.dumps(order) + "\n")
        return json.loads(self.process.stdout.readline())

    def push(self, number: int) -> dict:
        """Waits for this push."""
        self.order(**{"await": number})
        return self.order(report=True)["requests"][number - 1]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class WebPushProgramTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.service = PushService(self.folder)
        self.addCleanup(self.service.close)

    def settings(self) -> dict[str, str]:
        return {
            "relay": f"{self.folder}/relay.db", "webpush_key": f"{self.folder}/vapid.pem",
            "webpush_contact": "mailto:operator@example.org", "webpush_authority": f"{self.folder}/server.pem",
            "webpush_private_addresses": "yes",
        }

    def test_a_message_is_delivered_through_web_push_until_the_subscription_ends(self) -> None:
        server = PushServer(self.folder, **self.settings())
        self.addCleanup(server.end)
        asyncio.run(asyncio.wait_for(self.story(server.link()), PATIENCE))
        self.assertEqual(server.end(), 0)
        self.assertNotIn("localhost", server.lines())
        self.assertNotIn(self.service.keys, server.lines())

    async def story(self, link: str) -> None:
        from nightporter import Controller

        relay, token = f"{self.folder}/relay.db", self.service.token("/push/alice")
        async with Controller(f"{self.folder}/alice") as alice, Controller(f"{self.folder}/bob") as bob:
            await begin(alice, "alice", link, relay=relay)
            await begin(bob, "bob", None, relay=relay)
            known = await acquaint(alice, bob)

            # The service postpones the first attempt by a second: too many requests.
            self.service.order(plan=[{"status": 429, "retryAfter": 1}])
            await alice.send(f"/_ntf register webpush {token} INSTANT")
            push = await asyncio.to_thread(self.service.push, 2)
            self.assertEqual((push["path"], push["urgency"], push["topic"]), ("/push/alice", "normal", "verification"))
            data = json.loads(push["body"])["notificationData"]
            await alice.send(f"/_ntf verify webpush {token} {data['nonce']} {data['verification']}")
            self.assertEqual((await alice.send(f"/_ntf check webpush {token}"))["status"], "ACTIVE")

            await watched(alice)
            await alice.suspend()
            await bob.send(text(known, "hello"))
            push = await asyncio.to_thread(self.service.push, 3)
            self.assertEqual((push["urgency"], push["ttl"]), ("high", str(21 * 86_400)))
            self.assertNotIn("hello", push["body"])
            # The host hands over the opened message unchanged.
            answer = await alice.receive_push(json.loads(push["body"]))
            self.assertEqual(answer["notifications"][0]["body"], "hello")

            self.service.order(plan=[{"status": 410}])
            await bob.send(text(known, "gone"))
            await asyncio.to_thread(self.service.push, 4)
            await alice.activate()
            while (status := (await alice.send(f"/_ntf check webpush {token}"))["status"]) == "ACTIVE":
                pass
            self.assertEqual(status, "INVALID,UNREGISTERED")

    def test_a_stop_ends_a_drain_before_its_pushes_are_answered(self) -> None:
        server = PushServer(self.folder, **self.settings())
        self.addCleanup(server.end)
        asyncio.run(asyncio.wait_for(self.begin_push(server.link()), PATIENCE))
        server.process.send_signal(signal.SIGUSR1)
        server.wait_for_line("message=draining")
        # Draining again changes nothing.
        server.process.send_signal(signal.SIGUSR1)
        self.assertEqual(server.end(signal.SIGTERM), 0)
        self.assertNotIn("kind=verification outcome=", server.lines())

    async def begin_push(self, link: str) -> None:
        """Returns when the push service has the verification push, and leaves it unanswered."""
        from nightporter import Controller

        async with Controller(f"{self.folder}/alice") as alice:
            await begin(alice, "alice", link, relay=f"{self.folder}/relay.db")
            self.service.order(plan=[{"hold": True}])
            await alice.send(f"/_ntf register webpush {self.service.token('/push/alice')} INSTANT")
            await asyncio.to_thread(self.service.push, 1)

    def test_push_services_that_do_not_work_are_said_until_they_do(self) -> None:
        server = PushServer(self.folder, **self.settings())
        self.addCleanup(server.end)
        asyncio.run(asyncio.wait_for(self.outage(server, server.link()), 2 * PATIENCE))
        self.assertEqual(server.end(), 0)
        self.assertNotIn("localhost", server.lines())

    async def outage(self, server: PushServer, link: str) -> None:
        from nightporter import Controller

        async with Controller(f"{self.folder}/alice") as alice:
            await begin(alice, "alice", link, relay=f"{self.folder}/relay.db")
            self.service.order(plan=[{"status": 503}])
            await alice.send(f"/_ntf register webpush {self.service.token('/push/1')} INSTANT")
            line = "provider webpush: push services in use: 1, failing: 1 (503: 1)"
            await asyncio.to_thread(server.wait_for_health, 503, line)
            self.assertEqual(server.operator("/ready")[0], 200, "clients are served")
            self.assertIn("no push service works", server.lines())
            self.assertIn("porter_push_webpush_services_failing 1", server.operator("/metrics")[1])
            # The push is retried after half a minute.
            await asyncio.to_thread(self.service.push, 2)
            await asyncio.to_thread(server.wait_for_health, 200, "ok")
            self.assertIn("push services work again", server.lines())

            # Another name is another service. If one fails while another works, that is only noted.
            await alice.send(f"/_ntf register webpush {self.service.token('/push/2', '127.0.0.1')} INSTANT")
            await asyncio.to_thread(self.service.push, 3)
            self.service.order(plan=[{"status": 503}])
            await alice.send(f"/_ntf register webpush {self.service.token('/push/3', '127.0.0.1')} INSTANT")
            line = "ok\nprovider webpush: push services in use: 2, failing: 1 (503: 1)\n"
            await asyncio.to_thread(server.wait_for_health, 200, line)

    def test_the_key_for_clients_is_printed(self) -> None:
        values = {name.replace("_", "-"): value for name, value in self.settings().items()}
        flags = [f"--{name}={value}" for name, value in values.items()]
        checked = subprocess.run([PROGRAM, "check", *flags], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((checked.returncode, checked.stdout), (0, f"webpush {self.service.sender}\nok\n"))
        del values["webpush-contact"]
        flags = [f"--{name}={value}" for name, value in values.items()]
        checked = subprocess.run([PROGRAM, "check", *flags], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(checked.returncode, 1)
        self.assertIn("webpush-contact is not set", checked.stderr)
