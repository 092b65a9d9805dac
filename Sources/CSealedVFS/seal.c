// Sealing: one part of a file at a time, in place, with XChaCha20-Poly1305.
//
// Nonces are 24 random bytes (20 of a WAL's header): no counter has to survive a crash, a restored backup or a copied
// file, and two processes need not agree.
#include <sodium.h>

#include "internal.h"

enum {
  CIPHER_XCHACHA20_POLY1305 = 1,
  LABEL_VERSION = 0,
  LABEL_CIPHER = 1,
  LABEL_KEY_KIND = 2, // 0: raw key; 1: passphrase, Argon2id with libsodium's interactive limits
  LABEL_ZERO = 3,
  LABEL_CHECK = 4, // four bytes that depend on the key: tells a wrong key from a damaged page
  LABEL_SALT = 8,
  NOTE_BYTES = 4,
};

_Static_assert(LABEL_SALT + SALT_BYTES == LABEL_BYTES, "the salt ends the label");
_Static_assert(LABEL_BYTES + NONCE_BYTES + crypto_aead_xchacha20poly1305_ietf_ABYTES == TRAILER_BYTES,
               "a trailer is filled");
_Static_assert(NONCE_BYTES == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "nonce of the cipher");
_Static_assert(KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key of the cipher");

uint32_t get_u32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

bool is_all_zero(const uint8_t *bytes, size_t length) { return sodium_is_zero(bytes, length) != 0; }

void seal_file_keys(struct file_keys *keys, const uint8_t master[KEY_BYTES], const uint8_t salt[SALT_BYTES],
                    uint8_t version, bool is_passphrase) {
  memset(keys->label, 0, LABEL_BYTES);
  keys->label[LABEL_VERSION] = version;
  keys->label[LABEL_CIPHER] = CIPHER_XCHACHA20_POLY1305;
  keys->label[LABEL_KEY_KIND] = is_passphrase ? 1 : 0;
  memcpy(keys->label + LABEL_SALT, salt, SALT_BYTES);

  // A key of its own for each file, so that a page of another file cannot pass, nor can nonces of two files meet.
  static const char purpose[] = "nightporter sealed file 1";
  uint8_t material[KEY_BYTES + 4];
  crypto_generichash_state state;
  crypto_generichash_init(&state, master, KEY_BYTES, sizeof material);
  crypto_generichash_update(&state, (const uint8_t *)purpose, sizeof purpose);
  crypto_generichash_update(&state, salt, SALT_BYTES);
  crypto_generichash_final(&state, material, sizeof material);
  memcpy(keys->key, material, KEY_BYTES);
  memcpy(keys->label + LABEL_CHECK, material + KEY_BYTES, 4);
  sodium_memzero(material, sizeof material);
  sodium_memzero(&state, sizeof state);
}

sealed_vfs_kind seal_label_kind(const uint8_t label[LABEL_BYTES]) {
  if (label[LABEL_VERSION] == 0 || label[LABEL_ZERO] != 0) { return SEALED_VFS_DAMAGED; }
  if (label[LABEL_VERSION] > FORMAT_VERSION || label[LABEL_CIPHER] != CIPHER_XCHACHA20_POLY1305 ||
      label[LABEL_KEY_KIND] > 1) {
    return SEALED_VFS_NEWER_FORMAT;
  }
  return SEALED_VFS_NOTHING;
}

uint8_t seal_label_version(const uint8_t label[LABEL_BYTES]) { return label[LABEL_VERSION]; }

const uint8_t *seal_label_salt(const uint8_t label[LABEL_BYTES]) { return label + LABEL_SALT; }

bool seal_label_is_passphrase(const uint8_t label[LABEL_BYTES]) { return label[LABEL_KEY_KIND] == 1; }

uint32_t header_page_size(const uint8_t *header) {
  uint32_t size = (uint32_t)header[HEADER_PAGE_SIZE] << 8 | header[HEADER_PAGE_SIZE + 1];
  return size == 1 ? MAX_PAGE : size;
}

bool is_page_size(int64_t size) { return size >= MIN_PAGE && size <= MAX_PAGE && (size & (size - 1)) == 0; }

uint64_t lock_byte_page(uint32_t page_size) {
  // Where these bytes are is a part of the file format, unless one of SQLite's own tests has moved them. A SQLite that
  // was built without its test interface answers 0.
  int offset = sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0u);
  return (uint64_t)(offset > 0 ? offset : 0x40000000) / page_size + 1;
}

sealed_vfs_kind header_kind(const uint8_t header[CLEAR_BYTES]) {
  if (memcmp(header, "SQLite format 3", 16) != 0) { return SEALED_VFS_NOT_A_DATABASE; }
  if (header[HEADER_RESERVED] != TRAILER_BYTES) { return SEALED_VFS_NOT_SEALED; }
  return is_page_size(header_page_size(header)) ? SEALED_VFS_NOTHING : SEALED_VFS_DAMAGED;
}

// What the tag covers beside the text: sort, number, label, and the plain header of page 1.
struct additional {
  uint8_t bytes[1 + 8 + LABEL_BYTES + CLEAR_BYTES];
  size_t length;
};

static struct additional additional_data(struct seal_place place, const uint8_t *label) {
  struct additional data;
  data.bytes[0] = (uint8_t)place.sort;
  for (int i = 0; i < 8; i++) { data.bytes[1 + i] = (uint8_t)(place.number >> (56 - 8 * i)); }
  memcpy(data.bytes + 9, label, LABEL_BYTES);
  data.length = 9 + LABEL_BYTES;
  if (place.clear != NULL) {
    memcpy(data.bytes + data.length, place.clear, CLEAR_BYTES);
    data.length += CLEAR_BYTES;
  }
  return data;
}

// The trailer's nonce has been filled in.
static void close_with_nonce(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length,
                             uint8_t *trailer) {
  uint8_t *nonce = trailer + LABEL_BYTES;
  memcpy(trailer, keys->label, LABEL_BYTES);
  struct additional data = additional_data(place, trailer);
  crypto_aead_xchacha20poly1305_ietf_encrypt_detached(text, nonce + NONCE_BYTES, NULL, text, length, data.bytes,
                                                      data.length, NULL, nonce, keys->key);
}

void seal_close(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length, uint8_t *trailer) {
  randombytes_buf(trailer + LABEL_BYTES, NONCE_BYTES);
  close_with_nonce(keys, place, text, length, trailer);
}

void seal_close_noting(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length,
                       uint8_t *trailer, uint32_t noted) {
  randombytes_buf(trailer + LABEL_BYTES, NONCE_BYTES);
  uint8_t *note = trailer + LABEL_BYTES + NONCE_BYTES - NOTE_BYTES;
  for (int i = 0; i < NOTE_BYTES; i++) { note[i] = (uint8_t)(noted >> (24 - 8 * i)); }
  close_with_nonce(keys, place, text, length, trailer);
}

uint32_t seal_noted(const uint8_t *trailer) { return get_u32(trailer + LABEL_BYTES + NONCE_BYTES - NOTE_BYTES); }

bool seal_open(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length,
               const uint8_t *trailer) {
  const uint8_t *nonce = trailer + LABEL_BYTES;
  struct additional data = additional_data(place, trailer);
  return crypto_aead_xchacha20poly1305_ietf_decrypt_detached(text, NULL, text, length, nonce + NONCE_BYTES, data.bytes,
                                                             data.length, nonce, keys->key) == 0;
}
