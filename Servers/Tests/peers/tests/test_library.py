"""libnightporter-net, the client for hosts without an HTTP client of their own, with a porter-relay."""

import subprocess

from nacl.signing import SigningKey

from . import protocol
from .support import ROOT, RelayTestCase

DRIVER = ROOT / ".build/debug/net-test-driver"


class Host:
    """The driver of the library's own tests: one transport in a process, controlled by lines of text."""

    def __init__(self, address: str, **options: str):
        self.process = subprocess.Popen([DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.number = 0
        self.readies = 0
        self.say(" ".join(["open", address, *(f"{name}={value}" for name, value in options.items())]))
        assert self.line().startswith("opened")

    def say(self, line: str) -> None:
        self.process.stdin.write(line + "\n")

    def line(self) -> str:
        """The next line that is not about news; counts the lines that are."""
        while line := self.process.stdout.readline().strip():
            if not line.startswith("ready"):
                return line
            self.readies += 1
        raise AssertionError("the host ended")

    def answer(self, request: bytes) -> list[str]:
        self.number += 1
        self.say(f"exchange x{self.number} 30000 {request.hex()}")
        return self.line().split()

    def exchange(self, request: bytes) -> bytes:
        words = self.answer(request)
        assert words[2] == "0", words
        return bytes.fromhex(words[4])

    def wait_for_news(self) -> None:
        line = self.process.stdout.readline()
        assert line.startswith("ready"), line
        self.readies += 1

    def close(self) -> None:
        self.say("quit")
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        assert self.process.wait(120) == 0


class LibraryTests(RelayTestCase):
    def host(self, address: str, **options: str) -> Host:
        host = Host(address, **options)
        self.addCleanup(host.close)
        return host

    def test_it_sends_and_receives_by_the_address_that_the_relay_prints(self):
        relay = self.start()
        host = self.host(relay.address.replace("localhost", "127.0.0.1"))
        person = protocol.Client(host.exchange)
        mailbox = person.mailbox()
        for number in range(20):
            person.send(mailbox, b"%d" % number)
        self.assertEqual(person.take_all(mailbox), [b"%d" % number for number in range(20)])
        self.assertLessEqual(relay.metric("porter_relay_connections"), 2, "connections are used again")

    def test_it_refuses_another_key(self):
        relay = self.start()
        host = self.host(f"https://127.0.0.1:{relay.port}#" + "A" * 43)
        words = host.answer(protocol.request(b"\4", protocol.identifier(), SigningKey.generate()))
        self.assertEqual((words[2], words[3]), ("7", "fingerprint"))

    def test_it_has_news_and_none_after_a_suspension(self):
        relay = self.start()
        host = self.host(relay.address.replace("localhost", "127.0.0.1"), news="1")
        person = protocol.Client(host.exchange)
        mailbox, key = person.mailbox(), SigningKey.generate()
        person.ask(protocol.listen(key, [mailbox]))
        if not host.readies:
            host.wait_for_news()
        self.person(relay).send(mailbox, b"x")
        host.wait_for_news()
        self.assertEqual(person.take_all(mailbox), [b"x"])
        host.say("suspend")
        self.assertEqual(host.line(), "suspended")
        while relay.metric("porter_relay_streams"):
            self.assertIsNone(relay.process.poll())

    def test_after_a_restart_it_asks_and_is_told_to_listen_again(self):
        relay = self.start()
        port = relay.port
        host = self.host(relay.address.replace("localhost", "127.0.0.1"), news="1")
        person = protocol.Client(host.exchange)
        mailbox, key = person.mailbox(), SigningKey.generate()
        _, fields = person.ask(protocol.listen(key, [mailbox]))
        if not host.readies:
            host.wait_for_news()
        relay.kill()
        relay = self.start(listen=f"127.0.0.1:{port}")
        host.wait_for_news()
        with self.assertRaisesRegex(protocol.Refused, "auth"):
            person.ask(protocol.arrivals(key, fields[:32]))
        person.ask(protocol.listen(key, [mailbox]))
        self.person(relay).send(mailbox, b"x")
        host.wait_for_news()
