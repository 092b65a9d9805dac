"""Cancelling a waiting task never loses an event, an answer, or a store that was just opened."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from typing import Any
from unittest import mock

from nightporter import Controller, ControllerClosed, SyncController

from .support import StandInCase, run


class CancellationTests(StandInCase):
    def test_no_event_is_lost_when_the_consumer_is_cancelled_at_random_points(self) -> None:
        for seed in range(12):
            with self.subTest(seed=seed):
                self.assertEqual(run(self.consume(random.Random(seed), total=400)), list(range(1, 401)))

    async def consume(self, chance: random.Random, total: int) -> list[int]:
        received: list[int] = []
        async with Controller("store") as c:
            await c.send(f"emit-slow {total}")
            while len(received) < total:
                waiting = asyncio.create_task(c.next_event())
                await self.pause(chance)
                waiting.cancel()
                try:
                    event = await waiting
                except asyncio.CancelledError:
                    continue
                received.append(event["number"])
        return received

    def test_no_event_is_lost_when_an_iterating_task_is_replaced_at_random_points(self) -> None:
        for seed in range(12):
            with self.subTest(seed=seed):
                self.assertEqual(run(self.iterate(random.Random(seed), total=400)), list(range(1, 401)))

    async def iterate(self, chance: random.Random, total: int) -> list[int]:
        received: list[int] = []
        async with Controller("store") as c:
            events = c.events()

            async def collect() -> None:
                async for event in events:
                    received.append(event["number"])
                    if len(received) == total:
                        return

            await c.send(f"emit-slow {total}")
            while len(received) < total:
                collecting = asyncio.create_task(collect())
                await self.pause(chance)
                collecting.cancel()
                await asyncio.wait({collecting})
                if not collecting.cancelled():
                    collecting.result()
        return received

    def test_a_time_out_around_the_iterator_loses_nothing(self) -> None:
        async def story() -> list[int]:
            received: list[int] = []
            async with Controller("store") as c:
                events = c.events()
                await c.send("emit-slow 300")
                chance = random.Random(3)
                while len(received) < 300:
                    try:
                        async with asyncio.timeout(chance.random() * 0.0004):
                            event = await anext(events)
                    except TimeoutError:
                        continue
                    received.append(event["number"])
            return received

        self.assertEqual(run(story()), list(range(1, 301)))

    def test_two_consumers_share_the_events(self) -> None:
        async def story() -> list[int]:
            received: list[int] = []
            async with Controller("store") as c:

                async def collect() -> None:
                    async for event in c.events():
                        received.append(event["number"])

                collecting = [asyncio.create_task(collect()) for _ in range(2)]
                await c.send("emit-slow 300")
                while len(received) < 150:
                    await asyncio.sleep(0)
                collecting[0].cancel()
                while len(received) < 300:
                    await asyncio.sleep(0)
            await asyncio.wait(collecting)
            return received

        self.assertEqual(sorted(run(story()))[:300], list(range(1, 301)))

    def test_a_flood_of_events_leaves_the_loop_to_other_tasks(self) -> None:
        async def story() -> int:
            turns = 0
            async with Controller("store") as c:
                await c.send("emit 2000")

                async def other() -> None:
                    nonlocal turns
                    while True:
                        turns += 1
                        await asyncio.sleep(0)

                beside = asyncio.create_task(other())
                events = c.events()
                for _ in range(2000):
                    await anext(events)
                beside.cancel()
            return turns

        self.assertGreater(run(story()), 1000)

    def test_nothing_is_called_while_events_wait_and_nobody_takes_them(self) -> None:
        async def story() -> int:
            async with Controller("store") as c:
                await c.send("emit 5")
                selector = asyncio.get_running_loop()._selector
                with mock.patch.object(selector, "select", wraps=selector.select) as select:
                    await asyncio.sleep(0.1)
                    return select.call_count

        # If the loop polled the descriptor, which stays readable, it would spin thousands of times.
        self.assertLess(run(story()), 20)

    def test_a_cancelled_push_is_expired_and_its_answer_kept(self) -> None:
        # Right when it begins, an expiry comes too early and has to be repeated.
        for pause in (0, 0.05):
            self.journal_path.unlink(missing_ok=True)
            with self.subTest(pause=pause):
                # At its deadline it would have had another outcome.
                self.assertEqual(run(self.cancel_push(pause)), [{"outcome": "expired"}])

    def test_an_answer_on_its_way_to_the_loop_is_kept(self) -> None:
        async def story() -> list[Any]:
            async with Controller("store") as c:
                push = asyncio.create_task(c.receive_push("{}", deadline=3))
                await self.begun("push")
                push.cancel()

                def wait_for_the_end() -> None:
                    # After the cancellation, and before its first look at the push: the push has ended by then, but the
                    # loop has not been given its answer.
                    while "push ended" not in self.lines():
                        time.sleep(0.002)
                    time.sleep(0.1)

                asyncio.get_running_loop().call_soon(wait_for_the_end)
                with self.assertRaises(asyncio.CancelledError):
                    await push
                return c.unclaimed_pushes()

        self.assertEqual(run(story()), [{"outcome": "nothingNew"}])

    def test_a_cancelled_refresh_is_expired_and_no_push_beside_it(self) -> None:
        async def story(pause: float) -> None:
            async with Controller("store") as c:
                pushes = [asyncio.create_task(c.receive_push("{}", deadline=20)) for _ in range(3)]
                await self.begun("push", 3)
                # Long enough for the pushes to be older than the refresh.
                await asyncio.sleep(0.05)
                refresh = asyncio.create_task(c.background_refresh(deadline=20))
                await self.begun("refresh")
                await asyncio.sleep(pause)
                refresh.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await refresh
                self.assertEqual(c.unclaimed_pushes(), [{"outcome": "expired"}])
                self.assertNotIn("push ended", self.lines())
            for push in pushes:
                self.assertEqual(await push, {"outcome": "expired"})

        for pause in (0, 0.05):
            self.journal_path.unlink(missing_ok=True)
            with self.subTest(pause=pause):
                run(story(pause))

    def test_a_push_that_is_cancelled_before_it_began_never_begins(self) -> None:
        async def story() -> list[Any]:
            async with Controller("store") as c:
                first = asyncio.create_task(c.receive_push("{}", deadline=3))
                await self.begun("push")
                second = asyncio.create_task(c.receive_push("{}", deadline=20))
                await asyncio.sleep(0.01)
                second.cancel()
                await asyncio.wait({first, second})
                return c.unclaimed_pushes()

        with mock.patch("nightporter.controller.PUSH_THREADS", 1):
            self.assertEqual(run(story()), [])
        self.assertEqual(self.lines().count("began push"), 1)

    async def cancel_push(self, pause: float) -> list[dict[str, Any]]:
        async with Controller("store") as c:
            push = asyncio.create_task(c.receive_push("{}", deadline=20))
            await self.begun("push")
            await asyncio.sleep(pause)
            push.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await push
            answers = c.unclaimed_pushes()
            self.assertEqual(c.unclaimed_pushes(), [])
            return answers

    def test_a_store_that_opens_while_its_task_is_cancelled_is_closed_again(self) -> None:
        async def story() -> None:
            c = Controller("store", key="slow")
            opening = asyncio.create_task(c.open())
            await self.begun("open")
            opening.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await opening
            with self.assertRaises(ControllerClosed):
                await c.send("sleep 0")
            self.assertEqual(self.journal(), ["open", "close store", "free"])

        run(story())

    def test_closing_goes_on_to_its_end_when_cancelled(self) -> None:
        async def story() -> None:
            c = await Controller("store").open()
            command = asyncio.create_task(c.send("sleep 200"))
            await self.begun("sleep")
            closing = asyncio.create_task(c.close())
            for _ in range(3):
                await asyncio.sleep(0.01)
                closing.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await closing
            self.assertEqual(self.journal()[-1], "close store")
            await command

        run(story())

    async def pause(self, chance: random.Random) -> None:
        if chance.random() < 0.5:
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
        else:
            await asyncio.sleep(chance.random() * 0.0006)


class ConcurrencyTests(StandInCase):
    def test_nothing_waits_for_hanging_pushes(self) -> None:
        async def story() -> None:
            async with Controller("store") as c:
                # One more than the library accepts: it answers that one.
                pushes = [asyncio.create_task(c.receive_push("{}", deadline=20)) for _ in range(65)]
                async with asyncio.timeout(10):
                    answered, _ = await asyncio.wait(pushes, return_when=asyncio.FIRST_COMPLETED)
                    self.assertEqual([push.result() for push in answered], [{"outcome": "expired"}])
                    await self.begun("push", 65)
                    await c.state()
                    await c.send("emit 1")
                    await c.suspend()
                self.assertEqual(sum(push.done() for push in pushes), 1)

        run(story())

    def test_a_controller_without_pushes_has_no_thread_for_them(self) -> None:
        async def story() -> None:
            async with Controller("store") as c:
                await c.state()
                names = [thread.name for thread in threading.enumerate()]
                self.assertFalse([name for name in names if name.startswith("nightporter-push")], names)

        run(story())


class NamedPushTests(StandInCase):
    def test_a_thread_expires_the_push_that_it_names_and_no_other(self) -> None:
        answers: dict[str, Any] = {}

        def receive(name: str) -> None:
            answers[name] = c.receive_push("{}", deadline=20, push_id=name)

        with SyncController("store") as c:
            older, newer = (threading.Thread(target=receive, args=(name,)) for name in ("older", "newer"))
            older.start()
            self.await_begun("push")
            newer.start()
            self.expire(c, "newer")
            newer.join()
            self.assertEqual(answers, {"newer": {"outcome": "expired"}})
            self.assertFalse(c.expire_push("newer"))
            self.expire(c, "older")
            older.join()

    def expire(self, c: SyncController, name: str) -> None:
        """Expires a push that has begun, however soon after that, and fails after a minute."""
        give_up = time.monotonic() + 60
        while not c.expire_push(name):
            self.assertLess(time.monotonic(), give_up, f"{name} did not arrive")
            time.sleep(0.002)
