"""Closing in order: stop, drain, close; with calls in progress, from other threads, and when close() was forgotten."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
import warnings

from nightporter import Controller, ControllerClosed, StoreError, SyncController

from .support import StandInCase, run

# When no iterator reads what waits: it stays in the library.
ORDER = ["close store", "free"]
ORDER_WITH_READER = ["close store", "drained", "free"]


class ClosingTests(StandInCase):
    def test_calls_in_progress_end_before_the_store_is_closed(self) -> None:
        async def story() -> None:
            async with Controller("store") as c:
                commands = [asyncio.create_task(c.send("sleep 100")) for _ in range(2)]
                await self.begun("sleep", 2)
            for command in commands:
                self.assertEqual((await command)["type"], "cmdOk")

        run(story())
        self.await_last("free")
        self.assertEqual(self.journal(), ["open", "slept", *ORDER])

    def test_calls_that_have_not_begun_are_refused(self) -> None:
        async def story() -> None:
            async with Controller("store") as c:
                commands = [asyncio.create_task(c.send("sleep 3000")) for _ in range(20)]
                await self.begun("sleep", 2)
            results = await asyncio.gather(*commands, return_exceptions=True)
            self.assertEqual([type(result) for result in results], [dict] * 2 + [ControllerClosed] * 18)
            for call in (lambda: c.send("x"), c.state, c.close_store, lambda: c.receive_push("{}")):
                with self.assertRaises(ControllerClosed):
                    await call()

        run(story())
        self.await_last("free")
        self.assertEqual(self.journal(), ["open", "slept", *ORDER])

    def test_events_that_wait_when_it_closes_still_arrive_and_then_the_iteration_ends(self) -> None:
        async def story() -> list[int]:
            received: list[int] = []
            async with Controller("store") as c:

                async def collect() -> None:
                    async for event in c.events():
                        received.append(event["number"])

                collecting = asyncio.create_task(collect())
                await c.send("emit 100")
            await collecting
            with self.assertRaises(ControllerClosed):
                await c.next_event()
            return received

        # Closing itself emits the last event.
        self.assertEqual(run(story()), list(range(1, 102)))
        self.assertEqual(self.journal()[-3:], ORDER_WITH_READER)

    def test_events_can_be_read_after_it_has_closed_and_the_last_one_frees_it(self) -> None:
        async def story() -> None:
            async with Controller("store") as c:
                await c.send("emit 3")
            self.assertNotIn("free", self.journal())
            self.assertEqual([event["number"] async for event in c.events()], [1, 2, 3, 4])
            self.assertEqual(self.journal()[-3:], ORDER_WITH_READER)

        run(story())

    def test_events_that_are_not_read_stay_in_the_library(self) -> None:
        async def leave() -> None:
            async with Controller("store") as c:
                await c.send("emit 3")
                await c.next_event()
                raise RuntimeError("a bot's mistake")

        async def read_one() -> None:
            async with Controller("store") as c:
                await c.send("emit 3")
            await c.next_event()

        for story in (leave, read_one):
            self.journal_path.unlink(missing_ok=True)
            with contextlib.suppress(RuntimeError):
                run(story())
            gc.collect()
            self.await_last("free")
            self.assertEqual(self.journal(), ["open", *ORDER])

    def test_what_waits_can_be_discarded(self) -> None:
        async def story() -> None:
            async with Controller("store") as c:
                await c.send("emit 3")
            self.assertEqual(self.journal()[-1], "close store")
            await c.discard_events()
            self.assertEqual(self.journal()[-1], "free")
            await c.discard_events()

        run(story())
        sync = SyncController("store").open()
        sync.send("emit 3")
        sync.discard_events()
        sync.close()
        self.assertEqual(self.journal()[-1], "close store")
        sync.discard_events()
        self.assertEqual(self.journal()[-1], "free")

    def test_a_closed_controller_holds_no_transport(self) -> None:
        """Its function may belong to an object that holds the controller: neither would ever be collected."""

        class Owner:
            def __init__(self) -> None:
                self.controller = SyncController("store").open()
                self.controller.set_relay(self.exchange)

            def exchange(self, request: bytes, timeout: float) -> bytes:
                return request

        owner = Owner()
        owner.controller.send("emit 3")
        owner.controller.close()
        del owner
        gc.collect()
        self.await_last("free")

    def test_it_is_freed_immediately_if_no_event_waits(self) -> None:
        self.environment(STAND_IN_CLOSES_SILENTLY="1")

        async def story() -> None:
            async with Controller("store") as c:
                pass
            self.assertEqual(self.journal(), ["open", *ORDER])
            with self.assertRaises(ControllerClosed):
                await c.next_event()

        run(story())

    def test_a_push_in_progress_is_expired_and_answered(self) -> None:
        async def story(pause: float) -> object:
            async with Controller("store") as c:
                push = asyncio.create_task(c.receive_push("{}", deadline=20))
                await self.begun("push")
                await asyncio.sleep(pause)
            return await push

        # Right when it begins, an expiry comes too early and has to be repeated.
        for pause in (0, 0.05):
            self.journal_path.unlink(missing_ok=True)
            with self.subTest(pause=pause):
                # At its deadline it would have had another outcome.
                self.assertEqual(run(story(pause)), {"outcome": "expired"})
        self.await_last("free")
        self.assertEqual(self.journal()[-3:], ["push ended", *ORDER])

    def test_closing_twice_at_once_closes_once(self) -> None:
        async def story() -> None:
            c = await Controller("store").open()
            await asyncio.gather(c.close(), c.close(), c.close())
            await c.close()

        run(story())
        self.await_last("free")
        self.assertEqual(self.journal(), ["open", *ORDER])

    def test_a_store_that_does_not_close_is_told_and_the_rest_is_done(self) -> None:
        self.environment(STAND_IN_CLOSE_FAILS="1")

        async def story() -> None:
            async with Controller("store"):
                pass

        with self.assertRaisesRegex(StoreError, "the disk is gone"):
            run(story())
        self.await_last("free")

    def test_a_loop_that_ends_with_an_open_block_closes_it(self) -> None:
        async def forever(inside: asyncio.Event) -> None:
            async with Controller("store") as c:
                # The library has opened the store before, but then the end of the loop might undo the opening.
                inside.set()
                async for _ in c.events():
                    pass

        async def story() -> None:
            inside = asyncio.Event()
            self.left = asyncio.create_task(forever(inside))
            await inside.wait()

        run(story())
        # The iterator may have looked for events once more.
        self.assertEqual([line for line in self.journal() if line != "drained"], ["open", "close store"])
        del self.left
        gc.collect()
        self.await_last("free")

    def test_whoever_forgets_to_close_is_warned_and_the_controller_is_freed(self) -> None:
        for make in (lambda: run(Controller("store").open()), lambda: SyncController("store").open()):
            self.journal_path.unlink(missing_ok=True)
            controller = make()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                del controller
                gc.collect()
            self.assertEqual([warning.category for warning in caught], [ResourceWarning])
            caught.clear()  # a warning refers to its source
            # The thread that opened the store may still be returning, and refers to the object until then.
            self.await_last("free")

    def test_another_loop_is_refused(self) -> None:
        async def open_one() -> Controller:
            return await Controller("store").open()

        with asyncio.Runner() as runner:
            c = runner.run(open_one())
            with self.assertRaisesRegex(RuntimeError, "belongs to the event loop"):
                run(c.send("sleep 0"))
            runner.run(c.close())


class SyncClosingTests(StandInCase):
    def test_calls_in_progress_end_first_and_events_that_wait_arrive(self) -> None:
        received: list[int] = []
        with SyncController("store") as c:
            consumer = threading.Thread(target=lambda: received.extend(e["number"] for e in c.events()))
            consumer.start()
            c.send("emit 100")
            command = threading.Thread(target=c.send, args=("sleep 100",))
            command.start()
            self.await_begun("sleep")
        consumer.join(60)
        command.join(60)
        self.assertEqual(received, list(range(1, 102)))
        self.assertEqual(
            [line for line in self.journal() if line != "drained"], ["open", "slept", "close store", "free"]
        )
        self.assertEqual(self.journal()[-3:], ORDER_WITH_READER)
        with self.assertRaises(ControllerClosed):
            c.send("sleep 0")

    def test_events_that_are_not_read_stay_in_the_library(self) -> None:
        with SyncController("store") as c:
            c.send("emit 3")
            c.next_event()
        self.assertEqual(c.next_event()["number"], 2)
        del c
        gc.collect()
        self.assertEqual(self.journal(), ["open", *ORDER])

    def test_several_threads_read_what_is_left(self) -> None:
        numbers: list[int] = []
        with SyncController("store") as c:
            c.send("emit 2000")
        consumers = [threading.Thread(target=lambda: numbers.extend(e["number"] for e in c.events())) for _ in range(4)]
        for consumer in consumers:
            consumer.start()
        for consumer in consumers:
            consumer.join(60)
        self.assertEqual(sorted(numbers), list(range(1, 2002)))
        self.assertEqual(self.journal(), ["open", *ORDER_WITH_READER])

    def test_whoever_waits_for_an_event_is_woken_by_closing(self) -> None:
        c = SyncController("store").open()
        numbers: list[int] = []
        consumers = [threading.Thread(target=lambda: numbers.extend(e["number"] for e in c.events())) for _ in range(3)]
        for consumer in consumers:
            consumer.start()
        time.sleep(0.05)
        c.close()
        for consumer in consumers:
            consumer.join(60)
            self.assertFalse(consumer.is_alive())
        self.assertEqual(numbers, [1])

    def test_a_push_in_progress_is_expired(self) -> None:
        answers: list[object] = []
        with SyncController("store") as c:
            push = threading.Thread(target=lambda: answers.append(c.receive_push("{}", deadline=20)))
            push.start()
            self.await_begun("push")
        push.join(60)
        self.assertEqual(answers, [{"outcome": "expired"}])
        self.assertEqual(self.journal()[-2:], ["push ended", "close store"])

    def test_no_event_within_the_time_is_none(self) -> None:
        with SyncController("store") as c:
            began = time.monotonic()
            self.assertIsNone(c.next_event(timeout=0.1))
            self.assertGreaterEqual(time.monotonic() - began, 0.09)
            c.send("emit 3")
            self.assertEqual([event["number"] for event in c.events(timeout=0.05)], [1, 2, 3])
