// The shared index of the log in memory (the `-shm` file), at addresses that stay while the file is not mapped.
//
// SQLite keeps the addresses of the index's regions as long as the connection is open, whereas the base VFS unmaps them
// when it releases its lock on the file. So each region is mapped a second time, at an address of our own, which SQLite
// is given.
#ifndef DOZING_SHARED_INDEX_H
#define DOZING_SHARED_INDEX_H

#include <stdbool.h>
#include <stddef.h>

struct shared_index {
  void **regions; // our addresses, in the order of the file; NULL for one that SQLite has not asked for
  int count;
  int region_bytes;
  bool is_unsuitable; // SQLite has an address that is not ours
};

// What to give SQLite for a region that the base VFS has mapped at `memory`. `is_usual`: for reading and writing.
void volatile *index_place(struct shared_index *index, int region, int bytes, bool is_usual, void volatile *memory);
// Whether all of the index that SQLite knows is at addresses of ours, and there is one.
bool index_can_doze(const struct shared_index *index);
// Puts zeros in the place of all regions, in one step each: the file behind them may be cut from now on, and reading
// there would end the process. To SQLite zeros are an index that is not initialised. Where the system refuses, the
// file's memory stays.
void index_detach(struct shared_index *index);
// Puts a region that the base VFS has mapped at `memory` back into its place.
bool index_attach(struct shared_index *index, int region, void volatile *memory);
void index_free(struct shared_index *index);

#endif
