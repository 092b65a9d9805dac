#define _GNU_SOURCE
#include "shared_index.h"

#include <sqlite3.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Maps the same part of the same file once more: at `place`, or wherever there is room. NULL if this is impossible: the
// system has no such function, its pages are larger than a region (the base VFS then maps several together), or a tool
// that runs the program (valgrind) does not support it.
static void *map_again(void volatile *memory, size_t bytes, void *place) {
#ifdef __linux__
  uintptr_t address = (uintptr_t)memory;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (address % page != 0 || bytes % page != 0) { return NULL; }
  // With an old length of 0 a shared mapping is not moved but duplicated.
  void *found = place == NULL ? mremap((void *)address, 0, bytes, MREMAP_MAYMOVE)
                              : mremap((void *)address, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  return found == MAP_FAILED ? NULL : found;
#else
  (void)memory;
  (void)bytes;
  (void)place;
  return NULL;
#endif
}

static bool make_room(struct shared_index *index, int region) {
  if (region < index->count) { return true; }
  void **regions = sqlite3_realloc64(index->regions, sizeof *regions * (size_t)(region + 1));
  if (regions == NULL) { return false; }
  index->regions = regions;
  while (index->count <= region) { regions[index->count++] = NULL; }
  return true;
}

void volatile *index_place(struct shared_index *index, int region, int bytes, bool is_usual, void volatile *memory) {
  if (region < index->count && index->regions[region] != NULL) { return index->regions[region]; }
  bool fits = !index->is_unsuitable && is_usual && (index->count == 0 || bytes == index->region_bytes);
  void *place = fits && make_room(index, region) ? map_again(memory, (size_t)bytes, NULL) : NULL;
  if (place == NULL) {
    index->is_unsuitable = true;
    return memory;
  }
  index->regions[region] = place;
  index->region_bytes = bytes;
  return place;
}

bool index_can_doze(const struct shared_index *index) { return index->count > 0 && !index->is_unsuitable; }

void index_detach(struct shared_index *index) {
  for (int region = 0; region < index->count; region++) {
    if (index->regions[region] == NULL) { continue; }
    mmap(index->regions[region], (size_t)index->region_bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
}

bool index_attach(struct shared_index *index, int region, void volatile *memory) {
  return map_again(memory, (size_t)index->region_bytes, index->regions[region]) != NULL;
}

void index_free(struct shared_index *index) {
  for (int region = 0; region < index->count; region++) {
    if (index->regions[region] != NULL) { munmap(index->regions[region], (size_t)index->region_bytes); }
  }
  sqlite3_free(index->regions);
  memset(index, 0, sizeof *index);
}
