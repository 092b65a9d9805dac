"""People who wait for a busy relay."""

import random

from . import protocol
from .chaos import Client


class Patient(protocol.Client):
    """A person who repeats requests for which a relay or its nodes had no time."""

    def __init__(self, port: int):
        self.client = Client([port], random.Random(0))
        super().__init__(self.client.exchange)

    def ask(self, bytes_: bytes) -> tuple[int, bytes]:
        return self.client.ask(lambda: bytes_)

    def acknowledge(self, mailbox: protocol.Mailbox, message: bytes) -> None:
        try:
            super().acknowledge(mailbox, message)
        except protocol.Refused as refusal:
            # An earlier try may have been carried out.
            assert str(refusal) == "noMessage" and self.client.unanswered, refusal
