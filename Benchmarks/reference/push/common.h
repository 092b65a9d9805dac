/* Shared by the parts of the reference push; `../push.c` describes the program. */
#ifndef PUSH_COMMON_H
#define PUSH_COMMON_H

#include <stddef.h>
#include <stdint.h>

enum { IDENTIFIER_BYTES = 24, NAME_BYTES = 36, SIGNING_KEY_BYTES = 64, BODY_BYTES = 16384 };

/* A case that this program leaves to the extension: exits with 3. */
_Noreturn void refuse(const char *why);
/* Something is wrong: exits with 1. */
_Noreturn void fail(const char *what);

int64_t boot_nanoseconds(void);
int64_t wall_milliseconds(void);

uint32_t read_big_endian(const uint8_t *bytes);
/* The contents of a padded plaintext: a length in two bytes, the contents, then `#` to the end. */
const uint8_t *unpadded(const uint8_t *padded, size_t length, size_t *contents);

/* base64url without padding. The text has room for `BASE64_CHARACTERS`, including the terminating zero. */
#define BASE64_CHARACTERS(bytes) (((bytes)*4 + 2) / 3 + 1)
void encode_base64(char *text, size_t room, const uint8_t *bytes, size_t length);
/* Refuses anything but `length` bytes. */
void decode_base64(uint8_t *bytes, size_t length, const char *text, size_t text_length);

#endif
