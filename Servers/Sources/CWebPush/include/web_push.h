/* Message encryption for Web Push (RFC 8291), in one record of aes128gcm (RFC 8188). */
#ifndef PORTER_WEB_PUSH_H
#define PORTER_WEB_PUSH_H

#include <stddef.h>
#include <stdint.h>

enum {
  WEB_PUSH_KEY = 65,       /* an uncompressed point of P-256 */
  WEB_PUSH_SECRET = 16,
  WEB_PUSH_SALT = 16,
  WEB_PUSH_PRIVATE = 32,
  WEB_PUSH_OVERHEAD = 103, /* of a body over its text */
  WEB_PUSH_BODY = 4096     /* that push services take; also the size of a record */
};

/*
 * Seals `length` bytes for the receiver into `body`, which has room for `length` + WEB_PUSH_OVERHEAD of them and at
 * most WEB_PUSH_BODY. `salt` and `own`, the sender's private key, are for test vectors; NULL: random ones. Returns 0;
 * 1 if `receiver` is no point of the curve or the text is too long, -1 without memory or randomness.
 */
int web_push_seal(const uint8_t receiver[WEB_PUSH_KEY], const uint8_t secret[WEB_PUSH_SECRET], const uint8_t *salt,
                  const uint8_t *own, const uint8_t *text, size_t length, uint8_t *body);

/*
 * The receiver's end, for tests: opens a body into `text`, which has room for `length` bytes. Returns the text's
 * length; -1 if the body is not one record that was sealed for this key and secret.
 */
long web_push_open(const uint8_t own[WEB_PUSH_PRIVATE], const uint8_t secret[WEB_PUSH_SECRET], const uint8_t *body,
                   size_t length, uint8_t *text);

#endif
