// SQLite without the sealed VFS opens a sealed database, as a support tool would: it must leave log and journal alone.
#include "support.h"

enum { PAGE = OVERFLOWING_PAGE, ROWS = OVERFLOWING_ROWS };

// Statements of a tool that only reads.
static const char *const looks[] = {
    "SELECT * FROM sqlite_master", "PRAGMA user_version", "PRAGMA journal_mode", "PRAGMA integrity_check",
    "SELECT count(*) FROM t", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA quick_check; VACUUM INTO 'file::memory:'",
};
enum { LOOKS = sizeof looks / sizeof *looks };

static bool is_unchanged(const char *path, const uint8_t *bytes, size_t length) {
  if (!file_exists(path)) { return false; }
  size_t length_now;
  uint8_t *now = file_load(path, &length_now);
  bool result = length_now == length && memcmp(now, bytes, length) == 0;
  free(now);
  return result;
}

// Leaves the main file and `suffix` beside it, like a killed process that ran these statements.
static void kill_after(const char *path, const char *suffix, const char *sql) {
  pid_t child = fork();
  if (child == 0) {
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    run_sql(database, "%s", sql);
    leave(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the writer ended with %d", status);
  CHECK(file_size(with_suffix(path, suffix)) > 0, "it left no %s", suffix);
}

// Reads the database in each way, through a new connection each time and through one for all.
static void expect_left_alone(const char *path, const char *suffix, int expected) {
  const char *beside = with_suffix(path, suffix);
  size_t main_length, length;
  uint8_t *main = file_load(path, &main_length), *bytes = file_load(beside, &length);
  for (int look = 0; look <= LOOKS; look++) {
    sqlite3 *database = database_open(path, NULL);
    for (int step = look % LOOKS; step <= (look == LOOKS ? LOOKS - 1 : look); step++) {
      int code = try_sql(database, looks[step]);
      CHECK(code != SQLITE_OK || step == 1 || step == 2 || step == 5, "%s: it is answered", looks[step]);
      CHECK(expected == 0 || step == 2 || (code & 0xff) == expected, "%s: %d", looks[step], code);
    }
    database_close(database);
    CHECK(is_unchanged(beside, bytes, length), "%s: %s is gone or changed", looks[look % LOOKS], suffix);
    CHECK(is_unchanged(path, main, main_length), "%s: the main file is changed", looks[look % LOOKS]);
  }
  free(main);
  free(bytes);
}

static void looked_at_logs(struct dice *dice) {
  (void)dice;
  const char *path = path_of("looked.db");
  static const char *const writes[] = {
      "PRAGMA wal_autocheckpoint=0; UPDATE t SET b = replace(hex(zeroblob(4900)), '00', 'zz') WHERE a = 7",
      "PRAGMA wal_autocheckpoint=0; UPDATE t SET b = b; PRAGMA wal_checkpoint(RESTART);"
      "UPDATE t SET b = replace(hex(zeroblob(4900)), '00', 'zz') WHERE a = 7",
  };
  for (int i = 0; i < 2; i++) {
    overflowing_make(path, "WAL");
    kill_after(path, "-wal", writes[i]);
    expect_left_alone(path, "-wal", SQLITE_CANTOPEN);
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    CHECK_EQUAL(overflowing_rows(database, 7), ROWS);
    CHECK_EQUAL(ask(database, "SELECT substr(b, 1, 2) = 'zz' FROM t WHERE a = 7"), 1);
    database_close(database);
  }
}

static void looked_at_journals(struct dice *dice) {
  (void)dice;
  const char *path = path_of("looked.db");
  static const char *const settings[] = {
      "PRAGMA synchronous=FULL", "PRAGMA synchronous=OFF", "PRAGMA journal_mode=PERSIST", "PRAGMA journal_mode=TRUNCATE",
  };
  for (int i = 0; i < 4; i++) {
    overflowing_make(path, "DELETE");
    char *sql = sqlite3_mprintf("%s; PRAGMA cache_size=2; UPDATE t SET b = b; BEGIN; UPDATE t SET b = 'half'", settings[i]);
    kill_after(path, "-journal", sql);
    sqlite3_free(sql);
    expect_left_alone(path, "-journal", 0);
    sqlite3 *database = database_open(path, SEALED_VFS_NAME);
    CHECK_EQUAL(overflowing_rows(database, 0), ROWS);
    expect_sound(database);
    database_close(database);
  }
}

// ---- While the database is in use ----

// Another process that has the database open: it runs the statements it is sent, one a line, and answers each.
struct user {
  pid_t process;
  int to, from;
};

static void serve(const char *path, int from, int to) {
  sqlite3 *database = NULL;
  FILE *lines = fdopen(from, "r");
  char line[200];
  while (lines != NULL && fgets(line, sizeof line, lines) != NULL) {
    if (database == NULL) { database = database_open(path, SEALED_VFS_NAME); }
    if (strcmp(line, "end\n") == 0) { leave(0); }
    if (strcmp(line, "close\n") == 0) {
      database_close(database);
      leave(0);
    }
    run_sql(database, "%s", line);
    CHECK(write(to, "", 1) == 1, "cannot answer");
  }
  leave(1);
}

static struct user start_user(const char *path) {
  int to[2], from[2];
  CHECK(pipe(to) == 0 && pipe(from) == 0, "no pipe");
  struct user user = {.process = fork(), .to = to[1], .from = from[0]};
  if (user.process == 0) {
    close(to[1]);
    serve(path, to[0], from[1]);
  }
  close(to[0]);
  close(from[1]);
  return user;
}

static void tell(struct user user, const char *line) {
  char answer;
  CHECK(write(user.to, line, strlen(line)) == (ssize_t)strlen(line) && read(user.from, &answer, 1) == 1, "%s", line);
}

static void end_user(struct user user, const char *line) {
  CHECK(write(user.to, line, strlen(line)) == (ssize_t)strlen(line), "%s", line);
  int status;
  waitpid(user.process, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ended with %d", status);
  close(user.to);
  close(user.from);
}

// When the reader arrives: before the others, while the log is empty, or when it has content.
enum arrival { FIRST, TO_AN_EMPTY_LOG, TO_A_FULL_LOG };

static void look_and_stay(enum arrival arrival, const char *end) {
  const char *path = path_of("live.db");
  overflowing_make(path, "WAL");
  struct user user = start_user(path);
  sqlite3 *plain = NULL;
  for (enum arrival now = FIRST; now <= TO_A_FULL_LOG; now++) {
    if (now == TO_AN_EMPTY_LOG) { tell(user, "PRAGMA wal_autocheckpoint=0; SELECT count(*) FROM t\n"); }
    if (now == TO_A_FULL_LOG) { tell(user, "UPDATE t SET b = replace(hex(zeroblob(4900)), '00', 'zz') WHERE a = 7\n"); }
    if (now == arrival) { plain = database_open(path, NULL); }
    for (int look = 0; now >= arrival && look < LOOKS; look++) { try_sql(plain, looks[look]); }
  }
  tell(user, "UPDATE t SET b = b WHERE a < 4\n");
  end_user(user, end);
  for (int look = 0; look < LOOKS; look++) { try_sql(plain, looks[look]); }
  database_close(plain);
  sqlite3 *database = database_open(path, SEALED_VFS_NAME);
  CHECK_EQUAL(overflowing_rows(database, 7), ROWS);
  CHECK(ask(database, "SELECT substr(b, 1, 2) = 'zz' FROM t WHERE a = 7") == 1, "arrival %d, %s: a commit is gone", arrival, end);
  expect_sound(database);
  database_close(database);
}

static void looked_at_in_use(struct dice *dice) {
  (void)dice;
  for (enum arrival arrival = FIRST; arrival <= TO_A_FULL_LOG; arrival++) {
    look_and_stay(arrival, "close\n");
    look_and_stay(arrival, "end\n");
  }
}

const struct scenario plain_sqlite_scenarios[] = {
    {"logs-looked-at", looked_at_logs}, {"journals-looked-at", looked_at_journals},
    {"looked-at-in-use", looked_at_in_use}, {NULL, NULL},
};
