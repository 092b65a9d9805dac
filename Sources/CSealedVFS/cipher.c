// The ciphers, and the choice of one for a new file.
#include <sodium.h>
#include <stdatomic.h>

#include "cipher.h"

// In libsodium since 1.0.19.
#ifdef crypto_aead_aegis256_KEYBYTES
#define HAS_AEGIS 1
_Static_assert(AEGIS_TAG_BYTES == crypto_aead_aegis256_ABYTES, "tag of the cipher");
_Static_assert(NONCE_BYTES + PLACE_BYTES == crypto_aead_aegis256_NPUBBYTES, "nonce of the cipher");
_Static_assert(KEY_BYTES == crypto_aead_aegis256_KEYBYTES, "key of the cipher");
#else
#define HAS_AEGIS 0
#endif

_Static_assert(XCHACHA_TAG_BYTES == crypto_aead_xchacha20poly1305_ietf_ABYTES, "tag of the cipher");
_Static_assert(NONCE_BYTES == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "nonce of the cipher");
_Static_assert(KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key of the cipher");

bool cipher_is_available(sealed_vfs_cipher cipher) {
  return cipher == SEALED_VFS_XCHACHA20_POLY1305 || (cipher == SEALED_VFS_AEGIS_256 && HAS_AEGIS);
}

sealed_vfs_cipher seal_fastest_cipher(void) {
#if HAS_AEGIS
  // What libsodium's own choice of an implementation depends on. Its portable one takes thirty times as long.
  bool has_instructions = (sodium_runtime_has_aesni() && sodium_runtime_has_avx()) || sodium_runtime_has_armcrypto();
  if (has_instructions) { return SEALED_VFS_AEGIS_256; }
#endif
  return SEALED_VFS_XCHACHA20_POLY1305;
}

static _Atomic sealed_vfs_cipher chosen = SEALED_VFS_FASTEST;

sealed_vfs_cipher seal_chosen_cipher(void) {
  sealed_vfs_cipher cipher = atomic_load(&chosen);
  return cipher == SEALED_VFS_FASTEST ? seal_fastest_cipher() : cipher;
}

int sealed_vfs_prefer_cipher(sealed_vfs_cipher cipher) {
  if (cipher != SEALED_VFS_FASTEST && !cipher_is_available(cipher)) { return SQLITE_NOTFOUND; }
  atomic_store(&chosen, cipher);
  return SQLITE_OK;
}

#if HAS_AEGIS
// The stored part of the nonce is all random. The place ensures that parts in different places never share a nonce,
// however random the rest is.
static void aegis_nonce(uint8_t whole[crypto_aead_aegis256_NPUBBYTES], const struct cipher_call *call) {
  memcpy(whole, call->nonce, NONCE_BYTES);
  memcpy(whole + NONCE_BYTES, call->place, PLACE_BYTES);
}
#endif

void cipher_seal(sealed_vfs_cipher cipher, const struct cipher_call *call, uint8_t *text, uint8_t *tag) {
#if HAS_AEGIS
  if (cipher == SEALED_VFS_AEGIS_256) {
    uint8_t nonce[crypto_aead_aegis256_NPUBBYTES];
    aegis_nonce(nonce, call);
    crypto_aead_aegis256_encrypt_detached(text, tag, NULL, text, call->length, call->beside, call->beside_length, NULL,
                                          nonce, call->key);
    return;
  }
#endif
  (void)cipher;
  crypto_aead_xchacha20poly1305_ietf_encrypt_detached(text, tag, NULL, text, call->length, call->beside,
                                                      call->beside_length, NULL, call->nonce, call->key);
}

bool cipher_open(sealed_vfs_cipher cipher, const struct cipher_call *call, uint8_t *text, const uint8_t *tag) {
#if HAS_AEGIS
  if (cipher == SEALED_VFS_AEGIS_256) {
    uint8_t nonce[crypto_aead_aegis256_NPUBBYTES];
    aegis_nonce(nonce, call);
    return crypto_aead_aegis256_decrypt_detached(text, NULL, text, call->length, tag, call->beside, call->beside_length,
                                                 nonce, call->key) == 0;
  }
#endif
  (void)cipher;
  return crypto_aead_xchacha20poly1305_ietf_decrypt_detached(text, NULL, text, call->length, tag, call->beside,
                                                             call->beside_length, call->nonce, call->key) == 0;
}
