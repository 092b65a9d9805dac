/* Keys and certificates that a server creates for itself. */
#ifndef PORTER_CERTIFICATE_H
#define PORTER_CERTIFICATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Creates a P-256 key and a self-signed certificate for `name`, valid from a day ago until `days` days from now.
 * Both are PEM texts from malloc(). Returns 0, or -1 with nothing to free.
 */
int certificate_make(const char *name, int days, char **key, size_t *key_length, char **certificate,
                     size_t *certificate_length);

/* The same for an existing key, so that the fingerprint does not change. */
int certificate_renew(const char *name, int days, const char *key, size_t key_length, char **certificate,
                      size_t *certificate_length);

/*
 * Signs with a P-256 key in the form of ES256 (RFC 7518), r and s of 32 bytes each. Returns 0; 1 if `key` is not a
 * private key in PEM, 2 if it is one of another kind, -1 if out of memory.
 */
int certificate_sign_es256(const char *key, size_t key_length, const uint8_t *bytes, size_t count,
                           uint8_t signature[64]);

/* The public half of a P-256 key, an uncompressed point. Returns the same values as certificate_sign_es256(). */
int certificate_public_point(const char *key, size_t key_length, uint8_t point[65]);

/* The SHA-256 of the public key of a certificate in DER. Returns 0, or -1 if either cannot be read. */
int certificate_key_digest(const uint8_t *certificate, size_t count, uint8_t digest[32]);

#endif
