#include "web_push.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>
#include <string.h>

enum { HEADER = 86, TAG = 16, HASH = 32, CIPHER_KEY = 16, NONCE = 12 };

/* ------------------------------------------------------------------------------------------------ keys */

static EVP_PKEY *from_parts(const uint8_t point[WEB_PUSH_KEY], const BIGNUM *own) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  OSSL_PARAM *parameters = NULL;
  if (builder != NULL && context != NULL &&
      OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, WEB_PUSH_KEY) == 1 &&
      (own == NULL || OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, own) == 1) &&
      (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1)
    EVP_PKEY_fromdata(context, &key, own == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, parameters);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  return key;
}

/* Creates a key from its private half; the point is computed. */
static EVP_PKEY *from_private(const uint8_t own[WEB_PUSH_PRIVATE]) {
  EVP_PKEY *key = NULL;
  uint8_t point[WEB_PUSH_KEY];
  EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  EC_POINT *made = group == NULL ? NULL : EC_POINT_new(group);
  BIGNUM *number = BN_bin2bn(own, WEB_PUSH_PRIVATE, NULL);
  if (made != NULL && number != NULL && EC_POINT_mul(group, made, number, NULL, NULL, NULL) == 1 &&
      EC_POINT_point2oct(group, made, POINT_CONVERSION_UNCOMPRESSED, point, sizeof point, NULL) == sizeof point)
    key = from_parts(point, number);
  BN_clear_free(number);
  EC_POINT_free(made);
  EC_GROUP_free(group);
  return key;
}

static int get_point(EVP_PKEY *key, uint8_t point[WEB_PUSH_KEY]) {
  size_t length = 0;
  return EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, WEB_PUSH_KEY, &length) == 1 &&
         length == WEB_PUSH_KEY;
}

static int agree(EVP_PKEY *own, EVP_PKEY *other, uint8_t shared[HASH]) {
  size_t length = HASH;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(own, NULL);
  int is_done = context != NULL && EVP_PKEY_derive_init(context) == 1 &&
                EVP_PKEY_derive_set_peer(context, other) == 1 && EVP_PKEY_derive(context, shared, &length) == 1 &&
                length == HASH;
  EVP_PKEY_CTX_free(context);
  return is_done;
}

/* ------------------------------------------------------------------------------------------------ derived keys */

struct keys {
  uint8_t cipher[HASH]; /* CIPHER_KEY of them */
  uint8_t nonce[HASH];  /* NONCE of them */
};

static int hash(const uint8_t *key, size_t key_length, const uint8_t *bytes, size_t length, uint8_t result[HASH]) {
  unsigned count = 0;
  return HMAC(EVP_sha256(), key, (int)key_length, bytes, length, result, &count) != NULL && count == HASH;
}

/* HKDF's second step, one block only: no output here is longer. `length` includes the NUL of `name`. */
static int expand(const uint8_t key[HASH], const char *name, size_t length, uint8_t result[HASH]) {
  uint8_t info[40];
  memcpy(info, name, length);
  info[length] = 1;
  return hash(key, HASH, info, length + 1, result);
}

static int derive(EVP_PKEY *own, EVP_PKEY *other, const uint8_t receiver[WEB_PUSH_KEY],
                  const uint8_t sender[WEB_PUSH_KEY], const uint8_t *secret, const uint8_t *salt, struct keys *keys) {
  static const char cipher[] = "Content-Encoding: aes128gcm";
  static const char nonce[] = "Content-Encoding: nonce";
  static const char name[] = "WebPush: info";
  uint8_t shared[HASH];
  uint8_t step[HASH];
  uint8_t info[sizeof name + 2 * (size_t)WEB_PUSH_KEY + 1];
  memcpy(info, name, sizeof name);
  memcpy(info + sizeof name, receiver, WEB_PUSH_KEY);
  memcpy(info + sizeof name + WEB_PUSH_KEY, sender, WEB_PUSH_KEY);
  info[sizeof info - 1] = 1;
  int is_done = agree(own, other, shared) && hash(secret, WEB_PUSH_SECRET, shared, HASH, step) &&
                hash(step, HASH, info, sizeof info, shared) && hash(salt, WEB_PUSH_SALT, shared, HASH, step) &&
                expand(step, cipher, sizeof cipher, keys->cipher) && expand(step, nonce, sizeof nonce, keys->nonce);
  OPENSSL_cleanse(shared, sizeof shared);
  OPENSSL_cleanse(step, sizeof step);
  return is_done;
}

/* ------------------------------------------------------------------------------------------------ sealing */

static int encrypt(const struct keys *keys, const uint8_t *text, size_t length, uint8_t *out) {
  static const uint8_t last = 2;
  int count = 0;
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int is_done = context != NULL &&
                EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, keys->cipher, keys->nonce) == 1 &&
                EVP_EncryptUpdate(context, out, &count, text, (int)length) == 1 &&
                EVP_EncryptUpdate(context, out + length, &count, &last, 1) == 1 &&
                EVP_EncryptFinal_ex(context, out + length + 1, &count) == 1 &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, out + length + 1) == 1;
  EVP_CIPHER_CTX_free(context);
  return is_done;
}

static void write_header(const uint8_t *salt, const uint8_t sender[WEB_PUSH_KEY], uint8_t *body) {
  static const uint8_t sizes[5] = {0, 0, WEB_PUSH_BODY >> 8, WEB_PUSH_BODY & 255, WEB_PUSH_KEY};
  memcpy(body, salt, WEB_PUSH_SALT);
  memcpy(body + WEB_PUSH_SALT, sizes, sizeof sizes);
  memcpy(body + WEB_PUSH_SALT + sizeof sizes, sender, WEB_PUSH_KEY);
}

int web_push_seal(const uint8_t receiver[WEB_PUSH_KEY], const uint8_t secret[WEB_PUSH_SECRET], const uint8_t *salt,
                  const uint8_t *own, const uint8_t *text, size_t length, uint8_t *body) {
  if (length > (size_t)(WEB_PUSH_BODY - WEB_PUSH_OVERHEAD)) return 1;
  uint8_t random[WEB_PUSH_SALT];
  if (salt == NULL && RAND_bytes(random, sizeof random) != 1) return -1;
  EVP_PKEY *other = from_parts(receiver, NULL);
  if (other == NULL) return 1;
  EVP_PKEY *key = own == NULL ? EVP_EC_gen("P-256") : from_private(own);
  uint8_t sender[WEB_PUSH_KEY];
  struct keys keys;
  int result = -1;
  if (key != NULL && get_point(key, sender) &&
      derive(key, other, receiver, sender, secret, salt == NULL ? random : salt, &keys) &&
      encrypt(&keys, text, length, body + HEADER)) {
    write_header(salt == NULL ? random : salt, sender, body);
    result = 0;
  }
  OPENSSL_cleanse(&keys, sizeof keys);
  EVP_PKEY_free(key);
  EVP_PKEY_free(other);
  return result;
}

/* ------------------------------------------------------------------------------------------------ opening */

static int decrypt(const struct keys *keys, const uint8_t *bytes, size_t length, uint8_t *text) {
  uint8_t tag[TAG];
  memcpy(tag, bytes + length, TAG);
  int count = 0;
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int is_done = context != NULL &&
                EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), NULL, keys->cipher, keys->nonce) == 1 &&
                EVP_DecryptUpdate(context, text, &count, bytes, (int)length) == 1 &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG, tag) == 1 &&
                EVP_DecryptFinal_ex(context, text + length, &count) == 1;
  EVP_CIPHER_CTX_free(context);
  return is_done;
}

/* Returns the text's length without its padding; -1 if there is no delimiter of a last record. */
static long strip(const uint8_t *text, size_t length) {
  while (length > 0 && text[length - 1] == 0) length--;
  return length > 0 && text[length - 1] == 2 ? (long)length - 1 : -1;
}

long web_push_open(const uint8_t own[WEB_PUSH_PRIVATE], const uint8_t secret[WEB_PUSH_SECRET], const uint8_t *body,
                   size_t length, uint8_t *text) {
  if (length < HEADER + 1 + TAG || length > WEB_PUSH_BODY || body[20] != WEB_PUSH_KEY) return -1;
  size_t record = (size_t)body[16] << 24 | (size_t)body[17] << 16 | (size_t)body[18] << 8 | body[19];
  if (record < length - HEADER) return -1;
  const uint8_t *sender = body + 21;
  EVP_PKEY *key = from_private(own);
  EVP_PKEY *other = from_parts(sender, NULL);
  uint8_t receiver[WEB_PUSH_KEY];
  struct keys keys;
  long result = -1;
  if (key != NULL && other != NULL && get_point(key, receiver) &&
      derive(key, other, receiver, sender, secret, body, &keys) &&
      decrypt(&keys, body + HEADER, length - HEADER - TAG, text))
    result = strip(text, length - HEADER - TAG);
  OPENSSL_cleanse(&keys, sizeof keys);
  EVP_PKEY_free(key);
  EVP_PKEY_free(other);
  return result;
}
