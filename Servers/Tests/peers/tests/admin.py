"""porter-admin, run by tests."""

import os
import subprocess

from .support import PATIENCE, ROOT, RelayTestCase

TOKEN = "cd" * 32
PROGRAM = os.environ.get("PORTER_ADMIN_PROGRAM", str(ROOT / "Servers/.build/debug/porter-admin"))


def admin(*arguments: str, given: str | None = None, user: int | None = None) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PORTER_ADMIN_")}
    return subprocess.run(
        [PROGRAM, "--config", "/dev/null", *arguments], input=given, capture_output=True, text=True, env=environment,
        user=user, timeout=PATIENCE)


class AdminTestCase(RelayTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.data, self.copy = self.folder.name + "/data", self.folder.name + "/copy"

    def succeeds(self, *arguments: str, given: str | None = None) -> str:
        done = admin(*arguments, given=given)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def fails(self, expected: str, *arguments: str) -> None:
        done = admin(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
        self.assertTrue(done.stderr.startswith("porter-admin: "), done.stderr)
        self.assertIn(expected, done.stderr)
