#include "certificate.h"

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

/* Copies the contents of `memory` into memory from malloc(). Returns 0 or -1. */
static int take(BIO *memory, char **text, size_t *length) {
  char *contents = NULL;
  long count = BIO_get_mem_data(memory, &contents);
  if (count <= 0) return -1;
  *text = malloc((size_t)count);
  if (*text == NULL) return -1;
  memcpy(*text, contents, (size_t)count);
  *length = (size_t)count;
  return 0;
}

static int add_extension(X509 *certificate, int kind, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  if (extension == NULL) return -1;
  int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added == 1 ? 0 : -1;
}

/* Only letters, digits, '.', '-' and ':' (for IPv6 addresses): nothing with a meaning in an extension's text. */
static int is_name(const char *name) {
  size_t length = strlen(name);
  if (length == 0 || length > 200) return 0;
  return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:") == length;
}

static int is_address(const char *name) {
  return strchr(name, ':') != NULL || strspn(name, "0123456789.") == strlen(name);
}

static int describe(X509 *certificate, const char *name, int days, EVP_PKEY *key) {
  BIGNUM *serial = BN_new();
  int is_set = serial != NULL && BN_rand(serial, 126, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
               BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate)) != NULL;
  BN_free(serial);
  if (!is_set || X509_set_version(certificate, X509_VERSION_3) != 1) return -1;
  if (X509_gmtime_adj(X509_getm_notBefore(certificate), -86400) == NULL) return -1;
  if (X509_time_adj_ex(X509_getm_notAfter(certificate), days, 0, NULL) == NULL) return -1;
  if (X509_set_pubkey(certificate, key) != 1) return -1;

  X509_NAME *subject = X509_get_subject_name(certificate);
  const char *common = strlen(name) <= 64 ? name : "relay";
  if (X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)common, -1, -1, 0) != 1) return -1;
  if (X509_set_issuer_name(certificate, subject) != 1) return -1;

  char alternative[256] = "DNS:";
  if (is_address(name)) strcpy(alternative, "IP:");
  strncat(alternative, name, 200);
  if (add_extension(certificate, NID_subject_alt_name, alternative) != 0) return -1;
  if (add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") != 0) return -1;
  if (add_extension(certificate, NID_key_usage, "critical,digitalSignature") != 0) return -1;
  return add_extension(certificate, NID_ext_key_usage, "serverAuth");
}

static int sign(const char *name, int days, EVP_PKEY *key, char **text, size_t *length) {
  if (!is_name(name) || days <= 0) return -1;
  int result = -1;
  X509 *certificate = X509_new();
  BIO *memory = BIO_new(BIO_s_mem());
  if (certificate != NULL && memory != NULL && describe(certificate, name, days, key) == 0 &&
      X509_sign(certificate, key, EVP_sha256()) > 0 && PEM_write_bio_X509(memory, certificate) == 1)
    result = take(memory, text, length);
  BIO_free(memory);
  X509_free(certificate);
  return result;
}

int certificate_make(const char *name, int days, char **key, size_t *key_length, char **certificate,
                     size_t *certificate_length) {
  EVP_PKEY *made = EVP_EC_gen("P-256");
  BIO *memory = BIO_new(BIO_s_mem());
  int result = -1;
  if (made != NULL && memory != NULL &&
      PEM_write_bio_PKCS8PrivateKey(memory, made, NULL, NULL, 0, NULL, NULL) == 1 &&
      take(memory, key, key_length) == 0) {
    result = sign(name, days, made, certificate, certificate_length);
    if (result != 0) free(*key);
  }
  BIO_free(memory);
  EVP_PKEY_free(made);
  return result;
}

int certificate_renew(const char *name, int days, const char *key, size_t key_length, char **certificate,
                      size_t *certificate_length) {
  if (key_length > INT_MAX) return -1;
  BIO *memory = BIO_new_mem_buf(key, (int)key_length);
  EVP_PKEY *read = memory == NULL ? NULL : PEM_read_bio_PrivateKey(memory, NULL, NULL, NULL);
  int result = read == NULL ? -1 : sign(name, days, read, certificate, certificate_length);
  BIO_free(memory);
  EVP_PKEY_free(read);
  return result;
}

int certificate_key_digest(const uint8_t *certificate, size_t count, uint8_t digest[32]) {
  if (count > LONG_MAX) return -1;
  X509 *read = d2i_X509(NULL, &certificate, (long)count);
  EVP_PKEY *key = read == NULL ? NULL : X509_get0_pubkey(read);
  uint8_t *bytes = NULL;
  int length = key == NULL ? -1 : i2d_PUBKEY(key, &bytes);
  if (length > 0) SHA256(bytes, (size_t)length, digest);
  OPENSSL_free(bytes);
  X509_free(read);
  return length > 0 ? 0 : -1;
}
