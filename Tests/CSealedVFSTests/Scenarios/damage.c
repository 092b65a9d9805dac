// Files are edited: every change is detected and reported, and never returned as data.
#include "support.h"

enum { PAGE = 4096, FRAME = PAGE + 24, TRAILER = 64, CLEAR = 40 };

static long observed;
static void count_findings(void *context, const sealed_vfs_report *finding) {
  (void)context;
  observed += finding->kind != SEALED_VFS_NOTHING;
}

// Tables, an index, overflow pages and free pages, all in the main file.
static void make(const char *path, int seed) {
  database_remove(path);
  use_key(path);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA page_size=%d; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c BLOB); CREATE INDEX i ON t(b); CREATE TABLE x(y);", PAGE);
  run_sql(database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 60) INSERT INTO t(b, c) SELECT 'row ' || i * %d, zeroblob(i * 80) FROM n", seed);
  run_sql(database, "INSERT INTO x SELECT zeroblob(20000) FROM t LIMIT 4; DROP TABLE x");
  database_close(database);
}

static char *dump_of(const char *path, int *code) {
  sqlite3 *database = NULL;
  char *dump = NULL;
  sealed_vfs_clear_report();
  *code = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME);
  if (*code == SQLITE_OK) { dump = database_dump(database, code); }
  sqlite3_close(database);
  return dump;
}

// The main file holds these bytes, and reading all pages must fail at `page`.
static void expect_found(const char *path, const uint8_t *bytes, size_t length, uint64_t page, const char *what) {
  file_store(path, bytes, length);
  int code = read_every_page(path);
  sealed_vfs_report finding = last_report();
  bool known_code = code == SQLITE_IOERR_DATA || (page == 1 && code == SQLITE_NOTADB);
  CHECK(known_code && finding.page == page && finding.file == SEALED_VFS_FILE_MAIN && finding.kind != SEALED_VFS_NOTHING,
        "%s, page %llu: answers %d; %s", what, (unsigned long long)page, code, describe(finding));
}

static void flips_in_pages(struct dice *dice) {
  const char *path = path_of("main.db");
  make(path, 7);
  size_t length;
  uint8_t *bytes = file_load(path, &length);
  int code;
  char *expected = dump_of(path, &code);
  long flips = 0;
  sealed_vfs_observe(count_findings, NULL);
  for (uint64_t page = 1; page <= length / PAGE; page++) {
    size_t start = (page - 1) * PAGE;
    bool thorough = page <= 2;
    for (int i = 0; i < (thorough ? CLEAR + TRAILER + 40 : 25); i++) {
      // The plain header and the possible salt, the trailer, and anywhere.
      size_t at = below(dice, PAGE);
      if (thorough && i < TRAILER + CLEAR) { at = i < TRAILER ? (size_t)(PAGE - TRAILER + i) : (size_t)(i - TRAILER); }
      uint8_t bit = (uint8_t)(1 << below(dice, 8));
      bytes[start + at] ^= bit;
      expect_found(path, bytes, length, page, "a flipped bit");
      if (chance(dice, 5)) {
        char *dump = dump_of(path, &code);
        CHECK(dump == NULL || strcmp(dump, expected) == 0, "page %llu: other data is returned", (unsigned long long)page);
        CHECK((dump == NULL) == (code != SQLITE_OK), "code %d", code);
        free(dump);
      }
      bytes[start + at] ^= bit;
      flips++;
    }
  }
  CHECK(observed >= flips, "the observer was told %ld times of %ld", observed, flips);
  free(expected);
  free(bytes);
  note("%ld flips", flips);
}

static void moved_pages(struct dice *dice) {
  const char *path = path_of("main.db"), *other_path = path_of("other.db");
  make(path, 7);
  make(other_path, 11);
  size_t length, other_length;
  uint8_t *bytes = file_load(path, &length), *other = file_load(other_path, &other_length);
  uint8_t *copy = malloc(length);
  size_t pages = length / PAGE;
  CHECK(length == other_length && pages > 20, "the databases differ in size");
  for (int i = 0; i < 100; i++) {
    memcpy(copy, bytes, length);
    size_t first = 1 + below(dice, pages - 2), second = first + 1 + below(dice, pages - first - 1);
    memcpy(copy + first * PAGE, bytes + second * PAGE, PAGE);
    memcpy(copy + second * PAGE, bytes + first * PAGE, PAGE);
    expect_found(path, copy, length, first + 1, "swapped");
    memcpy(copy, bytes, length);
    memcpy(copy + first * PAGE, other + first * PAGE, PAGE);
    expect_found(path, copy, length, first + 1, "a page of another file");
    CHECK_EQUAL(last_report().kind, SEALED_VFS_FOREIGN);
    memcpy(copy, bytes, length);
    memset(copy + first * PAGE, 0, PAGE);
    expect_found(path, copy, length, first + 1, "a page of zeros");
  }
  // Page 1 of another file: then all other pages are foreign.
  memcpy(copy, bytes, length);
  memcpy(copy, other, PAGE);
  expect_found(path, copy, length, 2, "page 1 of another file");
  // While the file is open, its identity is settled: nothing else is accepted as page 1.
  file_store(path, bytes, length);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "SELECT count(*) FROM t"), 60);
  FILE *file = fopen(path, "r+b");
  CHECK(file != NULL && fwrite(other, 1, PAGE, file) == PAGE, "cannot write");
  fclose(file);
  CHECK_EQUAL(try_sql(database, "SELECT count(*) FROM t"), SQLITE_IOERR_DATA);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_FOREIGN);
  // Emptied while it is open.
  CHECK_EQUAL(truncate(path, 0), 0);
  CHECK_EQUAL(try_sql(database, "SELECT count(*) FROM t"), SQLITE_IOERR_DATA);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_TRUNCATED);
  database_close(database);
  free(bytes);
  free(other);
  free(copy);
}

// Leaves a WAL with two transactions in `path` and `path`-wal, like a killed process. `dumps` holds what a reader sees
// before the first, after the first, and after both.
static void make_log(const char *path, char *dumps[3]) {
  const char *live = path_of("live.db");
  int code;
  make(live, 7);
  sqlite3 *database = database_open(live, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; DELETE FROM t WHERE a = 5; PRAGMA wal_checkpoint(TRUNCATE)");
  for (int i = 0; i < 3; i++) {
    if (i == 1) { run_sql(database, "UPDATE t SET c = zeroblob(5000), b = 'first' WHERE a %% 3 = 0"); }
    if (i == 2) { run_sql(database, "INSERT INTO t(b, c) SELECT 'second', zeroblob(6000) FROM t LIMIT 10"); }
    dumps[i] = database_dump(database, &code);
    CHECK_EQUAL(code, SQLITE_OK);
  }
  database_remove(path);
  use_key(path);
  file_copy(live, path);
  file_copy(with_suffix(live, "-wal"), with_suffix(path, "-wal"));
  // Closing runs a checkpoint; the copies stay.
  database_close(database);
}

static int which(char *dumps[3], const char *dump) {
  for (int i = 0; i < 3; i++) {
    if (strcmp(dumps[i], dump) == 0) { return i; }
  }
  return -1;
}

static void restore(const char *path, const uint8_t *main, size_t main_length, const uint8_t *log, size_t log_length) {
  file_store(path, main, main_length);
  file_store(with_suffix(path, "-wal"), log, log_length);
  unlink(with_suffix(path, "-shm"));
}

static void log_files(struct dice *dice) {
  const char *path = path_of("log.db");
  char *dumps[3];
  int code;
  make_log(path, dumps);
  size_t main_length, length;
  uint8_t *main = file_load(path, &main_length), *log = file_load(with_suffix(path, "-wal"), &length);
  const size_t start = log_start(path);
  size_t frames = (length - start) / FRAME;
  CHECK(frames > 20 && (length - start) % FRAME == 0, "%zu frames", frames);
  char *dump = dump_of(path, &code);
  CHECK(dump != NULL && which(dumps, dump) == 2, "the log is not recovered: %d, %s, %d", code, describe(last_report()), dump == NULL ? -2 : which(dumps, dump));
  free(dump);
  uint8_t *copy = malloc(length);

  // The header: without it the whole log would be lost, so damage there is an error.
  for (size_t at = 0; at < start; at++) {
    memcpy(copy, log, length);
    copy[at] ^= (uint8_t)(1 << below(dice, 8));
    restore(path, main, main_length, copy, length);
    dump = dump_of(path, &code);
    CHECK(dump == NULL && last_report().file == SEALED_VFS_FILE_WAL, "header byte %zu: %d, %s", at, code, describe(last_report()));
  }
  // A frame: recovery ends before its transaction, and reports that.
  for (int i = 0; i < 300; i++) {
    memcpy(copy, log, length);
    size_t frame = below(dice, frames);
    size_t at = i < FRAME / 40 ? (size_t)(i < 24 ? i : FRAME - 1 - i % TRAILER) : below(dice, FRAME);
    copy[start + frame * FRAME + at] ^= (uint8_t)(1 << below(dice, 8));
    restore(path, main, main_length, copy, length);
    dump = dump_of(path, &code);
    CHECK(dump != NULL && which(dumps, dump) >= 0 && which(dumps, dump) < 2, "frame %zu byte %zu: %d", frame + 1, at, code);
    CHECK(last_report().kind == SEALED_VFS_CUT && last_report().frame == frame + 1, "frame %zu: %s", frame + 1, describe(last_report()));
    free(dump);
  }
  // Two frames swapped.
  for (int i = 0; i < 30; i++) {
    memcpy(copy, log, length);
    size_t first = below(dice, frames - 1), second = first + 1 + below(dice, frames - first - 1);
    memcpy(copy + start + first * FRAME, log + start + second * FRAME, FRAME);
    memcpy(copy + start + second * FRAME, log + start + first * FRAME, FRAME);
    restore(path, main, main_length, copy, length);
    dump = dump_of(path, &code);
    CHECK(dump != NULL && which(dumps, dump) < 2 && last_report().frame == first + 1, "swapped frames: %d", code);
    free(dump);
  }
  // Cut anywhere, as by a power loss: some transactions are gone, nothing else.
  for (int i = 0; i < 60; i++) {
    size_t cut = i < 10 ? (size_t)i * 12 : below(dice, length);
    restore(path, main, main_length, log, cut);
    dump = dump_of(path, &code);
    CHECK(dump != NULL && which(dumps, dump) >= 0, "cut to %zu bytes: %d, %s", cut, code, describe(last_report()));
    free(dump);
  }
  // Zeros that never became frames are not reported.
  memcpy(copy, log, length);
  memset(copy + start + (frames - 1) * FRAME, 0, FRAME);
  restore(path, main, main_length, copy, length);
  dump = dump_of(path, &code);
  CHECK(dump != NULL && which(dumps, dump) == 1 && last_report().kind == SEALED_VFS_NOTHING, "%s", describe(last_report()));
  free(dump);
  memset(copy, 0, length);
  restore(path, main, main_length, copy, length);
  dump = dump_of(path, &code);
  CHECK(dump != NULL && which(dumps, dump) == 0 && last_report().kind == SEALED_VFS_NOTHING, "%d, %s", code, describe(last_report()));
  free(dump);

  // The log of another database.
  const char *other_path = path_of("other.db");
  char *other_dumps[3];
  make_log(other_path, other_dumps);
  size_t other_length;
  uint8_t *other = file_load(with_suffix(other_path, "-wal"), &other_length);
  restore(path, main, main_length, other, other_length);
  CHECK(dump_of(path, &code) == NULL && last_report().kind == SEALED_VFS_FOREIGN, "%d, %s", code, describe(last_report()));

  for (int i = 0; i < 3; i++) {
    free(dumps[i]);
    free(other_dumps[i]);
  }

  // Page 1 damaged by a checkpoint that lost power; the log repairs it.
  make_log(path, dumps);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  run_sql(database, "PRAGMA wal_autocheckpoint=0; PRAGMA user_version=5");
  file_copy(path, path_of("copy.db"));
  file_copy(with_suffix(path, "-wal"), path_of("copy.db-wal"));
  database_close(database);
  const char *torn = path_of("copy.db");
  use_key(torn);
  FILE *file = fopen(torn, "r+b");
  fseek(file, 1000, SEEK_SET);
  fwrite("torn", 1, 4, file);
  fclose(file);
  database = database_open(torn, SEALED_VFS_NAME);
  CHECK_EQUAL(ask(database, "PRAGMA user_version"), 5);
  run_sql(database, "PRAGMA wal_checkpoint(TRUNCATE)");
  database_close(database);
  CHECK_EQUAL(read_every_page(torn), SQLITE_OK);
  for (int i = 0; i < 3; i++) { free(dumps[i]); }
  free(main);
  free(log);
  free(other);
  free(copy);
}

static void live_log(struct dice *dice) {
  (void)dice;
  const char *path = path_of("live.db");
  database_remove(path);
  use_key(path);
  sqlite3 *writer = database_open(path, SEALED_VFS_NAME);
  run_sql(writer, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(a INTEGER PRIMARY KEY, b)");
  run_sql(writer, "INSERT INTO t SELECT 1, zeroblob(50000)");
  const char *log = with_suffix(path, "-wal");
  size_t length, old_length;
  uint8_t *old = file_load(log, &old_length);
  run_sql(writer, "PRAGMA wal_checkpoint(RESTART); UPDATE t SET b = zeroblob(49000)");
  uint8_t *bytes = file_load(log, &length);
  const size_t start = log_start(path);
  size_t frames = (length - start) / FRAME;
  // The index tells readers where each page is. A frame of the earlier generation in that place authenticates, and is
  // still rejected.
  for (size_t frame = 0; frame < frames && frame < (old_length - start) / FRAME; frame++) {
    long offset = (long)(start + frame * FRAME);
    bool is_other = memcmp(old + offset, bytes + offset, FRAME) != 0;
    file_poke(log, offset, old + offset, FRAME);
    sqlite3 *reader = NULL;
    sealed_vfs_clear_report();
    CHECK_EQUAL(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, SEALED_VFS_NAME), SQLITE_OK);
    int code = try_sql(reader, "SELECT sum(length(b)) FROM t WHERE b > ''");
    sqlite3_close(reader);
    CHECK(!is_other || code == SQLITE_OK || (code == SQLITE_IOERR_DATA && last_report().frame == frame + 1),
          "frame %zu: %d %s", frame + 1, code, describe(last_report()));
    if (frame == 0) { CHECK_EQUAL(code, SQLITE_IOERR_DATA); }
    file_poke(log, offset, bytes + offset, FRAME);
  }
  // Cut while in use.
  sqlite3 *reader = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(truncate(log, (off_t)(start + FRAME)), 0);
  CHECK_EQUAL(try_sql(reader, "SELECT sum(length(b)) FROM t"), SQLITE_IOERR_DATA);
  CHECK_EQUAL(last_report().kind, SEALED_VFS_TRUNCATED);
  CHECK_EQUAL(truncate(log, 0), 0);
  file_poke(log, 0, bytes, length);
  // The header is read again when the generation does not match.
  const uint8_t zeros[LONGEST_LOG_START] = {0};
  file_poke(log, 0, zeros, start);
  sqlite3 *late = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(try_sql(late, "SELECT sum(length(b)) FROM t"), SQLITE_IOERR_DATA);
  file_poke(log, 0, bytes, start);
  CHECK_EQUAL(ask(late, "SELECT sum(length(b)) FROM t"), 49000);
  database_close(late);
  database_close(reader);
  database_close(writer);
  free(old);
  free(bytes);
}

// Leaves a hot journal behind: a transaction was spilled to the database but not finished.
static void make_journal(const char *path, const char *settings, char **before) {
  int code;
  make(path, 7);
  *before = dump_of(path, &code);
  pid_t child = fork();
  if (child == 0) {
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    run_sql(database, "%s", settings);
    run_sql(database, "PRAGMA cache_size=5; BEGIN; UPDATE t SET c = zeroblob(a * 100), b = 'changed ' || a");
    leave(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the writer ended with %d", status);
}

static void journals(struct dice *dice) {
  const char *path = path_of("journal.db"), *journal = with_suffix(path, "-journal");
  const char *const settings[] = {"PRAGMA synchronous=FULL", "PRAGMA synchronous=NORMAL", "PRAGMA synchronous=OFF", "PRAGMA journal_mode=PERSIST"};
  long changes = 0;
  for (size_t setting = 0; setting < sizeof settings / sizeof *settings; setting++) {
    char *before;
    int code;
    make_journal(path, settings[setting], &before);
    size_t main_length, length;
    uint8_t *main = file_load(path, &main_length), *bytes = file_load(journal, &length);
    CHECK(length > 20000, "%zu bytes of journal", length);
    char *dump = dump_of(path, &code);
    CHECK(dump != NULL && strcmp(dump, before) == 0, "%s: not rolled back: %d, %s", settings[setting], code, describe(last_report()));
    free(dump);
    // Bit flips in the first header, in the first record, and anywhere. Each is either rejected or, where a torn write
    // looks the same, reported; a half rolled-back database must not pass for a whole one.
    for (int i = 0; i < 150; i++) {
      uint8_t *copy = malloc(length);
      memcpy(copy, bytes, length);
      size_t at = i < 92 ? (size_t)i : i < 100 ? (size_t)(512 + i % 8) : below(dice, length);
      copy[at] ^= (uint8_t)(1 << below(dice, 8));
      file_store(path, main, main_length);
      file_store(journal, copy, length);
      free(copy);
      dump = dump_of(path, &code);
      bool unchanged = dump != NULL && strcmp(dump, before) == 0;
      CHECK(unchanged || last_report().kind != SEALED_VFS_NOTHING, "%s, byte %zu: code %d, and nothing is reported", settings[setting], at, code);
      CHECK(unchanged || dump == NULL || last_report().kind == SEALED_VFS_CUT, "%s, byte %zu: %s", settings[setting], at, describe(last_report()));
      if (setting != 2 && at < 512 + 4 + PAGE) { CHECK(unchanged || dump == NULL, "%s, byte %zu: half rolled back", settings[setting], at); }
      free(dump);
      changes++;
    }
    // The journal of another database is not applied.
    const char *other_path = path_of("other.db");
    char *other_before;
    make_journal(other_path, settings[setting], &other_before);
    file_store(path, main, main_length);
    file_copy(with_suffix(other_path, "-journal"), journal);
    CHECK(dump_of(path, &code) == NULL && last_report().kind == SEALED_VFS_FOREIGN, "%d, %s", code, describe(last_report()));
    // Nor is a journal under another key.
    uint8_t other_key[32] = {9};
    file_store(journal, bytes, length);
    sealed_vfs_set_key(path, other_key, SEALED_VFS_KEEP_KEY);
    CHECK(dump_of(path, &code) == NULL && code == SQLITE_NOTADB && last_report().kind == SEALED_VFS_WRONG_KEY, "%d", code);
    use_key(path);
    // Page 1 torn by the crash that left the journal: the journal holds it.
    memset(main + 100, 0, 2000);
    file_store(path, main, main_length);
    dump = dump_of(path, &code);
    CHECK(dump != NULL && strcmp(dump, before) == 0, "torn page 1, %s: %d, %s", settings[setting], code, describe(last_report()));
    free(dump);
    unlink(journal);
    free(before);
    free(other_before);
    free(main);
    free(bytes);
  }
  note("%ld changes", changes);
}

const struct scenario damage_scenarios[] = {
    {"flipped-bits", flips_in_pages}, {"moved-pages", moved_pages}, {"damaged-logs", log_files},
    {"logs-edited-in-use", live_log}, {"damaged-journals", journals}, {NULL, NULL},
};
