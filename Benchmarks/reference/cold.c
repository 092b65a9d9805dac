/*
 * The minimum work of an extension written in C: open the database, open one crypto_box, commit one row durably, print.
 * The real extension's cold start and memory are compared with it.
 *
 *   cold --make STORE   adds a table to the SQLite file STORE, and writes a box to STORE.box
 *   cold STORE          does that work; prints one line on standard output when done
 */
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The size of a message push. */
enum { PLAINTEXT = 2688, CIPHERTEXT = PLAINTEXT + crypto_box_MACBYTES };

struct box {
  unsigned char public_key[crypto_box_PUBLICKEYBYTES];
  unsigned char secret_key[crypto_box_SECRETKEYBYTES];
  unsigned char nonce[crypto_box_NONCEBYTES];
  unsigned char ciphertext[CIPHERTEXT];
};

static int fail(const char *what) {
  fprintf(stderr, "cold: %s\n", what);
  return 1;
}

static sqlite3 *open_store(const char *path) {
  sqlite3 *store = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path, &store, flags, NULL) != SQLITE_OK) return NULL;
  if (sqlite3_exec(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON", NULL, NULL, NULL))
    return NULL;
  return store;
}

static int box_file(const char *store, const char *mode, struct box *box) {
  char path[4096];
  snprintf(path, sizeof path, "%s.box", store);
  FILE *file = fopen(path, mode);
  if (!file) return 0;
  size_t count = *mode == 'r' ? fread(box, sizeof *box, 1, file) : fwrite(box, sizeof *box, 1, file);
  fclose(file);
  return count == 1;
}

static int make(const char *path) {
  struct box box;
  unsigned char plaintext[PLAINTEXT];
  memset(plaintext, '#', sizeof plaintext);
  crypto_box_keypair(box.public_key, box.secret_key);
  randombytes_buf(box.nonce, sizeof box.nonce);
  if (crypto_box_easy(box.ciphertext, plaintext, sizeof plaintext, box.nonce, box.public_key, box.secret_key) != 0)
    return fail("the box cannot be made");
  sqlite3 *store = open_store(path);
  static const char table[] =
      "CREATE TABLE IF NOT EXISTS reference (id INTEGER PRIMARY KEY, at INTEGER, body BLOB) STRICT";
  if (!store || sqlite3_exec(store, table, NULL, NULL, NULL) != SQLITE_OK || sqlite3_close(store) != SQLITE_OK)
    return fail("the store cannot be made");
  return box_file(path, "w", &box) ? 0 : fail("the box cannot be written");
}

int main(int count, char **words) {
  if (sodium_init() < 0) return fail("libsodium does not start");
  if (count == 3 && strcmp(words[1], "--make") == 0) return make(words[2]);
  if (count != 2) return fail("usage: cold [--make] STORE");

  sqlite3 *store = open_store(words[1]);
  if (!store) return fail("the store does not open");
  struct box box;
  unsigned char plaintext[PLAINTEXT];
  if (!box_file(words[1], "r", &box)) return fail("there is no box");
  if (crypto_box_open_easy(plaintext, box.ciphertext, CIPHERTEXT, box.nonce, box.public_key, box.secret_key) != 0)
    return fail("the box does not open");
  sqlite3_stmt *insert = NULL;
  if (sqlite3_exec(store, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(store, "INSERT INTO reference (at, body) VALUES (1, ?)", -1, &insert, NULL) != SQLITE_OK ||
      sqlite3_bind_blob(insert, 1, plaintext, 200, SQLITE_STATIC) != SQLITE_OK || sqlite3_step(insert) != SQLITE_DONE ||
      sqlite3_finalize(insert) != SQLITE_OK || sqlite3_exec(store, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
    return fail("the row is not committed");
  printf("{\"rows\":%lld}\n", (long long)sqlite3_last_insert_rowid(store));
  fflush(stdout);
  sqlite3_close(store);
  return 0;
}
