"""scripts/python-tests, which runs these files, counts every test, whatever its outcome."""

import re
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterable
from pathlib import Path

from .support import PATIENCE, ROOT

ENDINGS = {
    "well": "pass",
    "failed": "self.assertEqual(1, 2)",
    "raised": "raise OSError",
    "skipped": "self.skipTest('no reason')",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "exited": "import atexit, os; atexit.register(os._exit, 3)",
    "expected": "self.fail()",
}


class FileTests(unittest.TestCase):
    def run_files(self, *names: str) -> tuple[int, str]:
        return self.run_folders(names)

    def run_folders(self, *folders: Iterable[str]) -> tuple[int, str]:
        with tempfile.TemporaryDirectory(prefix="porter-files-") as root:
            paths = [Path(root, str(index)) for index in range(len(folders))]
            for path, names in zip(paths, folders):
                self.write(path / "tests", names)
            done = subprocess.run(
                [sys.executable, ROOT / "scripts/python-tests", *paths, "2"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    @staticmethod
    def write(tests: Path, names: Iterable[str]) -> None:
        tests.mkdir(parents=True)
        (tests / "__init__.py").touch()
        for name in names:
            mark = "@unittest.expectedFailure" if name == "expected" else ""
            (tests / f"test_{name}.py").write_text(
                f"import unittest\nclass SomeTests(unittest.TestCase):\n    {mark}\n    def test_{name}(self):\n        {ENDINGS[name]}\n"
                f"    def test_other(self):\n        print('{name}', *range(2000))\n")

    def test_files_that_end_well_are_added(self):
        status, out = self.run_files("well", "expected")
        self.assertEqual(status, 0, out)
        self.assertRegex(out, r"\nRan 4 tests in [0-9.]+s\n\nOK \(expected failures=1\)\n$")

    def test_each_other_ending_is_counted(self):
        for name, ran, expected in [
            ("failed", 4, "failures=1"), ("raised", 4, "errors=1"), ("skipped", 4, "skipped=1"),
            ("killed", 3, "errors=1"), ("exited", 5, "errors=1")]:
            status, out = self.run_files("well", name)
            self.assertEqual(status, 1, out)
            self.assertRegex(out, rf"\nRan {ran} tests in [0-9.]+s\n\nFAILED \({expected}\)\n$", name)
        status, out = self.run_files(*ENDINGS)
        self.assertEqual(status, 1)
        self.assertTrue(out.endswith("FAILED (errors=3, expected failures=1, failures=1, skipped=1)\n"), out[-200:])

    def test_the_tests_of_all_folders_are_added(self):
        status, out = self.run_folders(["well", "expected"], ["well"])
        self.assertEqual(status, 0, out)
        self.assertRegex(out, r"\nRan 6 tests in [0-9.]+s\n\nOK \(expected failures=1\)\n$")
        status, out = self.run_folders(["well"], ["failed"])
        self.assertEqual(status, 1, out)
        self.assertRegex(out, r"\nRan 4 tests in [0-9.]+s\n\nFAILED \(failures=1\)\n$")

    def test_a_folder_without_tests_fails(self):
        status, out = self.run_folders(["well"], [])
        self.assertEqual(status, 1, out)
        self.assertTrue(out.endswith("FAILED (errors=1)\n"), out[-200:])

    def test_without_a_test_nothing_is_well(self):
        self.assertEqual(self.run_files()[0], 1)

    def test_the_output_of_a_file_is_kept_together(self):
        _, out = self.run_files("well", "failed", "raised", "skipped")
        files = re.split(r"^test_\w+: ended with .*\n", out, flags=re.M)
        for name in ["well", "failed", "raised", "skipped"]:
            [own] = [each for each in files if f"test_{name} (" in each]
            self.assertIn(f"{name} {' '.join(map(str, range(2000)))}\n", own)
            self.assertEqual(len(re.findall(r"^test_\w+ \(", own, flags=re.M)), 2)
