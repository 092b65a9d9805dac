// Shared by the scenarios of dozing connections (dozing_support.c).
#ifndef DOZING_SCENARIOS_H
#define DOZING_SCENARIOS_H

#include "dozing_vfs.h"
#include "support.h"

struct layers {
  const char *dozing, *usual; // VFS of the dozing connection, and of all others
};
// Plain, and sealed.
extern const struct layers both_layers[2];

// Registers the VFS. False, with a note, where no connection can doze: under valgrind, which does not support mapping
// memory twice.
bool dozing_is_possible(void);
// Creates a database of one row in WAL mode, and closes it.
const char *dozing_make(const struct layers *layers);
// The number of locks that a process holds on any file, counted once for each descriptor of the file.
int locks_of(pid_t pid);
// Call it for a process's only connection: afterwards the process holds no lock, and the index is not in its memory.
void doze(sqlite3 *database);

// ---- Another process ----

enum ending { CLOSES, IS_KILLED, STAYS };

struct other {
  pid_t pid;
  int told; // written to by the other process when it has run its statements
};

struct other other_begin(const char *path, const char *vfs, enum ending ending, const char *sql);
void other_kill(struct other other);
void other_runs(const char *path, const char *vfs, enum ending ending, const char *sql);

#endif
