"""A host's service, with PyNaCl alone: seals an application push as in spec/protocol/scopes.md, and opens one.

Reads one JSON object from standard input and writes one to standard output.
{"seal": envelope, "address": "scope:…", "seed": hex} gives {"message": hex}.
{"open": hex, "secret": hex, "verify": hex} gives {"envelope": text}; "verify" is the service's public key.
"""

import base64
import json
import sys

from nacl.public import Box, PrivateKey, PublicKey
from nacl.signing import SigningKey, VerifyKey
from nacl.utils import random

SIZE = 16_384
PADDED = SIZE - 1 - 32 - 24 - 16
CONTEXT = b"nightporter application push 1\0"


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def seal(envelope: dict, address: str, service: SigningKey) -> bytes:
    scope = decoded(address.removeprefix("scope:").split("@")[0])
    text = json.dumps(envelope).encode()
    plaintext = service.sign(CONTEXT + scope + text).signature + text
    padded = len(plaintext).to_bytes(2, "big") + plaintext
    padded += b"#" * (PADDED - len(padded))
    own, nonce = PrivateKey.generate(), random(24)
    sealed = Box(own, PublicKey(scope)).encrypt(padded, nonce).ciphertext
    message = b"A" + bytes(own.public_key) + nonce + sealed
    assert len(message) == SIZE
    return message


def unseal(message: bytes, scope: PrivateKey, service: VerifyKey) -> str:
    assert message[:1] == b"A" and len(message) == SIZE
    padded = Box(scope, PublicKey(message[1:33])).decrypt(message[57:], message[33:57])
    length = int.from_bytes(padded[:2], "big")
    plaintext, filler = padded[2 : 2 + length], padded[2 + length :]
    assert filler == b"#" * len(filler)
    signature, text = plaintext[:64], plaintext[64:]
    service.verify(CONTEXT + bytes(scope.public_key) + text, signature)
    return text.decode()


if __name__ == "__main__":
    request = json.load(sys.stdin)
    if "seal" in request:
        sealed = seal(request["seal"], request["address"], SigningKey(bytes.fromhex(request["seed"])))
        json.dump({"message": sealed.hex()}, sys.stdout)
    else:
        opened = unseal(
            bytes.fromhex(request["open"]),
            PrivateKey(bytes.fromhex(request["secret"])),
            VerifyKey(bytes.fromhex(request["verify"])),
        )
        json.dump({"envelope": opened}, sys.stdout)
