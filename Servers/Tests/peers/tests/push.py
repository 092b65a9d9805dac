"""porter-push in its own process, a device that receives its pushes, and people with the library."""

import asyncio
import http.client
import json
import os
import queue
import re
import signal
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path

from .support import PATIENCE, ROOT

PROGRAM = os.environ.get("PORTER_PUSH_PROGRAM", str(ROOT / "Servers/.build/debug/porter-push"))
os.environ.setdefault("NIGHTPORTER_LIBRARY", str(ROOT / ".build/debug/libnightporter.so"))
os.environ.setdefault("NIGHTPORTER_NET_LIBRARY", str(ROOT / ".build/debug/libnightporter-net.so"))
sys.path.insert(0, str(ROOT / "bindings/python"))


class PushServer:
    """A running porter-push. `settings` are the program's, by name, with `_` for `-`."""

    def __init__(self, folder: str, **settings: str):
        values = {"state": f"{folder}/server.db", "operators": "127.0.0.1:0"}
        values.update({name.replace("_", "-"): value for name, value in settings.items()})
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PORTER_PUSH_")}
        self.log = open(f"{folder}/push.log", "a+")
        self.start = self.log.tell()
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *(f"--{name}={value}" for name, value in values.items())],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment)

    def link(self) -> str:
        """Waits for the server's link, which it prints once it has reached the relay."""
        line = self.process.stdout.readline().strip()
        assert line, "porter-push ended: " + self.lines()
        return line

    def lines(self) -> str:
        return Path(self.log.name).read_text()[self.start :]

    def wait(self, until) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            assert self.process.poll() is None and time.monotonic() < end, self.lines()
            time.sleep(0.01)

    def wait_for_line(self, text: str) -> None:
        self.wait(lambda: text in self.lines())

    def operator(self, path: str) -> tuple[int, str]:
        self.wait_for_line("operators=")
        port = int(re.findall(r"operators=(\d+)", self.lines())[-1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", path)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def wait_for_health(self, status: int, text: str) -> None:
        self.wait(lambda: (answer := self.operator("/health"))[0] == status and text in answer[1])

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        if not self.log.closed:
            self.process.stdout.close()
            self.log.close()
        return code


class Device:
    """A phone, as the local provider reaches it. While `answers` is cleared, it takes pushes without answering."""

    def __init__(self, path: str):
        pushes: queue.Queue[dict] = queue.Queue()
        answers = threading.Event()
        answers.set()

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                if line := self.rfile.readline():
                    pushes.put(json.loads(line))
                    answers.wait(PATIENCE)
                    try:
                        self.wfile.write(b'{"status":200}\n')
                    except BrokenPipeError:
                        # The server no longer waits for it.
                        pass

        self.pushes = pushes
        self.answers = answers
        self.server = socketserver.ThreadingUnixStreamServer(path, Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def push(self) -> dict:
        """Waits for the next push."""
        return self.pushes.get(timeout=PATIENCE)

    def waiting(self) -> list[dict]:
        """The pushes that have come already."""
        return [self.pushes.get() for _ in range(self.pushes.qsize())]

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


async def begin(c, name: str, link: str | None, relay: str | None = None) -> None:
    """Creates a profile and starts the chat. `relay` is an embedded relay's file."""
    await c.send('/_create user {"profile":{"displayName":"%s","fullName":""}}' % name)
    network = {name: value for name, value in (("relay", relay), ("ntfServer", link)) if value}
    if network:
        await c.send(f"/_network {json.dumps(network)}")
    await c.send("/_start")


async def contact(c) -> int:
    async for event in c.events():
        if event["type"] == "contactConnected":
            return event["contact"]["contactId"]
    raise AssertionError("no events")


async def acquaint(alice, bob) -> int:
    """Connects the two; returns Bob's contact for Alice."""
    invitation = await alice.send("/_connect 1")
    await bob.send("/connect " + invitation["connLinkInvitation"]["connFullLink"])
    known = await contact(bob)
    await contact(alice)
    return known


async def activate(c, device: Device, token: str) -> list[dict]:
    """Registers the device's token, and verifies it with the code from a push. Returns the pushes that came before: one whose answer was too slow
    comes again."""
    await c.send(f"/_ntf register apns_test {token} INSTANT")
    others, data = [], {}
    while "verification" not in data:
        push = await asyncio.to_thread(device.push)
        if push["token"] == token:
            data = push["payload"].get("notificationData", {})
        others.append(push)
    others.pop()
    await c.send(f"/_ntf verify apns_test {token} {data['nonce']} {data['verification']}")
    status = (await c.send(f"/_ntf check apns_test {token}"))["status"]
    assert status == "ACTIVE", status
    return others


async def watched(c) -> None:
    """Waits until the server knows of a mailbox, which may be later than the token's activation. Messages before that have no push, and an app that
    is suspended leaves it for its next start."""
    end = time.monotonic() + PATIENCE
    while not any(state.startswith("created") for state in (await c.state())["notifications"]["subscriptions"]):
        assert time.monotonic() < end, await c.state()
        await asyncio.sleep(0.01)


def text(known: int, words: str) -> str:
    return f'/_send @{known} json [{{"msgContent":{{"type":"text","text":"{words}"}}}}]'
