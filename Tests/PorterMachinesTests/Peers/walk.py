"""Walks machines with python-statemachine, an independent SCXML interpreter.

Arguments: paths of SCXML files. On standard input, for each file in turn: a line with the initial state's name, a line with the number of
events, and the events, one a line. On standard output, for each file: its initial state, then one line for each event:
the state afterwards, and what was sent, in order, separated by spaces. Timers come out as start:ID:DELAY:EVENT and cancel:ID; they are
recorded, not waited for. A machine that has ended is started anew before the next event, which is shown by a line "restart".
"""

import sys
from pathlib import Path

from statemachine.io.loader import load


def recorder(path):
    """The class of a machine whose engine, timers and invoked sessions are a list."""
    base = load(Path(path))

    class Recorder(base):
        def _put_nonblocking(self, trigger, internal=False):
            if trigger.event.delay:
                self.sent.append(f"start:{trigger.send_id}:{int(trigger.event.delay)}:{trigger.event}")
            else:
                super()._put_nonblocking(trigger, internal=internal)

        def cancel_event(self, send_id):
            self.sent.append(f"cancel:{send_id}")

    def start():
        machine = Recorder()
        machine.sent = []

        def engine(invoke_id, event, **parameters):
            assert invoke_id == "engine" and not parameters
            machine.sent.append(str(event))
            return True

        machine._engine._invoke_manager.send_to_child = engine
        return machine

    return start


def leaf(machine):
    """The one state that has no states inside."""
    leaves = [state.id for state in machine.configuration if state.is_atomic]
    assert len(leaves) == 1, leaves
    return leaves[0]


def main():
    lines = iter(sys.stdin.read().splitlines())
    out = []
    for path in sys.argv[1:]:
        start = recorder(path)
        machine = start()
        out.append(leaf(machine))
        for _ in range(int(next(lines))):
            event = next(lines)
            if machine.is_terminated:
                machine = start()
                out.append("restart")
            machine.sent = []
            machine.send(event)
            out.append(" ".join([leaf(machine), *machine.sent]))
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
