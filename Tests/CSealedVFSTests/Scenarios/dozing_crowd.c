// Processes that doze, others that do not, one that replaces the database with copies, and one that kills any of them
// at any moment: whatever they do, each commit is there once.
#include "dozing.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>

enum { DOZERS = 3, OTHERS = 2, REPLACER = DOZERS + OTHERS, PROCESSES };

// In memory shared by all processes.
struct tally {
  volatile long commits[PROCESSES]; // reported to each process
  volatile long wakes, changes, replacements;
};

struct crowd {
  const char *dozing, *usual; // VFS
  const char *path, *copy, *gate;
  struct tally *tally;
};

static void rest(struct dice *dice, unsigned most) { usleep((useconds_t)below(dice, most)); }

// A database is opened and woken under a shared lock, and replaced under an exclusive one, as the store does.
static int enter(const struct crowd *crowd, int kind) {
  FILE *file = fopen(crowd->gate, "ae");
  CHECK(file != NULL, "no lock file");
  int descriptor = dup(fileno(file));
  fclose(file);
  CHECK_EQUAL(flock(descriptor, kind), 0);
  return descriptor;
}

static sqlite3 *open_usually(const struct crowd *crowd, const char *vfs) {
  int gate = enter(crowd, LOCK_SH);
  sqlite3 *database = database_open(crowd->path, vfs);
  sqlite3_busy_timeout(database, 60000);
  run_sql(database, "PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=20; SELECT * FROM total");
  close(gate);
  return database;
}

// What any connection sees is whole, and holds everything this process has committed.
static void look(const struct crowd *crowd, sqlite3 *database, int who) {
  run_sql(database, "BEGIN");
  CHECK_EQUAL(ask(database, "SELECT (SELECT n FROM total) - (SELECT count(*) FROM t)"), 0);
  char sql[64];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE who = %d", who);
  CHECK_EQUAL(ask(database, sql), crowd->tally->commits[who]);
  run_sql(database, "COMMIT");
}

static void commit(const struct crowd *crowd, sqlite3 *database, int who, struct dice *dice) {
  run_sql(database, "BEGIN IMMEDIATE; INSERT INTO t VALUES(%d, %ld, randomblob(%d)); UPDATE total SET n = n + 1; COMMIT", who,
          crowd->tally->commits[who], (int)below(dice, 3000));
  crowd->tally->commits[who]++;
}

// If it was killed between a commit and its tally, the previous process may have one commit more.
static void settle(const struct crowd *crowd, sqlite3 *database, int who) {
  char sql[64];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM t WHERE who = %d", who);
  long rows = (long)ask(database, sql), told = crowd->tally->commits[who];
  CHECK(rows == told || rows == told + 1, "process %d: %ld rows, %ld were committed", who, rows, told);
  crowd->tally->commits[who] = rows;
}

static sqlite3 *wake(const struct crowd *crowd, sqlite3 *database) {
  int gate = enter(crowd, LOCK_SH);
  int code = dozing_vfs_wake(database);
  close(gate);
  CHECK(code == SQLITE_OK || code == SQLITE_NOTFOUND || code == SQLITE_BUSY, "waking: %d", code);
  __atomic_fetch_add(code == SQLITE_OK ? &crowd->tally->wakes : &crowd->tally->changes, 1, __ATOMIC_RELAXED);
  if (code == SQLITE_OK) { return database; }
  database_close(database);
  return open_usually(crowd, crowd->dozing);
}

static void run_dozer(const struct crowd *crowd, int who, struct dice *dice) {
  sqlite3 *database = open_usually(crowd, crowd->dozing);
  settle(crowd, database, who);
  for (;;) {
    if (chance(dice, 70)) { commit(crowd, database, who, dice); }
    if (chance(dice, 50)) { look(crowd, database, who); }
    CHECK_EQUAL(dozing_vfs_doze(database), SQLITE_OK);
    rest(dice, 3000);
    database = wake(crowd, database);
  }
}

static void run_other(const struct crowd *crowd, int who, struct dice *dice) {
  static const char *const upkeep[] = {"PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(RESTART)",
                                       "PRAGMA wal_checkpoint(TRUNCATE)", "DELETE FROM filler; INSERT INTO filler VALUES(zeroblob(30000))"};
  for (bool is_first = true;; is_first = false) {
    sqlite3 *database = open_usually(crowd, crowd->usual);
    if (is_first) { settle(crowd, database, who); }
    while (!chance(dice, 30)) {
      commit(crowd, database, who, dice);
      look(crowd, database, who);
      if (chance(dice, 40)) { try_sql(database, upkeep[below(dice, 4)]); }
      rest(dice, 1000);
    }
    database_close(database);
    rest(dice, 4000);
  }
}

static void run_replacer(const struct crowd *crowd, struct dice *dice) {
  for (;;) {
    rest(dice, 10000);
    int gate = enter(crowd, LOCK_EX);
    database_remove(crowd->copy);
    sqlite3 *database = database_open(crowd->path, crowd->usual);
    // Fails while another process has it open. A dozing process does not.
    bool is_alone = try_sql(database, "PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE; COMMIT") == SQLITE_OK;
    if (is_alone && crowd->usual != NULL) { CHECK_EQUAL(sealed_vfs_prepare(database, "main"), SQLITE_OK); }
    if (is_alone) { run_sql(database, "VACUUM INTO 'file:%s?vfs=%s'", crowd->copy, crowd->usual == NULL ? "unix" : crowd->usual); }
    database_close(database);
    if (is_alone && !file_exists(with_suffix(crowd->path, "-wal"))) {
      database = database_open(crowd->copy, crowd->usual);
      run_sql(database, "PRAGMA journal_mode=WAL");
      database_close(database);
      CHECK_EQUAL(rename(crowd->copy, crowd->path), 0);
      __atomic_fetch_add(&crowd->tally->replacements, 1, __ATOMIC_RELAXED);
    }
    close(gate);
  }
}

static pid_t start(const struct crowd *crowd, int who, struct dice *dice) {
  struct dice own = {roll(dice)};
  pid_t pid = fork();
  if (pid != 0) { return pid; }
  end_with_parent();
  if (who < DOZERS) { run_dozer(crowd, who, &own); }
  if (who == REPLACER) { run_replacer(crowd, &own); }
  run_other(crowd, who, &own);
  leave(0);
}

static void run_crowd(const char *dozing, const char *usual, struct dice *dice) {
  struct tally *tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(tally != MAP_FAILED, "no memory");
  struct crowd crowd = {dozing, usual, path_of("crowd.db"), path_of("crowd-copy.db"), path_of("crowd-gate"), tally};
  database_remove(crowd.path);
  use_key(crowd.path);
  use_key(crowd.copy);
  sqlite3 *database = database_open(crowd.path, usual);
  run_sql(database, "PRAGMA journal_mode=WAL; CREATE TABLE t(who, n, b); CREATE INDEX i ON t(who); CREATE TABLE filler(b); "
                    "CREATE TABLE total(n); INSERT INTO total VALUES(0)");
  database_close(database);
  pid_t children[PROCESSES];
  for (int who = 0; who < PROCESSES; who++) { children[who] = start(&crowd, who, dice); }
  const char *seconds = getenv("DOZING_SECONDS");
  time_t end = time(NULL) + (seconds == NULL ? 3 : atoi(seconds));
  int kills = 0, failures = 0;
  for (; time(NULL) < end && failures == 0; kills++) {
    rest(dice, 60000);
    int who = (int)below(dice, PROCESSES);
    // A process that ended by itself has failed a check.
    for (int each = 0; each < PROCESSES; each++) { failures += waitpid(children[each], NULL, WNOHANG) != 0; }
    if (failures > 0) { break; }
    kill(children[who], SIGKILL);
    waitpid(children[who], NULL, 0);
    children[who] = start(&crowd, who, dice);
  }
  for (int who = 0; who < PROCESSES; who++) {
    kill(children[who], SIGKILL);
    waitpid(children[who], NULL, 0);
  }
  CHECK_EQUAL(failures, 0);
  database = database_open(crowd.path, usual);
  for (int who = 0; who < REPLACER; who++) { settle(&crowd, database, who); }
  CHECK_EQUAL(ask(database, "SELECT (SELECT n FROM total) - (SELECT count(*) FROM t)"), 0);
  CHECK_EQUAL(ask(database, "SELECT count(*) - count(DISTINCT who * 1000000 + n) FROM t"), 0);
  expect_sound(database);
  note("%lld commits, %ld wakes, %ld found changed files, %ld replacements, %d kills; ", ask(database, "SELECT n FROM total"),
       tally->wakes, tally->changes, tally->replacements, kills);
  CHECK(tally->wakes > 0, "no connection was woken");
  database_close(database);
  munmap(tally, sizeof *tally);
}

static void crowds(struct dice *dice) {
  if (!dozing_is_possible()) { return; }
  run_crowd(DOZING_VFS_NAME, NULL, dice);
  run_crowd("sealed-dozing", SEALED_VFS_NAME, dice);
}

const struct scenario dozing_crowd_scenarios[] = {{"dozing-crowd", crowds}, {NULL, NULL}};
