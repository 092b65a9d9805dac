#include "keychain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

bool keychain_make(const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno == EEXIST;
  unsigned char key[32];
  char text[KEYCHAIN_TEXT_BYTES] = "x'";
  bool made = getentropy(key, sizeof key) == 0;
  for (size_t index = 0; index < sizeof key; index++) snprintf(text + 2 + 2 * index, 3, "%02x", key[index]);
  text[KEYCHAIN_TEXT_BYTES - 2] = '\'';
  made = made && write(file, text, sizeof text - 1) == (ssize_t)sizeof text - 1;
  close(file);
  if (!made) unlink(path);
  memset(key, 0, sizeof key);
  memset(text, 0, sizeof text);
  return made;
}

bool keychain_read(const char *path, char text[KEYCHAIN_TEXT_BYTES]) {
  memset(text, 0, KEYCHAIN_TEXT_BYTES);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool whole = read(file, text, KEYCHAIN_TEXT_BYTES - 1) == KEYCHAIN_TEXT_BYTES - 1;
  close(file);
  if (!whole) memset(text, 0, KEYCHAIN_TEXT_BYTES);
  return whole;
}
