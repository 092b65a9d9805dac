"""Where libnightporter-net is searched for."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from nightporter import network


class SearchTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        (self.folder / network.FILE_NAME).touch()
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop(network.ENVIRONMENT, None)

    def test_the_working_directory_is_not_searched_for_a_library_found_by_the_system(self) -> None:
        places = [Path(place).resolve() for place in network.candidates("libnightporter.so.3")]
        self.assertNotIn(self.folder / network.FILE_NAME, places)

    def test_the_folder_of_the_library_comes_first(self) -> None:
        for beside in (str(self.folder / "libnightporter.so"), os.path.join(".", "libnightporter.so")):
            self.assertEqual(next(network.candidates(beside)), str(self.folder / network.FILE_NAME))
