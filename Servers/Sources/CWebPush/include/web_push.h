/* Message encryption for Web Push (RFC 8291), in one record of aes128gcm (RFC 8188). */
#ifndef PORTER_WEB_PUSH_H
#define PORTER_WEB_PUSH_H

#include <stddef.h>
#include <stdint.h>

enum {
  WEB_PUSH_KEY = 65,       /* an uncompressed P-256 point */
  WEB_PUSH_SECRET = 16,
  WEB_PUSH_SALT = 16,
  WEB_PUSH_PRIVATE = 32,
  WEB_PUSH_OVERHEAD = 103, /* how much longer a body is than its text */
  WEB_PUSH_BODY = 4096     /* the most push services accept; also the record size */
};

/*
 * Seals `length` bytes for the receiver into `body`, which must have room for `length` + WEB_PUSH_OVERHEAD bytes, at
 * most WEB_PUSH_BODY. `salt` and `own`, the sender's private key, are for test vectors; NULL picks random ones. Returns
 * 0; 1 if `receiver` is not a point on the curve or the text is too long, -1 if out of memory or randomness.
 */
int web_push_seal(const uint8_t receiver[WEB_PUSH_KEY], const uint8_t secret[WEB_PUSH_SECRET], const uint8_t *salt,
                  const uint8_t *own, const uint8_t *text, size_t length, uint8_t *body);

/*
 * The receiver's end, for tests: opens a body into `text`, which must have room for `length` bytes. Returns the text's
 * length; -1 if the body is not a single record sealed for this key and secret.
 */
long web_push_open(const uint8_t own[WEB_PUSH_PRIVATE], const uint8_t secret[WEB_PUSH_SECRET], const uint8_t *body,
                   size_t length, uint8_t *text);

#endif
