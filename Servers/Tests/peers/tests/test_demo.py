"""`make demo NETWORK=1`: a phone's night with porter-relay and porter-push, in network namespaces or without."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from .support import PATIENCE, ROOT

HARNESS = str(ROOT / ".build/debug/porter-harness")
PROGRAMS = os.environ.get("PORTER_SERVERS", str(ROOT / "Servers/.build/debug"))
# A debug build takes twice the memory of the build for a phone.
COMMAND = [HARNESS, "device", "--json", "--network", PROGRAMS, "--memory-limit", "64"]


def children(process: int) -> dict[str, list[str]]:
    """The network namespaces of a process's children, by the children's names."""
    found: dict[str, list[str]] = {}
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        try:
            name = Path(f"/proc/{child}/comm").read_text().strip()
            found.setdefault(name, []).append(os.readlink(f"/proc/{child}/ns/net"))
        except OSError:
            pass
    return found


class DemoTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="porter-demo-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *before: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [*before, *COMMAND], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": self.folder})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def events(self, process: subprocess.Popen) -> dict[str, dict]:
        """The last event of each name."""
        found = {event["event"]: event for event in map(json.loads, process.stdout)}
        self.assertEqual((process.wait(PATIENCE), process.stderr.read()), (0, ""), found)
        self.assertEqual(os.listdir(self.folder), [])
        return found

    def assert_story(self, events: dict[str, dict]) -> None:
        summary = events["summary"]
        told = [summary[name] for name in ["notifications", "messages", "duplicates", "locksHeldWhenFrozen", "badge", "outcome"]]
        self.assertEqual(told, [1, 1, 0, 0, 0, "presented"])
        self.assertEqual(events["frozen"]["connections"], 0)
        self.assertIn("relayStarted", events)

    def test_the_story_holds_in_four_namespaces(self):
        user = [] if os.geteuid() == 0 else ["-r"]
        allowed = subprocess.run(["unshare", *user, "-n", "ip", "link", "add", "type", "veth"], capture_output=True)
        process = self.start()
        first = json.loads(process.stdout.readline())
        self.assertEqual((first["event"], first["namespaces"]), ("network", allowed.returncode == 0), first)
        if not first["namespaces"]:
            self.skipTest(first["obstacle"])
        running: dict[str, list[str]] = {}
        lines = []
        for line in process.stdout:
            lines.append(json.loads(line))
            if lines[-1]["event"] == "frozen":
                running = children(process.pid)
        self.assertEqual((process.wait(PATIENCE), process.stderr.read()), (0, ""), lines)
        self.assert_story({event["event"]: event for event in lines})
        counts = {name: len(places) for name, places in running.items()}
        # When this test reads the line, the extension may have begun.
        self.assertIn(counts.pop("porter-harness"), (2, 3))
        self.assertEqual(counts, {"porter-relay": 1, "porter-push": 1})
        places = [place for each in running.values() for place in each]
        self.assertEqual(len({*places, os.readlink("/proc/self/ns/net")}), 5, "four of their own")
        self.assertEqual(os.listdir(self.folder), [])

    def test_without_namespaces_it_says_so_and_holds_too(self):
        forbid = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'
        probe = subprocess.run(["unshare", "-U", "-r", "sh", "-c", forbid, "sh", "true"], capture_output=True)
        if probe.returncode != 0:
            self.skipTest("user namespaces are not allowed here, so that network namespaces cannot be forbidden")
        events = self.events(self.start("unshare", "-U", "-r", "sh", "-c", forbid, "sh"))
        self.assertEqual(events["network"]["namespaces"], False)
        self.assertEqual(events["network"]["address"], "127.0.0.1")
        self.assertIn("No space left on device", events["network"]["obstacle"])
        self.assert_story(events)

    def test_interrupted_it_leaves_no_process_no_file_and_no_namespace(self):
        process = self.start()
        for line in process.stdout:
            if json.loads(line)["event"] == "relayStarted":
                break
        started = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        places = set().union(*children(process.pid).values())
        self.assertTrue(started)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        self.assertEqual(process.wait(PATIENCE), 130)
        self.assertEqual([child for child in started if Path(f"/proc/{child}").exists()], [])
        self.assertEqual(os.listdir(self.folder), [])
        # An unnamed namespace ends with its last process and the last descriptor for it.
        left = {os.readlink(link) for link in Path("/proc").glob("[0-9]*/ns/net") if os.access(link, os.R_OK)}
        self.assertEqual((places - {os.readlink("/proc/self/ns/net")}) & left, set())


if __name__ == "__main__":
    unittest.main()
