"""The other side of the interoperability tests: PyNaCl and DoubleRatchet behind a line protocol.

A request is one line: an operation and its arguments, separated by single spaces. Bytes are in hexadecimal, an empty value is "-".
The answer is one line: "ok" and values, or "error" and the name of the exception.
"""

import asyncio
import hashlib
import importlib.metadata
import struct
import sys
import warnings

import doubleratchet
import nacl.bindings
import nacl.exceptions
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from doubleratchet.recommended import diffie_hellman_ratchet_curve25519, kdf_hkdf, kdf_separate_hmacs
from doubleratchet.recommended.crypto_provider import HashFunction

HEADER_VERSION = 1
HEADER_LENGTH = 41
MAXIMUM_SKIPPED_PER_STEP = 1_000
MAXIMUM_SKIPPED_IN_ALL = 2_000


def hkdf(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(material)


class Seeded:
    """Derives keys from a seed, so that a failing conversation can be repeated."""

    seed = b""
    counter = 0

    @classmethod
    def key(cls) -> bytes:
        cls.counter += 1
        return hashlib.sha256(cls.seed + struct.pack(">Q", cls.counter)).digest()


class RootKDF(kdf_hkdf.KDF):
    @staticmethod
    def _get_hash_function() -> HashFunction:
        return HashFunction.SHA_256

    @staticmethod
    def _get_info() -> bytes:
        return b"Nightporter ratchet root v1"


class ChainKDF(kdf_separate_hmacs.KDF):
    @staticmethod
    def _get_hash_function() -> HashFunction:
        return HashFunction.SHA_256


class DiffieHellmanRatchet(diffie_hellman_ratchet_curve25519.DiffieHellmanRatchet):
    @staticmethod
    def _generate_priv() -> bytes:
        return Seeded.key()


class AEAD(doubleratchet.AEAD):
    @staticmethod
    def key_and_nonce(key: bytes) -> tuple[bytes, bytes]:
        derived = hkdf(key, b"", b"Nightporter message key v1", 56)
        return derived[:32], derived[32:]

    @staticmethod
    async def encrypt(plaintext: bytes, key: bytes, associated_data: bytes) -> bytes:
        key, nonce = AEAD.key_and_nonce(key)
        return nacl.bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, associated_data, nonce, key)

    @staticmethod
    async def decrypt(ciphertext: bytes, key: bytes, associated_data: bytes) -> bytes:
        key, nonce = AEAD.key_and_nonce(key)
        try:
            return nacl.bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(ciphertext, associated_data, nonce, key)
        except nacl.exceptions.CryptoError as error:
            raise doubleratchet.AuthenticationFailedException from error


def encode_header(header: doubleratchet.Header) -> bytes:
    return (
        struct.pack(">B", HEADER_VERSION)
        + header.ratchet_pub
        + struct.pack(">II", header.previous_sending_chain_length, header.sending_chain_length)
    )


def decode(message: bytes) -> doubleratchet.EncryptedMessage:
    version, ratchet_key, previous, number = struct.unpack(">B32sII", message[:HEADER_LENGTH])
    if version != HEADER_VERSION:
        raise ValueError("version")
    header = doubleratchet.Header(ratchet_key, previous, number)
    return doubleratchet.EncryptedMessage(header, message[HEADER_LENGTH:])


class DoubleRatchet(doubleratchet.DoubleRatchet):
    @staticmethod
    def _build_associated_data(associated_data: bytes, header: doubleratchet.Header) -> bytes:
        return associated_data + encode_header(header)


class Side:
    """One side of a conversation, before and after its first message."""

    configuration = {
        "diffie_hellman_ratchet_class": DiffieHellmanRatchet,
        "root_chain_kdf": RootKDF,
        "message_chain_kdf": ChainKDF,
        # The package uses the first half of the output as the next chain key, the second as the message key.
        "message_chain_constant": b"\x02\x01",
        "dos_protection_threshold": MAXIMUM_SKIPPED_PER_STEP,
        "max_num_skipped_message_keys": MAXIMUM_SKIPPED_IN_ALL,
        "aead": AEAD,
    }

    def __init__(self, secret: bytes, associated_data: bytes, *, remote: bytes = b"", own: bytes = b"") -> None:
        self.secret = secret
        self.associated_data = associated_data
        self.remote = remote
        self.own = own
        self.ratchet = None

    async def encrypt(self, plaintext: bytes) -> bytes:
        if self.ratchet is None:
            self.ratchet, message = await DoubleRatchet.encrypt_initial_message(
                **self.configuration,
                shared_secret=self.secret,
                recipient_ratchet_pub=self.remote,
                message=plaintext,
                associated_data=self.associated_data,
            )
        else:
            message = await self.ratchet.encrypt_message(plaintext, self.associated_data)
        return encode_header(message.header) + message.ciphertext

    async def decrypt(self, message: bytes) -> bytes:
        if self.ratchet is not None:
            return await self.ratchet.decrypt_message(decode(message), self.associated_data)
        self.ratchet, plaintext = await DoubleRatchet.decrypt_initial_message(
            **self.configuration,
            shared_secret=self.secret,
            own_ratchet_priv=self.own,
            message=decode(message),
            associated_data=self.associated_data,
        )
        return plaintext


def agree(first: bytes, second: bytes, third: bytes) -> bytes:
    return hkdf(first + second + third, bytes(32), b"Nightporter invitation v1", 32)


class Peer:
    def __init__(self) -> None:
        self.side: Side | None = None
        self.invitation: tuple[bytes, bytes] | None = None

    def versions(self) -> list[bytes]:
        return [importlib.metadata.version(name).encode() for name in ("PyNaCl", "DoubleRatchet")]

    def seed(self, seed: bytes) -> list[bytes]:
        Seeded.seed, Seeded.counter = seed, 0
        return []

    def public_key(self, secret: bytes) -> list[bytes]:
        return [nacl.bindings.crypto_scalarmult_base(secret)]

    def box_seal(self, secret: bytes, public: bytes, nonce: bytes, plaintext: bytes) -> list[bytes]:
        return [nacl.bindings.crypto_box(plaintext, nonce, public, secret)]

    def box_open(self, secret: bytes, public: bytes, nonce: bytes, sealed: bytes) -> list[bytes]:
        return [nacl.bindings.crypto_box_open(sealed, nonce, public, secret)]

    def signing_key(self, seed: bytes) -> list[bytes]:
        return [nacl.bindings.crypto_sign_seed_keypair(seed)[0]]

    def sign(self, seed: bytes, message: bytes) -> list[bytes]:
        secret = nacl.bindings.crypto_sign_seed_keypair(seed)[1]
        return [nacl.bindings.crypto_sign(message, secret)[: nacl.bindings.crypto_sign_BYTES]]

    def verify(self, public: bytes, signature: bytes, message: bytes) -> list[bytes]:
        nacl.bindings.crypto_sign_open(signature + message, public)
        return []

    def hkdf(self, material: bytes, salt: bytes, info: bytes, length: bytes) -> list[bytes]:
        return [hkdf(material, salt, info, int.from_bytes(length, "big"))]

    def invite(self) -> list[bytes]:
        self.invitation = (Seeded.key(), Seeded.key())
        return [b"".join(nacl.bindings.crypto_scalarmult_base(secret) for secret in self.invitation)]

    def accept(self, joiner_keys: bytes) -> list[bytes]:
        assert self.invitation is not None
        identity, ratchet = self.invitation
        first, second = joiner_keys[:32], joiner_keys[32:]
        multiply = nacl.bindings.crypto_scalarmult
        secret = agree(multiply(identity, second), multiply(ratchet, first), multiply(ratchet, second))
        own_keys = b"".join(nacl.bindings.crypto_scalarmult_base(key) for key in self.invitation)
        self.side = Side(secret, own_keys + joiner_keys, own=ratchet)
        return []

    def join(self, invitation_keys: bytes) -> list[bytes]:
        identity, ratchet = invitation_keys[:32], invitation_keys[32:]
        first, second = Seeded.key(), Seeded.key()
        multiply = nacl.bindings.crypto_scalarmult
        secret = agree(multiply(second, identity), multiply(first, ratchet), multiply(second, ratchet))
        own_keys = b"".join(nacl.bindings.crypto_scalarmult_base(key) for key in (first, second))
        self.side = Side(secret, invitation_keys + own_keys, remote=ratchet)
        return [own_keys]

    def encrypt(self, plaintext: bytes) -> list[bytes]:
        assert self.side is not None
        return [run(self.side.encrypt(plaintext))]

    def decrypt(self, message: bytes) -> list[bytes]:
        assert self.side is not None
        return [run(self.side.decrypt(message))]


# The package warns when it abandons a gap beyond the bound, which a garbled header occasionally causes.
warnings.simplefilter("ignore")
loop = asyncio.new_event_loop()
run = loop.run_until_complete
peer = Peer()
OPERATIONS = {name: getattr(peer, name) for name in dir(peer) if callable(getattr(peer, name)) and name[0] != "_"}

for line in sys.stdin:
    name, *arguments = line.rstrip("\n").split(" ")
    try:
        values = OPERATIONS[name](*(b"" if text == "-" else bytes.fromhex(text) for text in arguments))
        answer = " ".join(["ok", *(value.hex() or "-" for value in values)])
    except Exception as error:  # Any exception of the packages is returned for the test to judge.
        answer = "error " + type(error).__name__
    print(answer, flush=True)
