// Frames that recovery has decrypted. The first process that opens a log reads all of it to rebuild the index, and then
// reads most of the last frames again through that index: a push into a new process, four fifths of them. So the last
// ones are kept until they are first read.
//
// A frame of a committed transaction stays unchanged until the next generation of the log begins. The index, as
// recovery leaves it, says which frames those are; until then, and for other frames, nothing is returned from here.
#include <sodium.h>

#include "wal_file.h"

enum {
  RECOVERED = 24,
  INDEX_LAST_FRAME = 4, // a word of https://sqlite.org/walformat.html#the_wal_index_header
};

struct recovered {
  uint64_t committed; // the last committed frame; 0: recovery is in progress
  size_t frame_bytes;
  uint64_t frames[RECOVERED]; // 0: empty
  uint8_t bytes[];            // frame_bytes for each, written only if the slot is not empty
};

static size_t all_bytes(size_t frame_bytes) { return sizeof(struct recovered) + RECOVERED * frame_bytes; }

static uint8_t *slot_bytes(struct recovered *kept, uint64_t frame) {
  return kept->bytes + (size_t)(frame % RECOVERED) * kept->frame_bytes;
}

static void empty_slot(struct recovered *kept, uint64_t frame) {
  kept->frames[frame % RECOVERED] = 0;
  sodium_memzero(slot_bytes(kept, frame), kept->frame_bytes);
}

void wal_forget_recovered(struct sealed_file *file) {
  struct recovered *kept = file->state.wal.recovered;
  if (kept == NULL) { return; }
  for (uint64_t slot = 0; slot < RECOVERED; slot++) {
    if (kept->frames[slot] != 0) { empty_slot(kept, slot); }
  }
  sqlite3_free(kept);
  file->state.wal.recovered = NULL;
}

int wal_keep_recovered(struct sealed_file *file, uint64_t frame, const uint8_t *text, size_t frame_bytes) {
  struct recovered *kept = file->state.wal.recovered;
  if (kept != NULL && kept->frame_bytes != frame_bytes) { wal_forget_recovered(file); }
  kept = file->state.wal.recovered;
  if (kept == NULL) {
    kept = sqlite3_malloc64(all_bytes(frame_bytes));
    if (kept == NULL) { return SQLITE_NOMEM; }
    memset(kept, 0, sizeof *kept);
    kept->frame_bytes = frame_bytes;
    file->state.wal.recovered = kept;
  }
  kept->frames[frame % RECOVERED] = frame;
  memcpy(slot_bytes(kept, frame), text, frame_bytes);
  return SQLITE_OK;
}

void wal_end_recovery(struct sealed_file *file) {
  struct recovered *kept = file->state.wal.recovered;
  if (kept == NULL || kept->committed != 0) { return; }
  const volatile uint32_t *index = file->main->wal_index;
  if (index != NULL) { kept->committed = index[INDEX_LAST_FRAME]; }
  // Nothing was committed, or the index is this connection's own.
  if (kept->committed == 0) { wal_forget_recovered(file); }
}

bool wal_take_recovered(struct sealed_file *file, uint64_t frame, uint8_t *page, size_t page_size) {
  struct recovered *kept = file->state.wal.recovered;
  if (kept == NULL || frame > kept->committed || kept->frames[frame % RECOVERED] != frame) { return false; }
  const uint8_t *text = slot_bytes(kept, frame);
  bool is_in_force = wal_is_in_force(file, text + FRAME_SALTS);
  if (is_in_force) { memcpy(page, text + FRAME_HEADER_BYTES, page_size); }
  empty_slot(kept, frame);
  return is_in_force;
}
