#include "ratchet.h"

#include <sodium.h>
#include <string.h>

enum {
  VERSION = 1,
  ESTABLISHED = 2,
  HEADER_BYTES = 41,
  /* Offsets in the stored state; see spec/protocol/crypto.md. */
  REMOTE_KEY = 70,
  RECEIVING_KEY = 138,
  RECEIVING_NUMBER = 170,
  SHORTEST_CORE = 175,
  KEY_BYTES = 32,
  NONCE_BYTES = 24,
};

static void step(uint8_t result[KEY_BYTES], const uint8_t key[KEY_BYTES], uint8_t constant) {
  crypto_auth_hmacsha256(result, &constant, 1, key);
}

/* HKDF-SHA256 of a message key: 56 bytes, in two blocks. */
static void derive(uint8_t derived[2 * KEY_BYTES], const uint8_t key[KEY_BYTES]) {
  static const uint8_t info[] = "Nightporter message key v1";
  static const uint8_t salt[KEY_BYTES];
  uint8_t extracted[KEY_BYTES];
  crypto_auth_hmacsha256(extracted, key, KEY_BYTES, salt);
  for (uint8_t block = 1; block <= 2; block++) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, extracted, sizeof extracted);
    if (block == 2) crypto_auth_hmacsha256_update(&state, derived, KEY_BYTES);
    crypto_auth_hmacsha256_update(&state, info, sizeof info - 1);
    crypto_auth_hmacsha256_update(&state, &block, 1);
    crypto_auth_hmacsha256_final(&state, derived + (block - 1) * KEY_BYTES);
    sodium_memzero(&state, sizeof state);
  }
  sodium_memzero(extracted, sizeof extracted);
}

size_t open_ratchet(uint8_t *core, size_t core_length, const uint8_t associated[ASSOCIATED_BYTES],
                    const uint8_t *message, size_t length, uint8_t *plaintext) {
  if (core_length < SHORTEST_CORE || core[0] != VERSION || core[1] != ESTABLISHED) refuse("a ratchet of another kind");
  if (length < RATCHET_OVERHEAD || message[0] != VERSION) refuse("a message of another version");
  uint32_t number = read_big_endian(message + 37);
  if (memcmp(message + 1, core + REMOTE_KEY, KEY_BYTES) != 0) refuse("a new ratchet key");
  if (number != read_big_endian(core + RECEIVING_NUMBER)) refuse("a message out of order");

  uint8_t key[KEY_BYTES], next[KEY_BYTES], derived[2 * KEY_BYTES], authenticated[ASSOCIATED_BYTES + HEADER_BYTES];
  step(key, core + RECEIVING_KEY, 1);
  step(next, core + RECEIVING_KEY, 2);
  derive(derived, key);
  memcpy(authenticated, associated, ASSOCIATED_BYTES);
  memcpy(authenticated + ASSOCIATED_BYTES, message, HEADER_BYTES);
  unsigned long long count = 0;
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(plaintext, &count, NULL, message + HEADER_BYTES,
                                                 length - HEADER_BYTES, authenticated, sizeof authenticated,
                                                 derived + KEY_BYTES, derived) != 0)
    refuse("a message that does not open");
  memcpy(core + RECEIVING_KEY, next, KEY_BYTES);
  number++;
  for (int byte = 0; byte < 4; byte++) core[RECEIVING_NUMBER + byte] = (uint8_t)(number >> (24 - 8 * byte));
  sodium_memzero(key, sizeof key);
  sodium_memzero(next, sizeof next);
  sodium_memzero(derived, sizeof derived);
  return (size_t)count;
}
