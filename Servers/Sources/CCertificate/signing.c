#include <limits.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

#include "certificate.h"

static int is_p256(EVP_PKEY *key) {
  char group[32] = "";
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
         strcmp(group, "prime256v1") == 0;
}

/* Splits a DER signature into its two numbers. Returns 0 or -1. */
static int unpack(const unsigned char *encoded, size_t length, uint8_t signature[64]) {
  ECDSA_SIG *numbers = d2i_ECDSA_SIG(NULL, &encoded, (long)length);
  if (numbers == NULL) return -1;
  int is_done = BN_bn2binpad(ECDSA_SIG_get0_r(numbers), signature, 32) == 32 &&
                BN_bn2binpad(ECDSA_SIG_get0_s(numbers), signature + 32, 32) == 32;
  ECDSA_SIG_free(numbers);
  return is_done ? 0 : -1;
}

/* Returns 0 for a P-256 key; 1 if `key` is not a private key in PEM, 2 if of another kind, -1 if out of memory. */
static int read_key(const char *key, size_t key_length, EVP_PKEY **read) {
  *read = NULL;
  if (key_length > INT_MAX) return 1;
  BIO *memory = BIO_new_mem_buf(key, (int)key_length);
  if (memory == NULL) return -1;
  /* With a dummy password: without one, it would prompt at the terminal. */
  char none[] = "";
  *read = PEM_read_bio_PrivateKey(memory, NULL, NULL, none);
  BIO_free(memory);
  if (*read == NULL) return 1;
  return is_p256(*read) ? 0 : 2;
}

int certificate_sign_es256(const char *key, size_t key_length, const uint8_t *bytes, size_t count,
                           uint8_t signature[64]) {
  EVP_PKEY *read;
  int result = read_key(key, key_length, &read);
  EVP_MD_CTX *context = result == 0 ? EVP_MD_CTX_new() : NULL;
  unsigned char encoded[80];
  size_t length = sizeof encoded;
  if (result == 0) result = -1;
  if (context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, read) == 1 &&
      EVP_DigestSign(context, encoded, &length, bytes, count) == 1)
    result = unpack(encoded, length, signature);
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(read);
  return result;
}

int certificate_public_point(const char *key, size_t key_length, uint8_t point[65]) {
  EVP_PKEY *read;
  size_t length = 0;
  int result = read_key(key, key_length, &read);
  if (result == 0 &&
      (EVP_PKEY_get_octet_string_param(read, "encoded-pub-key", point, 65, &length) != 1 || length != 65))
    result = -1;
  EVP_PKEY_free(read);
  return result;
}
