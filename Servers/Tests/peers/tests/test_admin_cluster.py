"""porter-admin alongside relays and notification servers that share their data in NATS JetStream."""

import asyncio
import base64
import os
import signal
import threading
from pathlib import Path

from nacl.signing import SigningKey

from . import nats, protocol, test_admin_backup, test_admin_token
from .admin import TOKEN, AdminTestCase
from .push import acquaint, activate, begin, text, watched
from .support import PATIENCE, JetStreamTestCase


class ClusterTestCase(JetStreamTestCase, AdminTestCase):
    @property
    def place(self) -> list[str]:
        return ["--store", self.cluster.address]

    def connection(self) -> nats.Connection:
        made = nats.Connection(self.cluster.nodes[0])
        self.addCleanup(made.close)
        return made

    def move(self) -> None:
        """Replaces the cluster, as if it was lost, with another one."""
        self.cluster.stop()
        self.cluster = nats.Cluster()
        self.addCleanup(self.cluster.stop)


class MailboxTests(ClusterTestCase):
    def test_a_mailbox_shows_what_it_has_used_of_its_quota(self):
        person = self.person(self.start())
        mailbox, open_ = person.mailbox(), person.mailbox(secured=False)
        for _ in range(3):
            person.send(mailbox, b"x" * 1_000)
        for identifier in [mailbox.recipient, mailbox.sender]:
            given = base64.urlsafe_b64encode(identifier).decode() + "\n"
            shown = self.succeeds("mailbox", *self.place, "--mailbox", "-", given=given)
            self.assertIn("waiting = 3 of 128 messages\nsize = 3000 bytes\noldest = ", shown)
            self.assertTrue(shown.endswith("secured = yes\nnotifications = no\n"), shown)
        person.take_all(mailbox)
        self.assertIn("waiting = 0 of 128", self.succeeds("mailbox", *self.place, "--mailbox", "-", given=given))
        other = base64.urlsafe_b64encode(open_.sender).decode()
        self.assertIn("secured = no", self.succeeds("mailbox", *self.place, "--mailbox", other))
        unknown = base64.urlsafe_b64encode(protocol.identifier()).decode()
        self.fails("there is no such mailbox", "mailbox", *self.place, "--mailbox", unknown)
        self.fails("expected an identifier", "mailbox", *self.place, "--mailbox", "short")

    def test_a_cluster_without_such_data_is_left_as_it_is(self):
        self.start()
        other = [*self.place, "--nats-name", "other"]
        self.fails("no mailboxes of other", "mailbox", *other, "--mailbox", "short")
        self.fails("no tokens of other", "token", *other, "--token", "abcd")
        self.fails("neither mailboxes nor tokens of other", "verify", *other)
        self.fails("neither mailboxes nor tokens of other", "backup", *other, "--to", self.copy)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["data", "data.log"])
        self.fails("no tokens of porter", "token", *self.place, "--token", "abcd")
        self.fails("with --data", "drain", *self.place)
        self.assertFalse([name for name in self.connection().api("STREAM.NAMES")["streams"] if "other" in name or "push" in name])
        self.fails("without a user", "verify", "--store", "nats://user:password@x")
        self.cluster.nodes[0].kill()
        self.fails("no connection to", "verify", *self.place)


class TokenTests(ClusterTestCase, test_admin_token.TokenTests):
    whole = "ok: relays' and notification servers' data\n"
    # It finishes the sends in progress, and leaves due pushes to another server.
    test_a_drained_server_sends_what_is_due_and_takes_nothing_more = None
    test_a_servers_data_is_backed_up_while_it_runs_and_restored = None

    def settings(self) -> dict[str, str]:
        return {"store": self.cluster.address}

    def test_one_of_two_servers_is_drained_and_the_other_continues(self) -> None:
        first, folder = self.serve(), self.server_data
        link = first.link()
        self.server_data = self.folder.name + "/second"
        os.mkdir(self.server_data)
        second = self.serve()
        self.assertEqual(second.link(), link)
        self.assertEqual(
            self.succeeds("drain", "--data", folder), f"draining process {first.process.pid}\nended\n")
        self.assertEqual(first.end(), 0)
        self.fails("no process serves this folder", "drain", "--data", folder)
        asyncio.run(asyncio.wait_for(self.register(link), PATIENCE))
        self.assertEqual(self.shown()["state"], "active")
        self.assertEqual(second.end(), 0)

    async def register(self, link: str) -> None:
        from nightporter import Controller

        async with Controller(self.folder.name + "/alice", relay=self.address) as alice:
            await begin(alice, "alice", link)
            await activate(alice, self.device, TOKEN)

    def test_subscriptions_of_an_earlier_layout_are_refused(self) -> None:
        """Subscriptions of earlier builds, which did not record where they are."""
        server = self.serve()
        server.link()
        self.assertEqual(server.end(), 0)
        connection = self.connection()
        found = connection.api("STREAM.MSG.GET.KV_porter_push_settings", last_by_subj="$KV.porter_push_settings.watchers")
        deleted = connection.api("STREAM.MSG.DELETE.KV_porter_push_settings", seq=found["message"]["seq"])
        self.assertTrue(deleted["success"])
        self.fails("in the layout of another version", "verify", *self.place)
        self.fails("in the layout of another version", "backup", *self.place, "--to", self.copy)
        server = self.serve()
        self.assertNotEqual(server.process.wait(PATIENCE), 0)
        self.assertIn("in the layout of another version", server.lines())

    # ---------------------------------------------------------------------------------------------------- backups

    def test_what_was_due_in_a_backup_is_pushed_after_it_was_restored(self) -> None:
        link = asyncio.run(asyncio.wait_for(self.until_backup(), PATIENCE))
        self.move()
        for _ in range(2):
            # The second time over the first.
            self.succeeds("restore", "--from", self.copy, *self.place, "--replace", "yes")
            self.assertEqual(self.succeeds("verify", *self.place), self.whole)
        shown = self.shown()
        self.assertEqual((shown["state"], shown["pushes-due"], shown["subscriptions-ACTIVE"]), ("active", "1", "1"))
        while not self.device.pushes.empty():
            self.device.pushes.get()
        self.device.answers.set()
        port = self.relay.port
        self.relay = self.start("data", listen=f"127.0.0.1:{port}")
        server = self.serve()
        self.assertEqual(server.link(), link)
        push = self.device.push()
        asyncio.run(asyncio.wait_for(self.present(push), PATIENCE))
        server.wait_for_line("kind=message outcome=accepted")
        self.assertEqual(self.shown()["pushes-due"], "0")

    async def until_backup(self) -> str:
        from nightporter import Controller

        server = self.serve()
        link = server.link()
        async with Controller(self.folder.name + "/alice", relay=self.address) as alice, Controller(
            self.folder.name + "/bob", relay=self.address) as bob:
            await begin(alice, "alice", link)
            await begin(bob, "bob", None)
            known = await acquaint(alice, bob)
            await activate(alice, self.device, TOKEN)
            await watched(alice)
            await alice.suspend()
            self.device.answers.clear()
            await bob.send(text(known, "one"))
            await asyncio.to_thread(self.device.push)
            self.assertEqual(self.succeeds("backup", *self.place, "--to", self.copy), "ok\n")
            self.fails("is there already", "backup", *self.place, "--to", self.copy)
            self.fails("has streams of porter already", "restore", "--from", self.copy, *self.place)
            self.fails("uses them", "restore", "--from", self.copy, *self.place, "--replace", "yes")
        server.end(signal.SIGKILL)
        self.relay.kill()
        self.assertIn("tokens = 1\n", self.succeeds("verify", "--data", self.copy))
        return link

    async def present(self, push: dict) -> None:
        from nightporter import Role, SyncController

        def shown() -> list[str]:
            with SyncController(self.folder.name + "/alice", relay=self.address, role=Role.EXTENSION) as extension:
                answer = extension.receive_push(push["payload"])
            return [notification["body"] for notification in answer["notifications"]]

        self.assertEqual(await asyncio.to_thread(shown), ["one"])


class BackupTests(ClusterTestCase):
    load = test_admin_backup.BackupTests.load

    def test_a_backup_made_under_load_has_everything_that_was_accepted_before_it(self):
        relay = self.start()
        person = self.person(relay)
        mailboxes = [person.mailbox() for _ in range(6)]
        service, watched = SigningKey.generate(), protocol.Watched.make(person)
        person.ask(protocol.subscribe_notifiers(service, [(watched.notifier, watched.notifier_key)]))
        person.ask(protocol.send(watched.mailbox, b"notified", notify=True))
        accepted, stop = [0] * len(mailboxes), threading.Event()
        threads = self.load(relay, mailboxes, accepted, stop)
        while sum(accepted) < 60:
            threads[0].join(0.001)
        before = list(accepted)
        self.assertEqual(self.succeeds("backup", *self.place, "--to", self.copy), "ok\n")
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(os.stat(self.copy).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(self.copy + "/cluster.backup").st_mode & 0o777, 0o600)
        relay.kill()
        self.move()
        # Under another name, for which the cluster has no data.
        self.succeeds("restore", "--from", self.copy, *self.place, "--nats-name", "second", "--nats-replicas", "1")
        other = ["--nats-name", "second", *self.place]
        self.assertEqual(self.succeeds("verify", *other), "ok: relays' data\n")
        relay = self.start(nats_name="second")
        person = self.person(relay)
        for mailbox, least in zip(mailboxes, before):
            found = person.take_all(mailbox)
            self.assertEqual(found, [b"%d" % number for number in range(len(found))])
            self.assertGreaterEqual(len(found), least)
        _, [notification] = protocol.notifications(person.ask(protocol.due_notifications(service, 256))[1])
        waiting = person.ask(protocol.get(watched.mailbox))[1][:24]
        self.assertEqual(notification.message(watched.keys), waiting)
        person.send(watched.mailbox, b"new")
        self.assertEqual(person.take_all(watched.mailbox), [b"notified", b"new"])
        self.assertEqual(self.succeeds("verify", *other), "ok: relays' data\n")

    def test_a_damaged_backup_is_not_restored(self):
        relay = self.start()
        person = self.person(relay)
        mailbox = person.mailbox()
        for _ in range(3):
            person.send(mailbox, bytes(500))
        self.succeeds("backup", *self.place, "--to", self.copy)
        self.assertEqual(
            self.succeeds("verify", "--data", self.copy),
            "ok: a backup of a cluster, relays' data\nmailboxes = 1\nmessages = 3\ntokens = 0\n")
        relay.kill()
        self.move()
        file = Path(self.copy, "cluster.backup")
        whole = file.read_bytes()
        for number in range(0, len(whole), 97):
            file.write_bytes(whole[:number] + bytes([whole[number] ^ 1]) + whole[number + 1:])
            self.fails("cluster.backup: ", "verify", "--data", self.copy)
        for end in [0, 10, len(whole) // 2, len(whole) - 1]:
            file.write_bytes(whole[:end])
            self.fails("ends too early", "verify", "--data", self.copy)
            self.fails("ends too early", "restore", "--from", self.copy, *self.place)
        file.write_bytes(whole + b"x")
        self.fails("is damaged", "restore", "--from", self.copy, *self.place)
        self.assertIsNone(self.connection().api("STREAM.NAMES")["streams"])
        self.fails("No such file", "restore", "--from", self.folder.name, *self.place)


class VerifyTests(ClusterTestCase):
    def test_probes_cost_a_command_one_question_each(self):
        """Each relay publishes one probe a second, and a stream keeps a thousand."""
        relay = self.start()
        person = self.person(relay)
        person.send(person.mailbox(), b"x")
        connection = self.connection()
        for _ in range(600):
            connection.request("porter.mailbox.0.probe")
        [node] = self.cluster.nodes
        before = node.monitored("varz")["in_msgs"]
        self.assertEqual(self.succeeds("verify", *self.place), "ok: relays' data\n")
        self.assertLess(node.monitored("varz")["in_msgs"] - before, 10_000)

    def test_damage_is_found(self):
        relay = self.start()
        person = self.person(relay)
        mailboxes = [person.mailbox() for _ in range(3)]
        for mailbox in mailboxes:
            for number in range(3):
                person.send(mailbox, b"%d" % number)
        self.assertEqual(self.succeeds("verify", *self.place), "ok: relays' data\n")
        nats_ = self.connection()
        found = {
            stream: nats_.api(f"STREAM.INFO.{stream}", subjects_filter=">")["state"]
            for stream in nats_.api("STREAM.NAMES")["streams"]}
        bodies = next(name for name, state in found.items() if "_bodies_" in name and state["messages"] > 2)
        nats_.api(f"STREAM.MSG.DELETE.{bodies}", seq=found[bodies]["last_seq"] - 1)
        self.fails("messages without their bodies: 1", "verify", *self.place)
        # All mailboxes may be in one of the streams, and there are only probes in the other.
        records, subject = next(
            (state, subject) for name, state in found.items() if "_mailboxes_" in name
            for subject in state.get("subjects") or {} if not subject.endswith("probe"))
        nats_.request(subject, b"no record", {"Porter-Replaces": str(records["last_seq"])})
        self.fails("damaged mailboxes: 1", "verify", *self.place)
