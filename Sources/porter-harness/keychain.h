/* The device's keychain: a raw key for each store, in its own file that only the owner may read. */
#ifndef PORTER_KEYCHAIN_H
#define PORTER_KEYCHAIN_H

#include <stdbool.h>

/* Bytes of a raw key as chat_migrate_init_key takes it, x'…', with its NUL. */
#define KEYCHAIN_TEXT_BYTES (3 + 64 + 1)

/* Makes a random key in the file, unless there is one. On failure errno says why. */
bool keychain_make(const char *path);

/* Reads the key. Leaves nothing in `text` on failure. */
bool keychain_read(const char *path, char text[KEYCHAIN_TEXT_BYTES]);

#endif
