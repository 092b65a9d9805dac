"""The peak memory of an extension that fetches from a relay on the network, in a night with porter-relay and porter-push: `make verify`.

PORTER_EXTENSION names the program that `make order NETWORK=1` builds. Not part of `make test`: a debug build takes more than twice the memory of the
build for a phone, most of it pages of the program and of Debian's libcurl, so a limit for one says nothing about the other.
"""

import json
import os
import subprocess
import tempfile
import unittest

from tests.support import PATIENCE, ROOT

PROGRAMS = os.environ.get("PORTER_SERVERS", str(ROOT / "Servers/.build/debug"))
# As in README.md and ARCHITECTURE.md.
BUDGET = 14_000_000
NIGHTS = 5


class ExtensionMemoryTests(unittest.TestCase):
    def night(self) -> dict:
        """The phone's summary at the end. The phone kills an extension that takes more than an old phone would allow."""
        with tempfile.TemporaryDirectory(prefix="porter-memory-") as folder:
            done = subprocess.run(
                [os.environ["PORTER_EXTENSION"], "device", "--json", "--network", PROGRAMS], capture_output=True, text=True,
                timeout=PATIENCE, env={**os.environ, "TMPDIR": folder})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return next(event for event in map(json.loads, done.stdout.splitlines()) if event["event"] == "summary")

    def test_a_push_over_the_network_keeps_within_its_budget(self):
        peaks = []
        for _ in range(NIGHTS):
            summary = self.night()
            self.assertEqual((summary["outcome"], summary["notifications"], summary["messages"]), ("presented", 1, 1))
            peaks.append(summary["peakMemoryBytes"])
        print(f"peaks: {', '.join(f'{peak / 1e6:.1f}' for peak in peaks)} MB", flush=True)
        # A smaller peak would not be that of a push.
        self.assertGreater(min(peaks), 1_000_000)
        self.assertLessEqual(max(peaks), BUDGET)


if __name__ == "__main__":
    unittest.main()
