// Guarded memory for keys: sodium_malloc's, with guard pages around it, locked into memory where the system allows
// it, and zeroed when freed. It makes six system calls for each piece, and opening a store takes two pieces; a process
// that opens and closes a store for each push spent a thirtieth of a push's time on them. So pieces as short as keys
// are parts of one block that is kept, with zeros in the free ones. Guard pages and the canary surround the block, no
// longer each piece.
#include <pthread.h>
#include <sodium.h>

#include "internal.h"

enum { PIECE_BYTES = 128, PIECES = 32 };

static pthread_mutex_t pieces_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *pieces; // NULL until one is needed
static uint32_t taken;  // a bit for each

_Static_assert(PIECES <= 32, "a bit for each piece");

// Called with the pieces locked.
static void *take_piece(void) {
  if (pieces == NULL) {
    pieces = sodium_malloc((size_t)PIECES * PIECE_BYTES);
    if (pieces == NULL) { return NULL; }
    sodium_memzero(pieces, (size_t)PIECES * PIECE_BYTES);
  }
  for (unsigned piece = 0; piece < PIECES; piece++) {
    uint32_t bit = UINT32_C(1) << piece;
    if ((taken & bit) == 0) {
      taken |= bit;
      return pieces + (size_t)piece * PIECE_BYTES;
    }
  }
  return sodium_malloc(PIECE_BYTES);
}

void *guarded_allocate(size_t bytes) {
  if (bytes > PIECE_BYTES) { return sodium_malloc(bytes); }
  pthread_mutex_lock(&pieces_lock);
  void *memory = take_piece();
  pthread_mutex_unlock(&pieces_lock);
  return memory;
}

void guarded_free(void *memory) {
  pthread_mutex_lock(&pieces_lock);
  // Huge for memory elsewhere, also for memory in front of the pieces.
  uintptr_t offset = (uintptr_t)memory - (uintptr_t)pieces;
  bool is_piece = pieces != NULL && offset < (uintptr_t)PIECES * PIECE_BYTES;
  if (is_piece) {
    sodium_memzero(memory, PIECE_BYTES);
    taken &= ~(UINT32_C(1) << (offset / PIECE_BYTES));
  }
  pthread_mutex_unlock(&pieces_lock);
  if (!is_piece) { sodium_free(memory); }
}
