/*
 * One durable commit, measured from inside: the lower bound for a push into an open store.
 *
 *   commit STORE          commits one row to the open store for each line on standard input, and prints the nanoseconds
 *   commit --open STORE   the same, but opens the store before and closes it after, within the measured time
 *   commit --bytes N STORE   the same as the first, with a row of N bytes
 *
 * STORE must have been made by `cold --make`.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static int fail(const char *what) {
  fprintf(stderr, "commit: %s\n", what);
  return 1;
}

static sqlite3 *open_store(const char *path) {
  sqlite3 *store = NULL;
  if (sqlite3_open_v2(path, &store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) return NULL;
  if (sqlite3_exec(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON", NULL, NULL, NULL))
    return NULL;
  return store;
}

static int row_bytes = 200;

static int commit_row(sqlite3 *store, sqlite3_stmt *insert) {
  if (sqlite3_exec(store, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) return 0;
  if (sqlite3_bind_zeroblob(insert, 1, row_bytes) != SQLITE_OK) return 0;
  if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK) return 0;
  return sqlite3_exec(store, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

static sqlite3_stmt *prepare(sqlite3 *store) {
  sqlite3_stmt *insert = NULL;
  sqlite3_prepare_v2(store, "INSERT INTO reference (at, body) VALUES (1, ?)", -1, &insert, NULL);
  return insert;
}

int main(int count, char **words) {
  int reopens = count == 3 && strcmp(words[1], "--open") == 0;
  int sized = count == 4 && strcmp(words[1], "--bytes") == 0;
  if (count != 2 && !reopens && !sized) return fail("usage: commit [--open | --bytes N] STORE");
  if (sized) row_bytes = atoi(words[2]);
  const char *path = words[count - 1];
  sqlite3 *store = reopens ? NULL : open_store(path);
  sqlite3_stmt *insert = store ? prepare(store) : NULL;
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    long long began = now();
    if (reopens && (store = open_store(path))) insert = prepare(store);
    if (!insert || !commit_row(store, insert)) return fail("the row is not committed");
    if (reopens && (sqlite3_finalize(insert) != SQLITE_OK || sqlite3_close(store) != SQLITE_OK))
      return fail("the store does not close");
    printf("%lld\n", now() - began);
    fflush(stdout);
  }
  return 0;
}
