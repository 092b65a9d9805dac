"""porter-push between a phone's app, which is the library in Python, and a stand-in for Apple's service."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .support import PATIENCE, ROOT

PROGRAM = os.environ.get("PORTER_PUSH_PROGRAM", str(ROOT / "Servers/.build/debug/porter-push"))
os.environ.setdefault("NIGHTPORTER_LIBRARY", str(ROOT / ".build/debug/libnightporter.so"))
sys.path.insert(0, str(ROOT / "bindings/python"))
STAND_IN = Path(__file__).parents[1] / "apns.py"
TOKEN = "ab" * 32


class Apple:
    def __init__(self, folder: str):
        self.process = subprocess.Popen(
            [sys.executable, STAND_IN, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.port = json.loads(self.process.stdout.readline())["port"]

    def order(self, **order: object) -> dict:
        self.process.stdin.write(json.dumps(order) + "\n")
        return json.loads(self.process.stdout.readline())

    def push(self, number: int) -> dict:
        """Waits for it."""
        self.order(**{"await": number})
        return self.order(report=True)["requests"][number - 1]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def settings(folder: str, port: int) -> list[str]:
    values = {
        "relay": f"{folder}/relay.db", "state": f"{folder}/server.db", "apns-environment": "sandbox",
        "apns-key": f"{folder}/AuthKey.p8", "apns-key-id": "ABCDE12345", "apns-team-id": "TEAM567890",
        "apns-topic": "org.example.app", "apns-endpoint": f"localhost:{port}", "apns-authority": f"{folder}/server.pem",
    }
    return [f"--{name}={value}" for name, value in values.items()]


class PushProgramTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.apple = Apple(self.folder)
        self.addCleanup(self.apple.close)

    def serve(self) -> str:
        """Its link."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PORTER_PUSH_")}
        self.server = subprocess.Popen(
            [PROGRAM, "serve", *settings(self.folder, self.apple.port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=environment)
        self.addCleanup(self.end)
        return self.server.stdout.readline().strip()

    def end(self) -> int:
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
        self.lines = self.server.communicate(timeout=PATIENCE)[1] if not self.server.stdout.closed else self.lines
        return self.server.returncode

    def test_a_message_is_delivered_through_apns(self) -> None:
        link = self.serve()
        asyncio.run(asyncio.wait_for(self.story(link), PATIENCE))
        self.assertEqual(self.end(), 0)
        self.assertNotIn(TOKEN, self.lines)

    async def story(self, link: str) -> None:
        from nightporter import Controller

        async def start(c: "Controller", name: str) -> None:
            await c.send('/_create user {"profile":{"displayName":"%s","fullName":""}}' % name)
            await c.send(f"/_network {json.dumps({'relay': self.folder + '/relay.db', 'ntfServer': link})}")
            await c.send("/_start")

        async def contact(c: "Controller") -> int:
            async for event in c.events():
                if event["type"] == "contactConnected":
                    return event["contact"]["contactId"]
            raise AssertionError("no events")

        async with Controller(f"{self.folder}/alice") as alice, Controller(f"{self.folder}/bob") as bob:
            await start(alice, "alice")
            await start(bob, "bob")
            invitation = await alice.send("/_connect 1")
            await bob.send("/connect " + invitation["connLinkInvitation"]["connFullLink"])
            known = await contact(bob)
            await contact(alice)

            # The first push is refused, and comes again: Apple was busy.
            self.apple.order(plan=[{"status": 503, "reason": "ServiceUnavailable"}])
            await alice.send(f"/_ntf register apns_dev {TOKEN} INSTANT")
            push = await asyncio.to_thread(self.apple.push, 2)
            self.assertEqual((push["path"], push["apns_push_type"], push["apns_priority"]), (f"/3/device/{TOKEN}", "background", "5"))
            data = json.loads(push["body"])["notificationData"]
            await alice.send(f"/_ntf verify apns_dev {TOKEN} {data['nonce']} {data['verification']}")
            status = await alice.send(f"/_ntf check apns_dev {TOKEN}")
            self.assertEqual(status["status"], "ACTIVE")

            await alice.suspend()
            await bob.send(f'/_send @{known} json [{{"msgContent":{{"type":"text","text":"hello"}}}}]')
            push = await asyncio.to_thread(self.apple.push, 3)
            self.assertEqual((push["apns_push_type"], push["apns_priority"]), ("alert", "10"))
            self.assertNotIn("hello", push["body"])
            self.assertEqual(json.loads(push["body"])["aps"]["mutable-content"], 1)

    def test_a_key_that_cannot_be_used_is_said_at_the_start(self) -> None:
        def complaint() -> str:
            arguments = [PROGRAM, "serve", *settings(self.folder, self.apple.port)]
            ended = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(ended.returncode, 1)
            return ended.stderr

        key = Path(self.folder) / "AuthKey.p8"
        key.chmod(0o644)
        self.assertIn(f"{key}: others can read this key (mode 644); run: chmod 600 {key}", complaint())
        key.chmod(0o600)
        key.write_text("no key")
        self.assertIn(f"{key}: not a private key in PEM", complaint())
        key.unlink()
        self.assertIn(f"{key}: No such file or directory", complaint())
