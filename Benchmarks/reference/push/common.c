#include "common.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

_Noreturn void refuse(const char *why) {
  fprintf(stderr, "push: left to the extension: %s\n", why);
  exit(3);
}

_Noreturn void fail(const char *what) {
  fprintf(stderr, "push: %s\n", what);
  exit(1);
}

int64_t boot_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t wall_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

uint32_t read_big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

const uint8_t *unpadded(const uint8_t *padded, size_t length, size_t *contents) {
  size_t count = length < 2 ? 0 : (size_t)padded[0] << 8 | padded[1];
  if (length < 2 || count > length - 2) refuse("padding that does not fit");
  for (size_t index = 2 + count; index < length; index++)
    if (padded[index] != '#') refuse("padding of other bytes");
  *contents = count;
  return padded + 2;
}

void encode_base64(char *text, size_t room, const uint8_t *bytes, size_t length) {
  sodium_bin2base64(text, room, bytes, length, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

void decode_base64(uint8_t *bytes, size_t length, const char *text, size_t text_length) {
  size_t count = 0;
  if (sodium_base642bin(bytes, length, text, text_length, NULL, &count, NULL,
                        sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
      count != length)
    refuse("base64url of another length");
}
