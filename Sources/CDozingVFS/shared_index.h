// The shared index of the log in memory (the `-shm` file), at addresses that stay valid while the file is not mapped.
//
// SQLite keeps the addresses of the index's regions as long as the connection is open, whereas the base VFS unmaps them
// when it releases its lock on the file. So each region is mapped a second time, at an address of our own, which is
// passed to SQLite.
#ifndef DOZING_SHARED_INDEX_H
#define DOZING_SHARED_INDEX_H

#include <stdbool.h>
#include <stddef.h>

struct shared_index {
  void **regions; // our addresses, in file order; NULL for a region that SQLite has not asked for
  int count;
  int region_bytes;
  bool is_unsuitable; // SQLite has an address that is not ours
};

// The address to pass to SQLite for a region that the base VFS has mapped at `memory`. `is_usual`: for reading and
// writing.
void volatile *index_place(struct shared_index *index, int region, int bytes, bool is_usual, void volatile *memory);
// Whether there is an index and all of it that SQLite knows is at our addresses.
bool index_can_doze(const struct shared_index *index);
// Replaces all regions by zeros, in one step each: from now on the file behind them may be truncated, and reading there
// would end the process. To SQLite zeros are an uninitialised index. Where the system refuses, the file's memory stays.
void index_detach(struct shared_index *index);
// Puts a region that the base VFS has mapped at `memory` back in its place.
bool index_attach(struct shared_index *index, int region, void volatile *memory);
void index_free(struct shared_index *index);

#endif
