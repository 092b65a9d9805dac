"""Walks machines with python-statemachine, an independent SCXML interpreter.

Arguments: paths of SCXML files. On standard input, for each file in turn: a line with the number of events, then the events, one per
line. A line with two words names a state, into which the machine is put first, and the event. On standard output, for each file: its initial
state, then one line per event: the state afterwards, and everything sent, in order, separated by spaces. Timers appear as
start:ID:DELAY:EVENT and cancel:ID; they are recorded, not waited for. A machine that has ended is restarted before the next event, which a
line "restart" shows.
"""

import functools
import gc
import itertools
import multiprocessing
import sys
from pathlib import Path

import statemachine.event
from statemachine.io.loader import load
from statemachine.orderedset import OrderedSet

# Cached, since matching a descriptor with an event takes most of the time.
statemachine.event.Event.match = functools.lru_cache(maxsize=None)(statemachine.event.Event.match)
statemachine.event.humanize_id = functools.lru_cache(maxsize=None)(statemachine.event.humanize_id)


def recorder(path):
    """A machine that records in a list what it sends to the engine, timers and invoked sessions."""
    base = load(Path(path))

    class Recorder(base):
        sent = []

        def _put_nonblocking(self, trigger, internal=False):
            if trigger.event.delay:
                self.sent.append(f"start:{trigger.send_id}:{int(trigger.event.delay)}:{trigger.event}")
            else:
                super()._put_nonblocking(trigger, internal=internal)

        def cancel_event(self, send_id):
            self.sent.append(f"cancel:{send_id}")

    machine = Recorder()

    def engine(invoke_id, event, **parameters):
        assert invoke_id == "engine" and not parameters
        machine.sent.append(str(event))
        return True

    machine._engine._invoke_manager.send_to_child = engine
    return machine


def restart(machine):
    """Resets a machine that has ended, which is faster than creating another."""
    machine.current_state_value = None
    machine._engine.running = True
    machine._engine.start()


def put(machine, name):
    """Puts a machine, which may have ended, into a state and its ancestors, without the actions on the way there."""
    state = next(state for state in machine.states_map.values() if state.id == name)
    around = [state]
    while around[0].parent is not None:
        around.insert(0, around[0].parent)
    machine._engine.running = True
    machine.current_state_value = OrderedSet(state.value for state in around)


def leaf(machine):
    """The active atomic state."""
    leaves = [state.id for state in machine.configuration if state.is_atomic]
    assert len(leaves) == 1, leaves
    return leaves[0]


def walk(task):
    """The output lines of one machine for its events."""
    path, events = task
    gc.set_threshold(100_000)
    machine = recorder(path)
    out = [leaf(machine)]
    for line in events:
        *state, event = line.split()
        if state:
            put(machine, state[0])
        elif machine.is_terminated:
            restart(machine)
            out.append("restart")
        machine.sent = []
        machine.send(event)
        out.append(" ".join([leaf(machine), *machine.sent]))
    return out


def main():
    lines = iter(sys.stdin.read().splitlines())
    tasks = []
    for path in sys.argv[1:]:
        count = int(next(lines))
        tasks.append((path, list(itertools.islice(lines, count))))
    with multiprocessing.Pool() as pool:
        for out in pool.imap(walk, tasks):
            sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
