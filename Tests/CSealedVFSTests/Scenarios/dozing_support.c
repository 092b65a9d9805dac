// Shared by the scenarios of dozing connections.
#include "dozing.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

const struct layers both_layers[2] = {{DOZING_VFS_NAME, NULL}, {"sealed-dozing", SEALED_VFS_NAME}};

bool dozing_is_possible(void) {
  CHECK_EQUAL(dozing_vfs_register(), SQLITE_OK);
  CHECK_EQUAL(sealed_vfs_register("sealed-dozing", DOZING_VFS_NAME), SQLITE_OK);
  const char *path = path_of("possible.db");
  sqlite3 *database = database_open(path, DOZING_VFS_NAME);
  run_sql(database, "PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS t(a)");
  int code = dozing_vfs_doze(database);
  database_close(database);
  if (code != SQLITE_OK) { note("not possible here"); }
  return code == SQLITE_OK;
}

const char *dozing_make(const struct layers *layers) {
  const char *path = path_of("dozing.db");
  database_remove(path);
  use_key(path);
  sqlite3 *database = database_open(path, layers->usual);
  run_sql(database, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  database_close(database);
  return path;
}

// Locks that are listed with one descriptor. /proc/locks, a list of the whole system's, misses some while others change.
static int locks_of_descriptor(int folder, const char *descriptor) {
  int opened = openat(folder, descriptor, O_RDONLY | O_CLOEXEC);
  FILE *file = opened < 0 ? NULL : fdopen(opened, "r");
  if (file == NULL) { return 0; }
  char line[256];
  int count = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "lock:", 5) == 0) { count++; }
  }
  fclose(file);
  return count;
}

int locks_of(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fdinfo", (int)pid);
  DIR *folder = opendir(path);
  if (folder == NULL) { return 0; }
  int count = 0;
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    if (entry->d_name[0] != '.') { count += locks_of_descriptor(dirfd(folder), entry->d_name); }
  }
  closedir(folder);
  return count;
}

// Whether a file is mapped into this process. Touching memory past the end of a truncated file ends the process.
static bool is_mapped(const char *path) {
  FILE *file = fopen("/proc/self/maps", "r");
  CHECK(file != NULL, "no list of mappings");
  char line[1024];
  bool found = false;
  while (!found && fgets(line, sizeof line, file) != NULL) { found = strstr(line, path) != NULL; }
  fclose(file);
  return found;
}

void doze(sqlite3 *database) {
  const char *index = with_suffix(sqlite3_db_filename(database, "main"), "-shm");
  CHECK(is_mapped(index), "an open connection has mapped the index");
  CHECK_EQUAL(dozing_vfs_doze(database), SQLITE_OK);
  CHECK_EQUAL(locks_of(getpid()), 0);
  CHECK(!is_mapped(index), "the index is still mapped");
}

// ---- Another process ----

struct other other_begin(const char *path, const char *vfs, enum ending ending, const char *sql) {
  int told[2];
  CHECK_EQUAL(pipe(told), 0);
  pid_t pid = fork();
  if (pid == 0) {
    end_with_parent();
    sqlite3 *database = database_open(path, vfs);
    sqlite3_busy_timeout(database, 10000);
    run_sql(database, "%s", sql);
    if (ending == CLOSES) { database_close(database); }
    if (write(told[1], "x", 1) != 1) { leave(1); }
    while (ending != CLOSES) { pause(); }
    leave(0);
  }
  close(told[1]);
  struct other other = {pid, told[0]};
  char byte;
  CHECK(read(told[0], &byte, 1) == 1, "the other process could not run %s", sql);
  if (ending == IS_KILLED) { kill(pid, SIGKILL); }
  if (ending != STAYS) { waitpid(pid, NULL, 0); }
  return other;
}

void other_kill(struct other other) {
  kill(other.pid, SIGKILL);
  waitpid(other.pid, NULL, 0);
  close(other.told);
}

void other_runs(const char *path, const char *vfs, enum ending ending, const char *sql) {
  close(other_begin(path, vfs, ending, sql).told);
}
