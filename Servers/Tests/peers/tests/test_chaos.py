"""Three nodes and two relays under load, while they are killed, frozen and cut off: `PORTER_CHAOS_SECONDS`, `PORTER_CHAOS_SEED`,
`PORTER_CHAOS_KINDS`, and `PORTER_CHAOS_KEEP` for a folder to keep streams and logs in."""

import os
import random

from . import nats
from .chaos import Night
from .support import ClusterTestCase


class ChaosTests(ClusterTestCase):
    program = nats.LATER

    def test_every_accepted_message_is_there_once_and_no_push_is_lost(self):
        seconds = float(os.environ.get("PORTER_CHAOS_SECONDS", "60"))
        seed = int(os.environ.get("PORTER_CHAOS_SEED") or random.randrange(1 << 32))
        night = Night(self.cluster, self.start, seed)
        self.addCleanup(night.close)
        try:
            night.run(seconds)
        except AssertionError:
            print(f"\nchaos, seed {seed}: {night.summary}\n{night.condition}")
            raise
        print(f"\nchaos, seed {seed}: {night.summary}")
        if problems := night.account():
            self.fail("\n".join([f"seed {seed}", *problems, *night.log, night.condition]))
        self.assertGreater(sum(len(each.accepted) for each in night.all), 0)
