/* dlsym's RTLD_NEXT */
#define _GNU_SOURCE
#include "counted_crypto.h"

#include <stdatomic.h>

static atomic_long verifications, hashes, agreements;

struct counted_crypto counted_crypto(void) {
  struct counted_crypto counts = {.verifications = verifications, .hashes = hashes, .agreements = agreements};
  return counts;
}

#if defined(__linux__)

#include <dlfcn.h>
#include <sodium.h>
#include <string.h>

static int (*next_verify)(const unsigned char *, const unsigned char *, unsigned long long, const unsigned char *);
static int (*next_hash)(unsigned char *, size_t, const unsigned char *, unsigned long long, const unsigned char *,
                        size_t);
static int (*next_agree)(unsigned char *, const unsigned char *, const unsigned char *);

/* ISO C has no conversion from an object's address to a function's. */
#define FIND(function, name)                       \
  do {                                             \
    void *symbol = dlsym(RTLD_NEXT, name);         \
    memcpy(&(function), &symbol, sizeof(function)); \
  } while (0)

/* Before any thread is there. */
__attribute__((constructor)) static void find(void) {
  FIND(next_verify, "crypto_sign_verify_detached");
  FIND(next_hash, "crypto_generichash");
  FIND(next_agree, "crypto_box_beforenm");
}

/* A definition in the program precedes libsodium's. */
int crypto_sign_verify_detached(const unsigned char *signature, const unsigned char *message, unsigned long long length,
                                const unsigned char *key) {
  verifications++;
  return next_verify(signature, message, length, key);
}

int crypto_generichash(unsigned char *hash, size_t size, const unsigned char *message, unsigned long long length,
                       const unsigned char *key, size_t key_size) {
  hashes++;
  return next_hash(hash, size, message, length, key, key_size);
}

int crypto_box_beforenm(unsigned char *shared, const unsigned char *public_key, const unsigned char *secret_key) {
  agreements++;
  return next_agree(shared, public_key, secret_key);
}

#endif
