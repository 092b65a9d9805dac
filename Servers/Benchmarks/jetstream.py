"""Measures porter-relay on JetStream against its own back end, and against publishes through libnats to the same nodes, in one run:
`make bench-jetstream`.

Messages have 1,000 bytes. A send is two publishes, one after the other: the body, and the mailbox's record. Rows are measured in turn;
the best of each counts. `nodes` is the processor time of all nodes per message, which depends less on the machine's other load.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests/peers"))
from tests import nats, protocol, support  # noqa: E402

COUNT = int(os.environ.get("COUNT", "6000"))
# The mailboxes that share a row's sends; 0: one for each hundred sends.
MAILBOXES = int(os.environ.get("MAILBOXES") or 0)
PARTITIONS = os.environ.get("PARTITIONS") or "1"
LOAD = os.environ["PORTER_RELAY_LOAD"]
CLIENTS = [int(count) for count in (os.environ.get("CLIENTS") or "1 16 128").split()]
NODES = [int(count) for count in os.environ.get("NODES", "1 3").split()]


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def processor_time(pid: int) -> float:
    """A process's processor time in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(cluster: nats.Cluster, *arguments: str) -> dict:
    """Runs a program; returns its results, with the nodes' processor time per message in µs."""
    def spent() -> float:
        return sum(processor_time(node.process.pid) for node in cluster.nodes)

    before = spent()
    result = json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
    assert result.get("failures", 0) == 0, result
    return {**result, "nodes": (spent() - before) * 1e6 / result["count"]}


def mailboxes(relay: support.Relay, path: Path, count: int) -> str:
    client = support.HTTP1(relay.port)
    person = protocol.Client(client.exchange)
    path.write_text("".join(person.mailbox(secured=False).sender.hex() + "\n" for _ in range(count)))
    client.close()
    return str(path)


def once(nodes: int, publisher: str, results: dict) -> None:
    def note(name: str, result: dict) -> None:
        name = f"{name}, {nodes} node{'s' if nodes > 1 else ''}"
        if name not in results or result["perSecond"] > results[name]["perSecond"]:
            results[name] = result
            print(name, result, file=sys.stderr)

    cluster = nats.Cluster(nodes)
    try:
        replicas = "3" if nodes > 1 else "1"
        for window in CLIENTS:
            count = str(COUNT if window > 1 else COUNT // 8)
            note(f"publishes, {window} at a time", run(cluster, publisher, cluster.address, f"bench-{window}", replicas, count, str(window)))
        with tempfile.TemporaryDirectory() as folder:
            relay = support.Relay(folder + "/data", store=cluster.address, **{"nats-partitions": PARTITIONS})
            for clients in CLIENTS:
                count = COUNT if clients > 1 else COUNT // 8
                ids = mailboxes(relay, Path(folder) / "ids", MAILBOXES or count // 100)
                note(f"back end, {clients} clients", run(cluster, LOAD, "nats", cluster.address, ids, str(clients), str(count)))
                ids = mailboxes(relay, Path(folder) / "ids", MAILBOXES or count // 100)
                note(f"sends, {clients} clients", run(cluster, LOAD, "http", str(relay.port), ids, str(clients), str(count)))
            results[f"MB, {nodes}"] = {
                "perSecond": 0, "relay": resident(relay.process.pid),
                "nodes": [resident(node.process.pid) for node in cluster.nodes]}
            relay.kill(15)
    finally:
        cluster.stop()


with tempfile.TemporaryDirectory() as tools:
    publisher = tools + "/nats-publish"
    subprocess.run(
        ["cc", "-O2", "-o", publisher, str(Path(__file__).with_name("nats-publish.c")), "-lnats"], check=True)
    results: dict[str, dict] = {}
    for _ in range(int(os.environ.get("ROUNDS", "3"))):
        for nodes in NODES:
            once(nodes, publisher, results)
print(f"| {'':34} | a second | p50 ms | p99 ms | nodes µs |\n|{'-' * 36}|{'-' * 10}|{'-' * 8}|{'-' * 8}|{'-' * 10}|")
for name, result in results.items():
    if name.startswith("MB"):
        continue
    times = [f"{result[key]:6.2f}" if key in result else "      " for key in ["p50", "p99"]]
    print(f"| {name:34} | {result['perSecond']:8,} | {times[0]} | {times[1]} | {result['nodes']:8.0f} |")
for name, result in results.items():
    if name.startswith("MB"):
        print(f"{name} nodes: relay {result['relay']:.0f}, nodes {', '.join(f'{each:.0f}' for each in result['nodes'])}")
