// Decrypted content stays in the VFS's memory no longer than it is needed.
#include "dozing.h"

#include <sys/wait.h>

#include "memory_scan.h"

enum { SECRET = 32, LARGEST_PAGE = 65536 };
enum wiping { BY_CALL, BY_CALL_ONCE_READ, BY_UNMAPPING, BY_CLOSING };

// The complement of a secret, a new one each time. Neither text nor file has it: SQLite produces it, in another
// process.
static void invert_secret(enum wiping wiping, uint8_t inverted[SECRET]) {
  for (int at = 0; at < SECRET; at += 2) {
    inverted[at] = (uint8_t)~'q';
    inverted[at + 1] = (uint8_t)~('1' + (int)wiping);
  }
}

static const char *secret_sql(const char *format, enum wiping wiping) {
  static char sql[256];
  snprintf(sql, sizeof sql, format, 1 + (int)wiping);
  return sql;
}

static bool holds_secret(const uint8_t *page, int size, const uint8_t inverted[SECRET]) {
  for (int at = 0; at + SECRET <= size; at++) {
    int same = 0;
    while (same < SECRET && (page[at + same] ^ inverted[same]) == 0xff) { same++; }
    if (same == SECRET) { return true; }
  }
  return false;
}

// Reads the frame with the secret twice, bypassing SQLite's page cache: the first time recovery keeps it, then it is
// decrypted in a buffer.
static void read_secret(sqlite3 *database, const uint8_t inverted[SECRET]) {
  sqlite3_file *log = NULL;
  CHECK_EQUAL(sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log), SQLITE_OK);
  uint8_t page[LARGEST_PAGE];
  const int size = (int)ask(database, "PRAGMA page_size");
  bool is_found = false;
  for (sqlite3_int64 at = 32 + 24; !is_found; at += 24 + size) {
    CHECK_EQUAL(log->pMethods->xRead(log, page, size, at), SQLITE_OK);
    is_found = holds_secret(page, size, inverted);
    if (is_found) { CHECK_EQUAL(log->pMethods->xRead(log, page, size, at), SQLITE_OK); }
  }
  for (volatile uint8_t *at = page; at < page + size; at++) { *at = 0; }
}

// The number of copies once SQLite has given the index back. Runs in a process of its own, which ends there: SQLite
// closes the log next.
static int copies_once_unmapped(sqlite3 *database, const uint8_t inverted[SECRET]) {
  pid_t pid = fork();
  if (pid == 0) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) { leave(99); }
    if (memory_scan(inverted, SECRET) <= 0 || file->pMethods->xShmUnmap(file, 0) != SQLITE_OK) { leave(99); }
    leave((int)memory_scan(inverted, SECRET));
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Recovery decrypts frames and keeps the last ones. SQLite does not read the secret's page, so it has none of it: the
// last frame, which stays where SQLite recovered it, is a different one.
static void wipes(enum wiping wiping) {
  const char *path = dozing_make(&both_layers[1]);
  other_runs(path, both_layers[1].usual, IS_KILLED,
             secret_sql("CREATE TABLE secret(a); INSERT INTO secret VALUES(replace(hex(zeroblob(16)), '00', 'q' || %d)); "
                        "UPDATE t SET a = 2; UPDATE t SET a = 3",
                        wiping));
  uint8_t inverted[SECRET];
  invert_secret(wiping, inverted);
  sqlite3 *database = database_open(path, both_layers[1].dozing);
  CHECK_EQUAL(ask(database, "SELECT sum(a) FROM t"), 3);
  if (wiping == BY_CALL_ONCE_READ) { read_secret(database, inverted); }
  CHECK(memory_scan(inverted, SECRET) > 0, "nothing was kept: the search is of no use");
  if (wiping == BY_CLOSING) {
    // Without a checkpoint, for which SQLite would read the page.
    CHECK_EQUAL(sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
    database_close(database);
  }
  if (wiping == BY_UNMAPPING) { CHECK_EQUAL(copies_once_unmapped(database, inverted), 0); }
  if (wiping == BY_CALL || wiping == BY_CALL_ONCE_READ) {
    doze(database);
    CHECK_EQUAL(sealed_vfs_wipe(database, "main"), SQLITE_OK);
  }
  if (wiping != BY_UNMAPPING) { CHECK_EQUAL(memory_scan(inverted, SECRET), 0); }
  if (wiping == BY_CALL || wiping == BY_CALL_ONCE_READ) {
    CHECK_EQUAL(dozing_vfs_wake(database), SQLITE_OK);
    const char *count = secret_sql("SELECT count(*) FROM secret WHERE a = replace(hex(zeroblob(16)), '00', 'q' || %d)", wiping);
    CHECK_EQUAL(ask(database, count), 1);
    expect_sound(database);
  }
  if (wiping != BY_CLOSING) { database_close(database); }
}

static void wiping(struct dice *dice) {
  (void)dice;
  if (!dozing_is_possible()) { return; }
  for (enum wiping way = BY_CALL; way <= BY_CLOSING; way++) { wipes(way); }
  sqlite3 *plain = database_open(path_of("possible.db"), NULL);
  CHECK_EQUAL(sealed_vfs_wipe(plain, "main"), SQLITE_NOTFOUND);
  database_close(plain);
}

const struct scenario dozing_wipe_scenarios[] = {{"wiped-while-dozing", wiping}, {NULL, NULL}};
