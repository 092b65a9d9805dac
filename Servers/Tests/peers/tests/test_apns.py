"""porter-push between a phone's app, played by the library in Python, and a stand-in for Apple's service."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .push import PROGRAM, PushServer, acquaint, begin, text, watched
from .support import PATIENCE

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
        """Waits for this push."""
        self.order(**{"await": number})
        return self.order(report=True)["requests"][number - 1]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def settings(folder: str, port: int) -> dict[str, str]:
    return {
        "relay": f"{folder}/relay.db", "apns_environment": "sandbox",
        "apns_key": f"{folder}/AuthKey.p8", "apns_key_id": "ABCDE12345", "apns_team_id": "TEAM567890",
        "apns_topic": "org.example.app", "apns_endpoint": f"localhost:{port}", "apns_authority": f"{folder}/server.pem",
    }


class PushProgramTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.apple = Apple(self.folder)
        self.addCleanup(self.apple.close)

    def test_a_message_is_delivered_through_apns(self) -> None:
        server = PushServer(self.folder, **settings(self.folder, self.apple.port))
        self.addCleanup(server.end)
        asyncio.run(asyncio.wait_for(self.story(server.link()), PATIENCE))
        self.assertEqual(server.end(), 0)
        self.assertNotIn(TOKEN, server.lines())

    async def story(self, link: str) -> None:
        from nightporter import Controller

        async with Controller(f"{self.folder}/alice") as alice, Controller(f"{self.folder}/bob") as bob:
            await begin(alice, "alice", link, relay=f"{self.folder}/relay.db")
            await begin(bob, "bob", None, relay=f"{self.folder}/relay.db")
            known = await acquaint(alice, bob)

            # Apple is busy: it refuses the first push, which comes again.
            self.apple.order(plan=[{"status": 503, "reason": "ServiceUnavailable"}])
            await alice.send(f"/_ntf register apns_dev {TOKEN} INSTANT")
            push = await asyncio.to_thread(self.apple.push, 2)
            self.assertEqual((push["path"], push["apns_push_type"], push["apns_priority"]), (f"/3/device/{TOKEN}", "background", "5"))
            data = json.loads(push["body"])["notificationData"]
            await alice.send(f"/_ntf verify apns_dev {TOKEN} {data['nonce']} {data['verification']}")
            status = await alice.send(f"/_ntf check apns_dev {TOKEN}")
            self.assertEqual(status["status"], "ACTIVE")

            await watched(alice)
            await alice.suspend()
            await bob.send(text(known, "hello"))
            push = await asyncio.to_thread(self.apple.push, 3)
            self.assertEqual((push["apns_push_type"], push["apns_priority"]), ("alert", "10"))
            self.assertNotIn("hello", push["body"])
            self.assertEqual(json.loads(push["body"])["aps"]["mutable-content"], 1)

    def test_a_key_that_cannot_be_used_is_said_at_the_start(self) -> None:
        def complaint() -> str:
            server = PushServer(self.folder, **settings(self.folder, self.apple.port))
            self.assertEqual(server.process.wait(PATIENCE), 1)
            server.end()
            return server.lines()

        key = Path(self.folder) / "AuthKey.p8"
        key.chmod(0o644)
        self.assertIn(f"{key}: others can read this key (mode 644); run: chmod 600 {key}", complaint())
        key.chmod(0o600)
        key.write_text("no key")
        self.assertIn(f"{key}: not a private key in PEM", complaint())
        for arguments, expected in [
            ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384", "not a P-256 key, which is what ES256 needs"),
            ("genpkey -algorithm RSA", "not a P-256 key, which is what ES256 needs"),
            ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:secret", "encrypted with a password"),
        ]:
            subprocess.run(["openssl", *arguments.split(), "-out", key], check=True, capture_output=True)
            key.chmod(0o600)
            self.assertIn(f"{key}: {expected}", complaint())
        key.unlink()
        self.assertIn(f"{key}: No such file or directory", complaint())


class ConfigurationTests(unittest.TestCase):
    def test_what_is_configured_in_part_is_refused(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PORTER_PUSH_")}
        with tempfile.TemporaryDirectory() as folder:
            relay, key = ["--relay", f"{folder}/relay.db"], f"{folder}/key.pem"
            subprocess.run(
                ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key], check=True, capture_output=True)
            web_push = ["--webpush-key", key, "--webpush-contact", "mailto:operator@example.org"]
            apple = ["--apns-key", key, "--apns-key-id", "ABCDE12345", "--apns-team-id", "TEAM567890", "--apns-topic", "org.example.app"]
            for arguments, expected in [
                (web_push + apple[2:], "apns-key-id is set, apns-key is not"),
                (web_push + apple[6:], "apns-topic is set, apns-key is not"),
                (web_push + ["--apns-authority", key], "apns-authority is set, apns-key is not"),
                (web_push + ["--apns-environment", "production"], "apns-environment is set, apns-key is not"),
                (apple + web_push[2:], "webpush-contact is set, webpush-key is not"),
                (apple + ["--relay-proxy", "http://proxy:1"], "relay-proxy is set, relay is a file"),
                (apple + ["--relay-authority", key], "relay-authority is set, relay is a file"),
                (apple + web_push, ""),
            ]:
                done = subprocess.run(
                    [PROGRAM, "check", "--config", "/dev/null", *relay, *arguments], capture_output=True, text=True, env=environment,
                    timeout=PATIENCE)
                self.assertEqual((done.returncode, done.stderr), (1, f"porter-push: {expected}\n") if expected else (0, ""))
