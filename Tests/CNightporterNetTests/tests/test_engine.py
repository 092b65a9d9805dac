"""Two people over a relay on the network: the library, the transport and a relay, through the Python package."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from typing import Any

from .driver import REPOSITORY, NetCase
from .relay import Relay
from .server import PATIENCE, Server

sys.path.insert(0, str(REPOSITORY / "bindings" / "python"))
os.environ.setdefault("NIGHTPORTER_LIBRARY", str(REPOSITORY / ".build" / "debug" / "libnightporter.so"))

from nightporter import ArgumentError, CallError, Role, SyncController  # noqa: E402
from nightporter import Relay as NetworkRelay  # noqa: E402

# Built by `swift build --package-path Servers`.
PORTER_RELAY = REPOSITORY / "Servers" / ".build" / "debug" / "porter-relay"


def peers() -> set[str]:
    """This process's TCP connections, by socket."""
    mine = {os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if is_link(name)}
    return {f"socket:[{line.split()[9]}]" for line in tcp_table() if line.split()[3] == "01"} & mine


def is_link(name: str) -> bool:
    return os.path.islink(f"/proc/self/fd/{name}")


def tcp_table() -> list[str]:
    with open("/proc/net/tcp") as table:
        return table.read().splitlines()[1:]


class Conversation:
    """Two people communicate over a relay at an address."""

    url: str

    def person(self: Any, name: str, **options: object) -> SyncController:
        person = self.enterContext(SyncController(self.folder / name, relay=self.url, **options))
        if "role" not in options:
            profile = f'{{"displayName":"{name}","fullName":""}}'
            person.send(f'/_create user {{"profile":{profile}}}')
            person.send("/_start")
        return person

    def await_event(self: Any, person: SyncController, kind: str) -> Any:
        for _ in range(1000):
            event = person.next_event(PATIENCE)
            self.assertIsNotNone(event, f"no {kind}")
            if event["type"] == kind:
                return event
        return self.fail(f"no {kind}")

    def await_text(self: Any, person: SyncController, text: str) -> None:
        event = self.await_event(person, "newChatItems")
        self.assertEqual(event["chatItems"][0]["chatItem"]["content"]["msgContent"]["text"], text)

    def connect(self: Any) -> tuple[SyncController, SyncController]:
        alice, bob = self.person("alice"), self.person("bob")
        link = alice.send("/_connect 1")["connLinkInvitation"]["connFullLink"]
        bob.send(f"/connect {link}")
        for person in (alice, bob):
            self.await_event(person, "contactConnected")
        return alice, bob

    def test_two_people_write_to_each_other(self: Any) -> None:
        alice, bob = self.connect()
        bob.send("/_send @1 text hello")
        self.await_text(alice, "hello")
        alice.send("/_send @1 text hello to you")
        self.await_text(bob, "hello to you")

    def test_nothing_of_the_network_is_open_after_a_suspension(self: Any) -> None:
        alice, bob = self.connect()
        before = self.connections()
        alice.suspend()
        between = self.connections()
        bob.suspend()
        self.assertGreater(before, between)
        self.assertGreater(between, 0)
        self.assertEqual(self.connections(), 0)
        self.assertEqual((alice.state()["quiescent"], alice.state()["holds"]), (True, []))
        # Messages sent in the meantime come with the next activation.
        bob.activate()
        bob.send("/_send @1 text while you slept")
        self.await_event(bob, "chatItemsStatusesUpdated")
        alice.activate()
        self.await_text(alice, "while you slept")


class EngineTests(Conversation, NetCase):
    def setUp(self) -> None:
        super().setUp()
        self.relay = Relay()
        self.server = Server(self.certificate)
        self.server.handlers = [self.relay.exchange]
        self.server.news_handler = self.relay.listen
        self.enterContext(self.server)
        self.url = self.pinned(self.server)
        self.addCleanup(lambda: self.assertEqual(self.server.wait(lambda record: record.open == 0), True))

    def connections(self) -> int:
        # The server is in this process, and has the other end of each connection.
        return len(peers()) // 2

    def test_the_environment_names_the_relay(self) -> None:
        os.environ["NIGHTPORTER_RELAY"] = self.url
        self.addCleanup(os.environ.pop, "NIGHTPORTER_RELAY")
        with SyncController(self.folder / "carol") as carol:
            carol.send('/_create user {"profile":{"displayName":"carol","fullName":""}}')
            carol.send("/_start")
            carol.send("/_connect 1")
        self.assertTrue(self.server.exchanges())

    def test_an_extension_opens_no_stream(self) -> None:
        alice, bob = self.connect()
        alice.suspend()
        bob.send("/_send @1 text for the extension")
        self.await_event(bob, "chatItemsStatusesUpdated")
        before = len(self.server.record.requests)
        with SyncController(self.folder / "alice", relay=self.url, role=Role.EXTENSION) as extension:
            answer = extension.receive_push({"aps": {}, "notificationData": {"checkMessages": True}})
            self.assertEqual(extension.state()["quiescent"], True)
        self.assertEqual([n["body"] for n in answer["notifications"]], ["for the extension"], answer)
        later = [r for r in self.server.record.requests[before:] if r.connection.number > 0]
        self.assertTrue([r for r in later if "porter-listener" not in r.headers])
        self.assertFalse([r for r in later if r.path == "/v1/news"])

    def test_the_harness_has_such_a_relay(self) -> None:
        harness = REPOSITORY / ".build" / "debug" / "porter-harness"
        alice, bob = self.connect()
        alice.close()
        bob.send("/_send @1 text for the harness")
        self.await_event(bob, "chatItemsStatusesUpdated")
        push = '{"aps":{},"notificationData":{"checkMessages":true}}\n'
        command = [harness, "extension", "--store", self.folder / "alice", "--relay", self.url]
        answer = subprocess.run(command, input=push, capture_output=True, text=True, check=True, timeout=PATIENCE)
        self.assertEqual([n["body"] for n in json.loads(answer.stdout)["notifications"]], ["for the harness"])
        script = f"""
            a = chat_migrate_init_key "{self.folder}/erin" "" 1 "yesUp" 0
            np_set_relay $a "{self.url}"
            expect "NP_OK"
            chat_send_cmd $a "/_create user {{\\"profile\\":{{\\"displayName\\":\\"erin\\",\\"fullName\\":\\"\\"}}}}"
            chat_send_cmd $a "/_start"
            chat_send_cmd $a "/_connect 1"
            expect "connLinkInvitation"
            np_ctrl_free $a
        """
        ran = subprocess.run([harness, "script"], input=script, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        for wrong in ("https://", "https://relay.test#none"):
            ran = subprocess.run([*command[:-1], wrong], input=push, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(ran.returncode, 2)

    def test_an_address_that_is_none(self) -> None:
        for relay in ("http://relay.test", NetworkRelay(self.url, proxy="socks5://127.0.0.1:1")):
            with self.assertRaises((CallError, ArgumentError)):
                SyncController(self.folder / "dave", relay=relay).open()


class PorterRelayTests(Conversation, NetCase):
    def setUp(self) -> None:
        super().setUp()
        self.process = subprocess.Popen(
            [PORTER_RELAY, "serve", "--data", self.folder / "relay", "--listen", "127.0.0.1:0",
             "--operators", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.addCleanup(self.stop)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"https://\S+", line):
                self.url = found.group()
                break

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate()
        self.assertEqual(self.process.returncode, 0)

    def connections(self) -> int:
        return len(peers())
