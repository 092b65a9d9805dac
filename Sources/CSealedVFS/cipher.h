// The ciphers, as used by seal.c.
#ifndef SEALED_VFS_CIPHER_H
#define SEALED_VFS_CIPHER_H

#include "internal.h"

enum {
  XCHACHA_TAG_BYTES = 16,
  AEGIS_TAG_BYTES = 32,
  PLACE_BYTES = 8,
};

struct cipher_call {
  const uint8_t *key;
  const uint8_t *nonce;  // as it is stored
  const uint8_t *beside; // authenticated, not encrypted
  size_t beside_length;
  size_t length; // of the text
  uint8_t place[PLACE_BYTES]; // sort and number
};

// Whether the linked libsodium has it; false for an invalid value.
bool cipher_is_available(sealed_vfs_cipher cipher);
// In place.
void cipher_seal(sealed_vfs_cipher cipher, const struct cipher_call *call, uint8_t *text, uint8_t *tag);
// In place. False, and no plaintext, if the tag does not match.
bool cipher_open(sealed_vfs_cipher cipher, const struct cipher_call *call, uint8_t *text, const uint8_t *tag);

#endif
