"""Measures how long an accepted message takes to reach the push service, through porter-relay and porter-push: `make bench-delay`.

From the relay's answer to the sender until a stand-in for Apple's service has the whole request. The library registers and verifies
the device's token; the other devices are copies of it, each with its own mailbox, as in the file of a sleeping app.
Messages have 1,000 bytes and a signature. `delay-load` sends them and takes the pushes; a device has one message in flight at a time.

Each run starts with fresh files, and first finds the maximum load: messages are sent as fast as devices and connections become
free. Then they come at half that rate, at random intervals. RATE sets the second load instead. The figures of all runs are printed.
"""

import asyncio
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from nacl.signing import SigningKey

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Servers/Tests/peers"), str(ROOT / "bindings/python"), str(ROOT / "Benchmarks")]
from support.server import ServerFiles  # noqa: E402
from tests import protocol, push, support, test_apns  # noqa: E402

TOKENS = int(os.environ.get("TOKENS", "2000"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
WARM_UP, GREATEST, DURATION = 3, float(os.environ.get("GREATEST", "10")), float(os.environ.get("DURATION", "25"))
RATE = float(os.environ.get("RATE", "0"))
CONNECTIONS = 64
# For one device: a mailbox keeps 128 messages.
REQUESTS = 120
LOAD = os.environ.get("PORTER_DELAY_LOAD", str(ROOT / "Servers/.build/debug/delay-load"))
# Subscriptions that porter-push checks in one exchange after its start.
CHECKED = 16


def push_settings(folder: Path, relay: support.Relay, port: int) -> dict[str, str]:
    settings = test_apns.settings(str(folder), port) | {"relay": relay.address.replace("localhost", "127.0.0.1")}
    return settings | {"log_level": "warning"}


async def register(folder: Path, address: str, link: str, apple: test_apns.Apple) -> None:
    """Sets up a device whose token is active and whose app is closed. The message shows that its mailbox is watched."""
    from nightporter import Controller

    async with Controller(f"{folder}/alice", relay=address) as alice, Controller(f"{folder}/bob", relay=address) as bob:
        await push.begin(alice, "alice", link)
        await push.begin(bob, "bob", None)
        known = await push.acquaint(alice, bob)
        await alice.send(f"/_ntf register apns_dev {test_apns.TOKEN} INSTANT")
        data = json.loads((await asyncio.to_thread(apple.push, 1))["body"])["notificationData"]
        await alice.send(f"/_ntf verify apns_dev {test_apns.TOKEN} {data['nonce']} {data['verification']}")
        status = await alice.send(f"/_ntf check apns_dev {test_apns.TOKEN}")
        assert status["status"] == "ACTIVE", status
        await alice.suspend()
        await bob.send(push.text(known, "hello"))
        await asyncio.to_thread(apple.push, 2)


def template(folder: Path) -> None:
    """Creates the files of both programs with one device, and the stand-in's keys."""
    folder.mkdir()
    apple = test_apns.Apple(str(folder))
    relay = support.Relay(str(folder / "data"))
    settings = push_settings(folder, relay, apple.port)
    server = push.PushServer(str(folder), **settings)
    try:
        asyncio.run(asyncio.wait_for(register(folder, settings["relay"], server.link(), apple), support.PATIENCE))
    finally:
        server.end()
        relay.kill(15)
        apple.close()
    for name in ("relay.db", "key.pem", "certificate.pem"):
        shutil.move(folder / "data" / name, folder / name)


def fill(source: Path, folder: Path, tokens: int = TOKENS, each: int = REQUESTS) -> ServerFiles:
    """Makes copies of the device, and `each` signed requests of a sender to each, in random order of devices."""
    files = ServerFiles(source, folder, tokens)
    for name in ("key.pem", "certificate.pem", "AuthKey.p8", "server.pem", "good.pem", "good.key"):
        shutil.copy(source / name, folder / name)
    sender = SigningKey.generate()
    with closing(sqlite3.connect(files.relay)) as store, store:
        store.execute("UPDATE mailbox SET sender = randomblob(24), sender_key = ? WHERE number <= ?", (bytes(sender.verify_key), tokens))
        # The first device's app no longer listens.
        store.execute("DELETE FROM subscription WHERE mailbox = 1")
        senders = dict(store.execute("SELECT number, sender FROM mailbox WHERE number <= ?", (tokens,)))
    with closing(sqlite3.connect(files.state)) as store:
        devices = store.execute("SELECT number, push_token FROM token ORDER BY random()").fetchall()
    with open(folder / "requests", "wb") as requests:
        for number, device in devices:
            mailbox = protocol.Mailbox(b"", senders[number], sender, sender)
            requests.write(device + mailbox.sender + b"".join(request(mailbox) for _ in range(each)))
    return files


def request(mailbox: protocol.Mailbox) -> bytes:
    """The parts that differ between requests: correlation, attempt and signature."""
    attempt = protocol.identifier()
    whole = protocol.send(mailbox, bytes([7]) * 1_000, attempt, notify=True)
    return whole[1:25] + attempt + whole[26:90]


def processor_seconds(process: subprocess.Popen) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Pair:
    """Both programs with these files, and the load, with `most` messages under way. `settings` are more of porter-push's, `relay` of the relay's."""

    def __init__(
            self, folder: Path, each: int = REQUESTS, checked: int = TOKENS, most: int = TOKENS, relay: dict[str, str] | None = None,
            **settings: str):
        self.relay = support.Relay(str(folder), **relay or {})
        words = [LOAD, str(self.relay.port), "requests", str(each), "good.pem", "good.key", str(CONNECTIONS), str(most)]
        self.load = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        port = int(self.load.stdout.readline())
        began = time.monotonic()
        self.push = push.PushServer(str(folder), **push_settings(folder, self.relay, port) | settings)
        self.push.link()
        self.started_in = time.monotonic() - began
        self.push.wait(lambda: self.checks() >= checked / CHECKED)

    def checks(self) -> float:
        lines = re.findall(r'porter_relay_exchanges_total\{command="subscribeNotifiers".*\} (\d+)', self.relay.operator("/metrics")[1])
        return sum(map(int, lines))

    def run(self, order: str) -> dict:
        programs = {"porter-relay": self.relay.process, "porter-push": self.push.process}
        before = {name: processor_seconds(process) for name, process in programs.items()}
        began = time.monotonic()
        self.load.stdin.write(order + "\n")
        result = json.loads(self.load.stdout.readline())
        used = {name: processor_seconds(process) - before[name] for name, process in programs.items()}
        result["processorSeconds"] = used | result["processorSeconds"]
        result["seconds"] = time.monotonic() - began
        assert self.push.process.poll() is None, f"porter-push ended with status {self.push.process.returncode}"
        wrong = {name: result[name] for name in ("refused", "missing", "repeated", "unknown") if result[name]}
        assert not wrong and result["pushed"] == result["sent"], f"{result}\n{self.relay.lines()}\n{self.push.lines()}"
        return result

    def stop(self) -> None:
        self.load.stdin.close()
        self.load.wait(support.PATIENCE)
        self.load.stdout.close()
        self.push.end()
        self.relay.kill(15)


def once(pair: Pair) -> None:
    try:
        pair.run(f"flood {WARM_UP}")
        half = RATE
        if not RATE:
            greatest = pair.run(f"flood {GREATEST}")
            print_row("greatest", greatest)
            half = greatest["perSecond"] / 2
        print_row(f"{half:,.0f} a second", pair.run(f"pace {half} {DURATION}"))
    finally:
        pair.stop()


def print_head() -> None:
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{TOKENS:,} devices, {os.cpu_count()} processors, load before: {load}. Milliseconds; microseconds of processor time for a message.\n")
    print("| load | pushes a second | messages, each pushed once | p50 | p90 | p99 | longest | with the sending: p50, p99 | pushed before the answer was read | porter-relay | porter-push | sender | sink |")
    print("|" + "---|" * 13)


def print_row(name: str, result: dict) -> None:
    delay, whole = ([f"{times[key]:.1f}" for key in ("p50", "p90", "p99", "max")] for times in (result["delay"], result["whole"]))
    used = [f"{seconds / result['sent'] * 1e6:.0f}" for seconds in result["processorSeconds"].values()]
    cells = [name, f"{result['perSecond']:,.0f}", f"{result['sent']:,}", *delay, f"{whole[0]}, {whole[2]}", str(result["early"]), *used]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as parent:
        source, filled = Path(parent, "template"), Path(parent, "filled")
        template(source)
        fill(source, filled)
        print_head()
        for number in range(ROUNDS):
            folder = Path(parent, f"run{number}")
            shutil.copytree(filled, folder)
            once(Pair(folder))
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
