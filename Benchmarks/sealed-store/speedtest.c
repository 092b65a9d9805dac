// SQLite's own speed test on one store: `speedtest plain|xchacha|aegis|sqlcipher FILE OPTION…`, with speedtest1's
// options. speedtest1.c is SQLite's (Debian's source package), compiled with its `main` renamed.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WITH_SQLCIPHER
#include "sealed_vfs.h"
#endif

int speedtest1_main(int count, char **words);

// Like the store's connections, and as SQLCipher is built: temporary tables stay in memory. SQLCipher gets a raw key,
// so that no passphrase is stretched.
static int on_new_connection(sqlite3 *database, char **message, const struct sqlite3_api_routines *routines) {
  (void)message;
  (void)routines;
#ifdef WITH_SQLCIPHER
  const char *sql = "PRAGMA key = \"x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'\"; "
                    "PRAGMA cipher_page_size = 4096";
#else
  const char *sql = "PRAGMA temp_store=MEMORY";
#endif
  return sqlite3_exec(database, sql, NULL, NULL, NULL);
}

int main(int count, char **words) {
  if (count < 3 || count > 30) { return 2; }
  char *arguments[40] = {words[0]};
  int used = 1;
  for (int i = 3; i < count; i++) { arguments[used++] = words[i]; }
#ifndef WITH_SQLCIPHER
  const char *kind = words[1];
  char option[] = "--vfs", sealed[] = "sealed";
  if (strcmp(kind, "plain") != 0) {
    sealed_vfs_cipher cipher = strcmp(kind, "aegis") == 0 ? SEALED_VFS_AEGIS_256 : SEALED_VFS_XCHACHA20_POLY1305;
    const uint8_t bytes[SEALED_VFS_KEY_BYTES] = "the key of this benchmark, 32 b";
    if (sealed_vfs_register(NULL, NULL) != SQLITE_OK || sealed_vfs_prefer_cipher(cipher) != SQLITE_OK) { return 1; }
    sealed_vfs_set_key(words[2], bytes, SEALED_VFS_KEEP_KEY);
    arguments[used++] = option, arguments[used++] = sealed;
  }
#endif
  if (sqlite3_auto_extension((void (*)(void))on_new_connection) != SQLITE_OK) { return 1; }
  arguments[used++] = words[2];
  return speedtest1_main(used, arguments);
}
