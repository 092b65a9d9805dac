// What scenarios of dozing connections share (dozing_support.c).
#ifndef DOZING_SCENARIOS_H
#define DOZING_SCENARIOS_H

#include "dozing_vfs.h"
#include "support.h"

struct layers {
  const char *dozing, *usual; // VFS of the connection that dozes, and of all others
};
// Plain, and sealed.
extern const struct layers both_layers[2];

// Registers the VFS. False, and noted, where no connection can doze: under valgrind, which does not know how to map memory twice.
bool dozing_is_possible(void);
// A database of one row, in WAL mode, closed.
const char *dozing_make(const struct layers *layers);
// How many locks a process has, on whatever files.
int locks_of(pid_t pid);
// To be called for a process's only connection: afterwards the process has no lock, and the index is not in its memory.
void doze(sqlite3 *database);

// ---- Another process ----

enum ending { CLOSES, IS_KILLED, STAYS };

struct other {
  pid_t pid;
  int told; // written to by the other process, when it has run its statements
};

struct other other_begin(const char *path, const char *vfs, enum ending ending, const char *sql);
void other_kill(struct other other);
void other_runs(const char *path, const char *vfs, enum ending ending, const char *sql);

#endif
