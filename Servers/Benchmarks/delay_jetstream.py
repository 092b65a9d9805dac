"""Like `delay.py`, with the mailboxes of porter-relay and the tokens of porter-push in NATS JetStream: `make bench-delay-jetstream`.

NODES is the number of nodes, up to three, with a replica of everything on each. The mailboxes are made through the relay's protocol. The tokens
are copies of one that the library has registered, in the cluster's format; the server finds in them what it has to watch at the relay.
"""

import asyncio
import itertools
import os
import random
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from nacl.public import PrivateKey
from nacl.signing import SigningKey

sys.path.insert(0, str(Path(__file__).resolve().parent))
import delay  # noqa: E402
import push_cost_jetstream as cost  # noqa: E402
import scale_jetstream as scale  # noqa: E402
from tests import nats, protocol, push, support, test_apns  # noqa: E402

NODES = int(os.environ.get("NODES", "1"))
# Each mailbox takes about as many messages as come in a run.
EACH = int(os.environ.get("EACH", "120"))
MAKERS = 8


def register(folder: Path, store: dict[str, str]) -> sqlite3.Row:
    """A device whose token is active, at a server with a file."""
    apple = test_apns.Apple(str(folder))
    relay = support.Relay(str(folder), **store)
    settings = delay.push_settings(folder, relay, apple.port)
    server = push.PushServer(str(folder), **settings)
    try:
        asyncio.run(asyncio.wait_for(delay.register(folder, settings["relay"], server.link(), apple), support.PATIENCE))
    finally:
        server.end()
        relay.kill(15)
        apple.close()
    with closing(sqlite3.connect(folder / "server.db")) as state:
        state.row_factory = sqlite3.Row
        return state.execute("SELECT token.*, notifier, key FROM token JOIN subscription ON token = token.number").fetchone()


@dataclass
class Made:
    """A device's mailbox."""

    sender: bytes
    notifier: bytes


class Makers:
    """Create mailboxes through the relay's protocol, with this key of their senders and this one of their notifiers."""

    def __init__(self, relay: support.Relay, sender: SigningKey, notifier: SigningKey):
        self.relay, self.sender, self.notifier = relay, sender, notifier

    def make(self, count: int) -> list[Made]:
        with ThreadPoolExecutor(MAKERS) as pool:
            shares = pool.map(self.some, [len(range(index, count, MAKERS)) for index in range(MAKERS)])
            return list(itertools.chain.from_iterable(shares))

    def some(self, count: int) -> list[Made]:
        client = support.HTTP1(self.relay.port)
        client.patience = support.PATIENCE
        person = protocol.Client(client.exchange)
        try:
            return [self.one(person) for _ in range(count)]
        finally:
            client.close()

    def one(self, person: protocol.Client) -> Made:
        key = SigningKey.generate()
        _, fields = person.ask(protocol.create(key, self.sender))
        mailbox = protocol.Mailbox(fields[:24], fields[24:], key, self.sender)
        _, fields = person.ask(protocol.enable_notifier(mailbox, self.notifier, PrivateKey.generate().public_key))
        return Made(mailbox.sender, fields[:24])


def device(token: sqlite3.Row, notifier: bytes) -> tuple[cost.Device, bytes]:
    """A copy of the token, and what Apple's service knows it by."""
    copy = dict(token) | {"id": os.urandom(24), "push_token": os.urandom(32)}
    return cost.Device(copy["id"], notifier, cost.document(copy, notifier, token["key"], subscriptions=1)), copy["push_token"]


def spread(node: nats.Node) -> None:
    """Gives every stream a replica on each node."""
    connection = nats.Connection(node)
    for stream in connection.api("STREAM.NAMES")["streams"]:
        configuration = connection.api(f"STREAM.INFO.{stream}")["config"] | {"num_replicas": NODES}
        answer = connection.api(f"STREAM.UPDATE.{stream}", **configuration)
        assert "error" not in answer, answer
    connection.close()


def requests(made: list[tuple[bytes, Made]], sender: SigningKey) -> Iterator[bytes]:
    for push_token, mailbox in random.sample(made, len(made)):
        signing = protocol.Mailbox(b"", mailbox.sender, sender, sender)
        yield push_token + mailbox.sender + b"".join(delay.request(signing) for _ in range(EACH))


def fill(cluster: nats.Cluster, state: Path, devices: list[cost.Device]) -> None:
    """Creates the server's streams, with its identity and these tokens. It has checked none of their subscriptions yet."""
    [node, *_], secret = cluster.nodes, os.urandom(32)
    scale.load(cluster, 0, 0, 0)
    spread(node)
    cluster.wait()
    scale.put(node, "settings", (each for each in cost.settings(state, secret) if each[0] != b"check"))
    scale.put(node, "tokens", cost.tokens(devices, len(devices)))
    scale.put(node, "subscriptions", cost.records(devices, 0, secret))


def once(folder: Path, stack: ExitStack) -> None:
    cluster = nats.Cluster(NODES, nats.LATER)
    stack.callback(cluster.stop)
    store = {"store": cluster.address, "nats_replicas": str(NODES)}
    token, sender = register(folder, store), SigningKey.generate()
    relay = support.Relay(str(folder), **store)
    try:
        made = Makers(relay, sender, SigningKey(token["key"][:32])).make(delay.TOKENS)
    finally:
        relay.kill(15)
    devices = [device(token, each.notifier) for each in made]
    with open(folder / "requests", "wb") as file:
        file.writelines(requests([(push_token, each) for (_, push_token), each in zip(devices, made)], sender))
    fill(cluster, folder / "server.db", [each for each, _ in devices])
    for each in folder.glob("server.db*"):
        each.unlink()
    # Servers that share tokens check each by itself.
    delay.once(delay.Pair(folder, EACH, delay.TOKENS * delay.CHECKED, relay=store, **store))


def main() -> None:
    print(f"Nodes of {nats.LATER}: {NODES}")
    delay.print_head()
    for _ in range(delay.ROUNDS):
        with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder, ExitStack() as stack:
            once(Path(folder), stack)


if __name__ == "__main__":
    main()
