/* One SQLite file: a thin layer over the library that ends the program on any failure. */
#ifndef PUSH_DATABASE_H
#define PUSH_DATABASE_H

#include <sqlite3.h>

#include "common.h"

struct database {
  sqlite3 *handle;
  /* Bytes of log that closing leaves behind. */
  int64_t longest_log;
  const char *path;
  /* The log's path. */
  char log[4200];
  /* The lock file of the writers' turns. */
  int turn;
  sqlite3_stmt *begin;
  sqlite3_stmt *commit;
};

/* Refuses a file of another kind or with another schema version. */
void open_database(struct database *database, const char *path, int64_t application, int64_t version);
/* Leaves the log to the next process, unless it has grown long. */
void close_database(struct database *database);

/* Whether commits from now on wait for the disk, set as the extension does: without a statement (Sources/CLogSync). */
void set_durable(struct database *database, int durable);

void begin(struct database *database);
void commit(struct database *database);

sqlite3_stmt *prepare(struct database *database, const char *sql);
/* Each letter of `kinds` takes one parameter: `i` an int64_t, `t` a text, `b` bytes and their number as an int. */
void bind(sqlite3_stmt *statement, const char *kinds, ...);
/* Whether there is a row. */
int next_row(sqlite3_stmt *statement);
/* Runs a statement without rows; returns the number of rows changed. */
int run(sqlite3_stmt *statement);
/* A value of exactly this length. */
void take_bytes(sqlite3_stmt *statement, int column, uint8_t *bytes, size_t length);
/* Ends a statement whose rows are no longer needed. */
void end(sqlite3_stmt *statement);

#endif
