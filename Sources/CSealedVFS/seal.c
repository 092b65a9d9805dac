// Sealing: one part of a file at a time, in place. The file's cipher (cipher.c) is in its label.
//
// Nonces are 24 random bytes (20 of a WAL's header): no counter must survive a crash, a restored backup or a copied
// file, and two processes need not agree.
#include <sodium.h>

#include "cipher.h"

enum {
  MARK_VERSION = 0,
  MARK_CIPHER = 1,
  MARK_KEY_KIND = 2, // 0: raw key; 1: passphrase, Argon2id with libsodium's interactive limits
  MARK_ZERO = 3,
  MARK_CHECK = 4, // four bytes that depend on the key: distinguishes a wrong key from a damaged page
  CHECK_BYTES = 4,
  NOTE_BYTES = 4,
};

_Static_assert(MARK_CHECK + CHECK_BYTES == MARK_BYTES, "the check ends the mark");
_Static_assert(LABEL_BYTES + NONCE_BYTES + XCHACHA_TAG_BYTES == TRAILER_BYTES, "a trailer is filled");
_Static_assert(MARK_BYTES + NONCE_BYTES + AEGIS_TAG_BYTES == TRAILER_BYTES, "a trailer is filled");

uint32_t get_u32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

bool is_all_zero(const uint8_t *bytes, size_t length) { return sodium_is_zero(bytes, length) != 0; }

void seal_new_label(uint8_t label[LABEL_BYTES], sealed_vfs_cipher cipher, const uint8_t salt[SALT_BYTES],
                    bool is_passphrase) {
  memset(label, 0, LABEL_BYTES);
  label[MARK_VERSION] = FORMAT_VERSION;
  label[MARK_CIPHER] = (uint8_t)cipher;
  label[MARK_KEY_KIND] = is_passphrase ? 1 : 0;
  memcpy(label + MARK_BYTES, salt, SALT_BYTES);
}

void seal_file_keys(struct file_keys *keys, const uint8_t master[KEY_BYTES], const uint8_t label[LABEL_BYTES]) {
  // Each file and cipher has its own key, so pages of another file cannot pass, and nonces of two files cannot collide.
  static const char xchacha_purpose[] = "nightporter sealed file 1";
  static const char aegis_purpose[] = "nightporter sealed file 2, AEGIS-256";
  bool is_aegis = seal_mark_cipher(label) == SEALED_VFS_AEGIS_256;
  const char *purpose = is_aegis ? aegis_purpose : xchacha_purpose;
  size_t purpose_bytes = is_aegis ? sizeof aegis_purpose : sizeof xchacha_purpose;
  uint8_t material[KEY_BYTES + CHECK_BYTES];
  crypto_generichash_state state;
  crypto_generichash_init(&state, master, KEY_BYTES, sizeof material);
  crypto_generichash_update(&state, (const uint8_t *)purpose, purpose_bytes);
  crypto_generichash_update(&state, seal_label_salt(label), SALT_BYTES);
  crypto_generichash_final(&state, material, sizeof material);
  memcpy(keys->key, material, KEY_BYTES);
  memcpy(keys->label, label, LABEL_BYTES);
  memcpy(keys->label + MARK_CHECK, material + KEY_BYTES, CHECK_BYTES);
  sodium_memzero(material, sizeof material);
  sodium_memzero(&state, sizeof state);
}

sealed_vfs_kind seal_mark_kind(const uint8_t mark[MARK_BYTES]) {
  if (mark[MARK_VERSION] == 0 || mark[MARK_ZERO] != 0) { return SEALED_VFS_DAMAGED; }
  sealed_vfs_cipher cipher = seal_mark_cipher(mark);
  bool is_known = cipher == SEALED_VFS_XCHACHA20_POLY1305 || cipher == SEALED_VFS_AEGIS_256;
  if (mark[MARK_VERSION] > FORMAT_VERSION || !is_known || mark[MARK_KEY_KIND] > 1) { return SEALED_VFS_NEWER_FORMAT; }
  if (mark[MARK_VERSION] == 1 && cipher != SEALED_VFS_XCHACHA20_POLY1305) { return SEALED_VFS_DAMAGED; }
  return cipher_is_available(cipher) ? SEALED_VFS_NOTHING : SEALED_VFS_CIPHER_UNAVAILABLE;
}

uint8_t seal_mark_version(const uint8_t mark[MARK_BYTES]) { return mark[MARK_VERSION]; }

sealed_vfs_cipher seal_mark_cipher(const uint8_t mark[MARK_BYTES]) { return (sealed_vfs_cipher)mark[MARK_CIPHER]; }

bool seal_mark_is_passphrase(const uint8_t mark[MARK_BYTES]) { return mark[MARK_KEY_KIND] == 1; }

const uint8_t *seal_label_salt(const uint8_t label[LABEL_BYTES]) { return label + MARK_BYTES; }

size_t seal_salt_beside(const uint8_t mark[MARK_BYTES]) {
  return seal_mark_cipher(mark) == SEALED_VFS_AEGIS_256 ? SALT_BYTES : 0;
}

// The offsets of the nonce in a trailer, and of the tag behind it.
static size_t nonce_offset(const uint8_t mark[MARK_BYTES]) { return LABEL_BYTES - seal_salt_beside(mark); }

struct part_label seal_part_label(const uint8_t *trailer, const uint8_t *beside) {
  struct part_label label = {.has_salt = true};
  memcpy(label.bytes, trailer, LABEL_BYTES);
  if (seal_salt_beside(trailer) == 0) { return label; }
  label.has_salt = beside != NULL;
  if (label.has_salt) { memcpy(label.bytes + MARK_BYTES, beside, SALT_BYTES); }
  return label;
}

bool seal_is_of_file(const struct file_keys *keys, const struct part_label *label) {
  return memcmp(keys->label, label->bytes, label->has_salt ? LABEL_BYTES : MARK_BYTES) == 0;
}

uint32_t header_page_size(const uint8_t *header) {
  uint32_t size = (uint32_t)header[HEADER_PAGE_SIZE] << 8 | header[HEADER_PAGE_SIZE + 1];
  return size == 1 ? MAX_PAGE : size;
}

bool is_page_size(int64_t size) { return size >= MIN_PAGE && size <= MAX_PAGE && (size & (size - 1)) == 0; }

uint64_t lock_byte_page(uint32_t page_size) {
  // The position of these bytes is part of the file format, unless one of SQLite's own tests has moved them. A SQLite
  // built without its test interface answers 0.
  int offset = sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, 0u);
  return (uint64_t)(offset > 0 ? offset : 0x40000000) / page_size + 1;
}

sealed_vfs_kind header_kind(const uint8_t header[CLEAR_BYTES]) {
  if (memcmp(header, "SQLite format 3", 16) != 0) { return SEALED_VFS_NOT_A_DATABASE; }
  if (header[HEADER_RESERVED] != TRAILER_BYTES) { return SEALED_VFS_NOT_SEALED; }
  return is_page_size(header_page_size(header)) ? SEALED_VFS_NOTHING : SEALED_VFS_DAMAGED;
}

// What the tag covers in addition to the text: sort, number, label, and the plain header of page 1.
struct additional {
  uint8_t bytes[1 + 8 + LABEL_BYTES + CLEAR_BYTES];
  size_t length;
};

static void put_u64(uint8_t *bytes, uint64_t value) {
  for (int i = 0; i < 8; i++) { bytes[i] = (uint8_t)(value >> (56 - 8 * i)); }
}

static struct additional additional_data(struct seal_place place, const uint8_t *label) {
  struct additional data;
  data.bytes[0] = (uint8_t)place.sort;
  put_u64(data.bytes + 1, place.number);
  memcpy(data.bytes + 9, label, LABEL_BYTES);
  data.length = 9 + LABEL_BYTES;
  if (place.clear != NULL) {
    memcpy(data.bytes + data.length, place.clear, CLEAR_BYTES);
    data.length += CLEAR_BYTES;
  }
  return data;
}

static struct cipher_call make_call(const struct file_keys *keys, struct seal_place place,
                                    const struct additional *data, size_t length, const uint8_t *nonce) {
  struct cipher_call call = {
      .key = keys->key, .nonce = nonce, .beside = data->bytes, .beside_length = data->length, .length = length};
  // The number of a part, or its offset, never needs the first byte.
  put_u64(call.place, place.number);
  call.place[0] = (uint8_t)place.sort;
  return call;
}

static uint8_t *nonce_of(const struct file_keys *keys, uint8_t *trailer) { return trailer + nonce_offset(keys->label); }

// The trailer's nonce has been filled in.
static void close_with_nonce(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length,
                             uint8_t *trailer) {
  uint8_t *nonce = nonce_of(keys, trailer);
  memcpy(trailer, keys->label, nonce_offset(keys->label));
  struct additional data = additional_data(place, keys->label);
  struct cipher_call call = make_call(keys, place, &data, length, nonce);
  cipher_seal(seal_mark_cipher(keys->label), &call, text, nonce + NONCE_BYTES);
}

static void new_nonce(struct nonces *drawn, uint8_t nonce[NONCE_BYTES]) {
  if (drawn == NULL) {
    randombytes_buf(nonce, NONCE_BYTES);
    return;
  }
  if (drawn->left == 0) {
    randombytes_buf(drawn->bytes, sizeof drawn->bytes);
    drawn->left = NONCES;
  }
  drawn->left--;
  memcpy(nonce, drawn->bytes[drawn->left], NONCE_BYTES);
}

void seal_close(const struct file_keys *keys, struct nonces *drawn, struct seal_place place, uint8_t *text,
                size_t length, uint8_t *trailer) {
  new_nonce(drawn, nonce_of(keys, trailer));
  close_with_nonce(keys, place, text, length, trailer);
}

void seal_close_noting(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length,
                       uint8_t *trailer, uint32_t noted) {
  uint8_t *nonce = nonce_of(keys, trailer);
  randombytes_buf(nonce, NONCE_BYTES);
  uint8_t *note = nonce + NONCE_BYTES - NOTE_BYTES;
  for (int i = 0; i < NOTE_BYTES; i++) { note[i] = (uint8_t)(noted >> (24 - 8 * i)); }
  close_with_nonce(keys, place, text, length, trailer);
}

uint32_t seal_noted(const uint8_t *trailer) {
  return get_u32(trailer + nonce_offset(trailer) + NONCE_BYTES - NOTE_BYTES);
}

bool seal_open(const struct file_keys *keys, struct seal_place place, uint8_t *text, size_t length,
               const uint8_t *trailer) {
  size_t before_nonce = nonce_offset(keys->label);
  if (memcmp(trailer, keys->label, before_nonce) != 0) { return false; }
  const uint8_t *nonce = trailer + before_nonce;
  struct additional data = additional_data(place, keys->label);
  struct cipher_call call = make_call(keys, place, &data, length, nonce);
  return cipher_open(seal_mark_cipher(keys->label), &call, text, nonce + NONCE_BYTES);
}
