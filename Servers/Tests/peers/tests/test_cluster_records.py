"""Records of notification servers in a cluster that move, and those of earlier versions."""

import base64
import os
import shutil
import signal
import subprocess
import time

from . import admin, nats
from .push import PushServer
from .push_cluster import records
from .support import PATIENCE
from .test_admin_cluster import ClusterTestCase

DEVICES = "KV_porter_push_devices"
# Servers delete a replaced version after this many seconds.
PAUSE = 5


class RecordTests(ClusterTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.relay = self.start()
        server = self.serve("first")
        self.link = server.link()
        self.assertEqual(server.end(), 0)

    def serve(self, name: str) -> PushServer:
        folder = f"{self.folder.name}/{name}"
        os.makedirs(folder, exist_ok=True)
        address = self.relay.address.replace("localhost", "127.0.0.1")
        server = PushServer(folder, relay=address, local_socket=self.folder.name + "/device", store=self.cluster.address)
        self.addCleanup(server.end)
        return server

    def put(self, connection: nats.Connection, bucket: str, key: str, payload: bytes, replaced: int = 0) -> int:
        headers = {"Porter-Replaces": str(replaced), "Porter-Follows": "0", "Porter-Writer": "1"}
        return connection.request(f"$KV.porter_push_{bucket}.{key}", payload, headers)["seq"]

    def begin_backup(self) -> subprocess.Popen:
        """A backup that has read some records, and is frozen. It is made again if it has nearly ended by then, as on a busy machine."""
        partial = self.copy + ".partial/cluster.backup"

        def size() -> int:
            try:
                return os.path.getsize(partial)
            except FileNotFoundError:
                return 0

        end = time.monotonic() + PATIENCE
        while True:
            self.assertLess(time.monotonic(), end)
            backup = subprocess.Popen([admin.PROGRAM, "--config", "/dev/null", "backup", *self.place, "--to", self.copy])
            self.addCleanup(backup.kill)
            while backup.poll() is None and size() <= 20_000:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.001)
            backup.send_signal(signal.SIGSTOP)
            self.assertIn(backup.poll(), [None, 0])
            if backup.returncode is None and size() < 1_000_000:
                return backup
            backup.kill()
            backup.wait()
            for path in [self.copy, self.copy + ".partial"]:
                shutil.rmtree(path, ignore_errors=True)

    def test_records_that_are_replaced_while_a_backup_is_made_are_in_it(self) -> None:
        """The backup has not reached them, and their earlier versions are gone when it does."""
        connection = self.connection()
        numbers = {str(key): self.put(connection, "devices", str(key), b"%0400d" % key) for key in range(3_000)}
        backup = self.begin_backup()
        began = time.monotonic()
        # The first one after what the stream had is then one that was not read.
        for key, number in reversed(numbers.items()):
            self.put(connection, "devices", key, b"later", number)
            connection.request(f"$JS.API.STREAM.MSG.DELETE.{DEVICES}", b'{"seq":%d}' % number)
        time.sleep(max(0, began + PAUSE - time.monotonic()))
        backup.send_signal(signal.SIGCONT)
        self.assertEqual(backup.wait(PATIENCE), 0)
        self.move()
        self.succeeds("restore", "--from", self.copy, *self.place)
        self.assertEqual(records(self.cluster, "devices"), sorted(numbers))

    def test_a_server_waits_for_those_of_an_earlier_version_to_end(self) -> None:
        """They would not find what it stores."""
        first = self.serve("first")
        self.assertEqual(first.link(), self.link)
        connection = self.connection()

        def watchers() -> tuple[bytes, int]:
            found = connection.api("STREAM.MSG.GET.KV_porter_push_settings", last_by_subj="$KV.porter_push_settings.watchers")["message"]
            return base64.b64decode(found["data"]), found["seq"]

        whole, number = watchers()
        self.assertEqual(whole[0], 2)
        self.put(connection, "settings", "watchers", b"\1" + whole[1:], number)
        second = self.serve("second")
        second.wait_for_line("stop all of them first")
        self.assertEqual(watchers()[0][0], 1)
        first.end(signal.SIGKILL)
        self.assertEqual(second.link(), self.link)
        self.assertEqual(watchers()[0], whole)
        self.assertEqual(second.end(), 0)

    def test_streams_that_an_idle_server_uses_are_not_replaced(self) -> None:
        self.succeeds("backup", *self.place, "--to", self.copy)
        server = self.serve("first")
        self.assertEqual(server.link(), self.link)
        self.relay.kill()
        self.fails("a notification server uses them", "restore", "--from", self.copy, *self.place, "--replace", "yes")
        self.assertIsNone(server.process.poll())
