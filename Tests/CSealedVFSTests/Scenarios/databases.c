// Databases of the scenarios: opened, filled, and compared as text.
#include "support.h"

#include <stdarg.h>

static sqlite3 *opened[64];

void use_key(const char *path) { CHECK_EQUAL(sealed_vfs_set_key(path, test_key, SEALED_VFS_KEEP_KEY), SQLITE_OK); }

sqlite3 *database_open(const char *path, const char *vfs) {
  sqlite3 *database = NULL;
  int code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, vfs);
  if (code != SQLITE_OK) { sqlite3_close(database); }
  CHECK(code == SQLITE_OK, "open %s: %d, %s", path, code, sealed_vfs_kind_name(last_report().kind));
  for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
    if (opened[i] == NULL) {
      opened[i] = database;
      break;
    }
  }
  return database;
}

void database_close(sqlite3 *database) {
  for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
    if (opened[i] == database) { opened[i] = NULL; }
  }
  CHECK_EQUAL(sqlite3_close(database), SQLITE_OK);
}

void close_databases(void) {
  for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
    if (opened[i] != NULL) { sqlite3_close_v2(opened[i]); }
    opened[i] = NULL;
  }
}

int try_sql(sqlite3 *database, const char *sql) {
  sqlite3_exec(database, sql, NULL, NULL, NULL);
  return sqlite3_extended_errcode(database);
}

void run_sql(sqlite3 *database, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *sql = sqlite3_vmprintf(format, arguments);
  va_end(arguments);
  int code = sqlite3_exec(database, sql, NULL, NULL, NULL);
  CHECK(code == SQLITE_OK, "%.200s: %d %s (%s)", sql, sqlite3_extended_errcode(database), sqlite3_errmsg(database),
        describe(last_report()));
  sqlite3_free(sql);
}

long long ask(sqlite3 *database, const char *sql) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) { code = sqlite3_step(statement); }
  long long result = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  CHECK(code == SQLITE_ROW, "%s: %d %s", sql, code, sqlite3_errmsg(database));
  return result;
}

struct text {
  char *bytes;
  size_t length, room;
};

static void append(struct text *text, const void *bytes, size_t length) {
  if (text->length + length + 1 > text->room) {
    text->room = (text->length + length + 1) * 2;
    text->bytes = realloc(text->bytes, text->room);
  }
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = 0;
}

// Without zero bytes, so that dumps are strings.
static void append_value(struct text *text, const uint8_t *bytes, size_t length) {
  while (length > 0) {
    const uint8_t *zero = memchr(bytes, 0, length);
    size_t run = zero == NULL ? length : (size_t)(zero - bytes);
    if (run > 0) { append(text, bytes, run); }
    bytes += run;
    length -= run;
    size_t zeros = 0;
    while (zeros < length && bytes[zeros] == 0) { zeros++; }
    char mark[32];
    if (zeros > 0) { append(text, mark, (size_t)snprintf(mark, sizeof mark, "<%zu zeros>", zeros)); }
    bytes += zeros;
    length -= zeros;
  }
}

static int append_rows(sqlite3 *database, const char *sql, struct text *text) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
  while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
      int type = sqlite3_column_type(statement, i);
      const void *bytes = sqlite3_column_blob(statement, i);
      int length = sqlite3_column_bytes(statement, i);
      char head[32];
      append(text, head, (size_t)snprintf(head, sizeof head, "%d:%d:", type, length));
      append_value(text, bytes, (size_t)length);
    }
    append(text, "\n", 1);
    code = SQLITE_OK;
  }
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

char *database_dump(sqlite3 *database, int *code) {
  struct text text = {0};
  append(&text, "", 0);
  *code = append_rows(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid", &text);
  sqlite3_stmt *tables = NULL;
  if (*code == SQLITE_OK) {
    *code = sqlite3_prepare_v2(database, "SELECT name FROM sqlite_schema WHERE type='table' ORDER BY name", -1, &tables, NULL);
  }
  while (*code == SQLITE_OK && (*code = sqlite3_step(tables)) == SQLITE_ROW) {
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", sqlite3_column_text(tables, 0));
    *code = append_rows(database, sql, &text);
    sqlite3_free(sql);
  }
  if (*code != SQLITE_OK && *code != SQLITE_DONE && *code == (sqlite3_errcode(database) & 0xff)) {
    *code = sqlite3_extended_errcode(database);
  }
  sqlite3_finalize(tables);
  if (*code == SQLITE_DONE) { *code = SQLITE_OK; }
  if (*code == SQLITE_OK) { return text.bytes; }
  free(text.bytes);
  return NULL;
}

uint64_t query_hash(sqlite3 *database, const char *sql, int *code) {
  struct text text = {0};
  *code = append_rows(database, sql, &text);
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < text.length; i++) { hash = (hash ^ (uint8_t)text.bytes[i]) * 0x100000001b3u; }
  free(text.bytes);
  return hash;
}

int read_every_page(const char *path) {
  sqlite3 *from = NULL, *to = NULL;
  sealed_vfs_clear_report();
  int code = sqlite3_open_v2(path, &from, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
  if (code == SQLITE_OK) {
    sqlite3_open_v2(":memory:", &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix");
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    code = sqlite3_backup_step(backup, -1);
    sqlite3_backup_finish(backup);
    sqlite3_close(to);
  }
  sqlite3_close(from);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

void expect_sound(sqlite3 *database) {
  sqlite3_stmt *statement = NULL;
  int prepared = sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, NULL);
  CHECK(prepared == SQLITE_OK, "integrity_check: %d, %s", sqlite3_extended_errcode(database), describe(last_report()));
  int code = sqlite3_step(statement);
  char answer[200];
  snprintf(answer, sizeof answer, "%d: %s", code, code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : sqlite3_errmsg(database));
  sqlite3_finalize(statement);
  CHECK(strcmp(answer, "100: ok") == 0, "integrity_check: %s; %s", answer, describe(last_report()));
}

sealed_vfs_report last_report(void) {
  sealed_vfs_report result;
  sealed_vfs_last_report(&result);
  return result;
}

const char *describe(sealed_vfs_report report) {
  static char text[200];
  snprintf(text, sizeof text, "last finding: %s, file %d, page %llu, frame %llu, offset %lld", sealed_vfs_kind_name(report.kind),
           (int)report.file, (unsigned long long)report.page, (unsigned long long)report.frame, (long long)report.offset);
  return text;
}
