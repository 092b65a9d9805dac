"""Measures how fast porter-push sends to APNs, against h2load sending the same requests to the same nghttpd, in one run: `make bench-providers`.

nghttpd is nghttp2's C server. Both senders have one connection, as many streams as it allows, and TLS; a body is 3.8 KB. They
take turns, and the median of the rounds counts. Pushes per second and core are per second of the sender's processor time.
"""

import json
import os
import resource
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

COUNT = int(os.environ.get("COUNT", "50000"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
STREAMS = 1000
TOKEN = "aa" * 32
GOAL = 5000


def openssl(*arguments: str, folder: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def prepare(folder: str) -> None:
    curve = ["-pkeyopt", "ec_paramgen_curve:P-256"]
    openssl(
        *["req", "-x509", "-newkey", "ec", *curve, "-nodes", "-days", "2", "-subj", "/CN=localhost"],
        *["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "certificate.pem"],
        folder=folder,
    )
    openssl("genpkey", "-algorithm", "EC", *curve, "-out", "AuthKey.p8", folder=folder)
    os.chmod(folder + "/AuthKey.p8", 0o600)
    device = Path(folder, "files", "3", "device", TOKEN)
    device.parent.mkdir(parents=True)
    device.write_text("")
    Path(folder, "body").write_text('{"aps":{"mutable-content":1},"notificationData":{"message":"%s"}}' % ("A" * 3_700))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def serve(folder: str) -> tuple[subprocess.Popen, int]:
    port = free_port()
    words = ["nghttpd", "-n1", "-m", str(STREAMS), "-a", "127.0.0.1", "-d", "files", str(port), "key.pem", "certificate.pem"]
    server = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.05)
    server.kill()
    raise RuntimeError("nghttpd does not listen")


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(folder: str, port: int) -> tuple[float, float]:
    """Pushes per second, and per second of processor time."""
    words = [os.environ["PORTER_PUSH_LOAD"], str(port), "certificate.pem", "AuthKey.p8", str(COUNT), str(STREAMS)]
    result = json.loads(subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout)
    assert result["refused"] == 0, result
    return COUNT / result["seconds"], COUNT / result["processorSeconds"]


def reference(folder: str, port: int) -> tuple[float, float]:
    words = ["h2load", "-n", str(COUNT), "-c", "1", "-m", str(STREAMS), "-d", "body", "-H", "apns-topic: org.example.app"]
    words += ["-H", "apns-push-type: alert", "-H", "apns-priority: 10", f"https://localhost:{port}/3/device/{TOKEN}"]
    before = children()
    output = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout
    used = children() - before
    assert f"{COUNT} succeeded, 0 failed" in output, output
    rate = next(float(line.split(",")[1].split()[0]) for line in output.splitlines() if line.startswith("finished in"))
    return rate, COUNT / used


def main() -> None:
    rows: dict[str, list[tuple[float, float]]] = {"porter-push's APNs provider": [], "h2load": []}
    with tempfile.TemporaryDirectory(dir=os.environ.get("FOLDER")) as folder:
        prepare(folder)
        server, port = serve(folder)
        try:
            for number in range(ROUNDS):
                turns = [("porter-push's APNs provider", ours), ("h2load", reference)]
                for name, measure in turns if number % 2 == 0 else reversed(turns):
                    rows[name].append(measure(folder, port))
        finally:
            server.terminate()
            server.wait(10)
    print("| sender | pushes a second | per second and core |\n|---|---|---|")
    for name, found in rows.items():
        print(f"| {name} | {statistics.median(rate for rate, _ in found):,.0f} | {statistics.median(core for _, core in found):,.0f} |")
    (first, second) = rows.values()
    ratio = statistics.median(ours[1] / theirs[1] for ours, theirs in zip(first, second))
    print(f"\nper core beside h2load: {ratio:.2f}; goal: {GOAL:,} a second and core")


main()
