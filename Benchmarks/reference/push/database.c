#include "database.h"

#include <fcntl.h>
#include <log_sync.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

enum { BUSY_MILLISECONDS = 3000, LOG_PAGES = 256, LONGEST_LOG = 1 << 20 };

static _Noreturn void fail_in(struct database *database, const char *what) {
  fprintf(stderr, "push: %s: %s: %s\n", database->path, what, sqlite3_errmsg(database->handle));
  exit(1);
}

static int64_t integer(struct database *database, const char *sql) {
  sqlite3_stmt *statement = prepare(database, sql);
  if (!next_row(statement)) fail_in(database, sql);
  int64_t value = sqlite3_column_int64(statement, 0);
  end(statement);
  return value;
}

void open_database(struct database *database, const char *path, int64_t application, int64_t version) {
  *database = (struct database){.path = path, .turn = -1, .longest_log = LONGEST_LOG};
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path, &database->handle, flags, NULL) != SQLITE_OK) fail_in(database, "does not open");
  sqlite3_extended_result_codes(database->handle, 1);
  sqlite3_busy_timeout(database->handle, BUSY_MILLISECONDS);
  sqlite3_wal_autocheckpoint(database->handle, LOG_PAGES);
  sqlite3_db_config(database->handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
  sqlite3_db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  if (integer(database, "PRAGMA application_id") != application) refuse("a database of another program");
  if (integer(database, "PRAGMA user_version") != version) refuse("a schema of another version");
  snprintf(database->log, sizeof database->log, "%s-wal", path);
  set_durable(database, 0);
}

void close_database(struct database *database) {
  sqlite3_stmt *statement;
  while ((statement = sqlite3_next_stmt(database->handle, NULL))) sqlite3_finalize(statement);
  struct stat status;
  if (stat(database->log, &status) == 0 && status.st_size > database->longest_log) {
    sqlite3_busy_timeout(database->handle, 20);
    sqlite3_wal_checkpoint_v2(database->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  }
  if (sqlite3_close(database->handle) != SQLITE_OK) fail_in(database, "does not close");
  if (database->turn >= 0) close(database->turn);
}

/* Syncs only the contents: the folder is synced when the log gets its first contents. */
static bool sync_log(void *context) {
  const struct database *database = context;
  int file = open(database->log, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  int code = fdatasync(file);
  close(file);
  return code == 0;
}

void set_durable(struct database *database, int durable) {
  if (log_sync_choose(database->handle, durable, sync_log, database) != SQLITE_OK) fail_in(database, "has no log");
}

void begin(struct database *database) {
  if (database->turn < 0) {
    database->turn = open_turn(database->path);
    database->begin = prepare(database, "BEGIN IMMEDIATE");
    database->commit = prepare(database, "COMMIT");
  }
  take_turn(database->turn);
  run(database->begin);
  leave_turn(database->turn);
}

void commit(struct database *database) { run(database->commit); }

sqlite3_stmt *prepare(struct database *database, const char *sql) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL) != SQLITE_OK) fail_in(database, sql);
  return statement;
}

static _Noreturn void fail_at(sqlite3_stmt *statement) {
  fprintf(stderr, "push: %s: %s\n", sqlite3_sql(statement), sqlite3_errmsg(sqlite3_db_handle(statement)));
  exit(1);
}

void bind(sqlite3_stmt *statement, const char *kinds, ...) {
  va_list values;
  va_start(values, kinds);
  for (int index = 1; *kinds; index++, kinds++) {
    int code;
    if (*kinds == 'i') {
      code = sqlite3_bind_int64(statement, index, va_arg(values, int64_t));
    } else if (*kinds == 't') {
      code = sqlite3_bind_text(statement, index, va_arg(values, const char *), -1, SQLITE_STATIC);
    } else {
      const void *bytes = va_arg(values, const void *);
      code = sqlite3_bind_blob(statement, index, bytes, va_arg(values, int), SQLITE_STATIC);
    }
    if (code != SQLITE_OK) fail_at(statement);
  }
  va_end(values);
}

int next_row(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail_at(statement);
  return code == SQLITE_ROW;
}

int run(sqlite3_stmt *statement) {
  if (next_row(statement)) fail_at(statement);
  end(statement);
  return sqlite3_changes(sqlite3_db_handle(statement));
}

void take_bytes(sqlite3_stmt *statement, int column, uint8_t *bytes, size_t length) {
  const void *value = sqlite3_column_blob(statement, column);
  if (!value || (size_t)sqlite3_column_bytes(statement, column) != length) refuse("a value of another length");
  memcpy(bytes, value, length);
}

void end(sqlite3_stmt *statement) { sqlite3_reset(statement); }
