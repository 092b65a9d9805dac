#include "sqlite_memory.h"

#include <sched.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A piece is freed into the list of its size, and reused from there; none is returned to the system, so the process
 * keeps what its largest push took. Larger pieces are malloc's. */
enum { STEP = 16, STEPS = 64, BLOCK = 32768 };

/* Precedes the memory that SQLite gets, which is aligned to eight bytes. */
struct head {
  uint64_t size;
};

struct piece {
  struct head head;
  struct piece *next;
};

static struct piece *freed[STEPS + 1];
static char *block;
static size_t left;
static atomic_flag taken = ATOMIC_FLAG_INIT;

/* Held only for a few instructions; the threads of a push work in turn. */
static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire)) sched_yield();
}

static void unlock(void) { atomic_flag_clear_explicit(&taken, memory_order_release); }

/* Bytes including the head, rounded up to steps. */
static size_t whole(int size) { return ((size_t)size + sizeof(struct head) + STEP - 1) / STEP * STEP; }

static struct piece *piece_of(void *memory) { return (struct piece *)((char *)memory - sizeof(struct head)); }

static void *memory_of(struct piece *piece, size_t size) {
  piece->head.size = size;
  return (char *)piece + sizeof(struct head);
}

/* The rest of a block goes to the list of its size. */
static int begin_block(void) {
  char *new = malloc(BLOCK);
  if (new == NULL) return 0;
  if (left >= STEP) {
    struct piece *rest = (struct piece *)block;
    rest->next = freed[left / STEP];
    freed[left / STEP] = rest;
  }
  block = new;
  left = BLOCK;
  return 1;
}

static struct piece *take(size_t size) {
  struct piece *piece = freed[size / STEP];
  if (piece != NULL) {
    freed[size / STEP] = piece->next;
    /* If freed long ago, as when a store was closed, it is in no cache. The next push would wait for it. */
    __builtin_prefetch(piece->next);
    return piece;
  }
  if (left < size && !begin_block()) return NULL;
  piece = (struct piece *)block;
  block += size;
  left -= size;
  return piece;
}

static void *allocate(int size) {
  size_t wanted = whole(size);
  struct piece *piece;
  if (wanted > STEP * STEPS) {
    piece = malloc(wanted);
  } else {
    lock();
    piece = take(wanted);
    unlock();
  }
  return piece == NULL ? NULL : memory_of(piece, wanted);
}

static void release(void *memory) {
  if (memory == NULL) return;
  struct piece *piece = piece_of(memory);
  size_t size = piece->head.size;
  if (size > STEP * STEPS) {
    free(piece);
    return;
  }
  lock();
  piece->next = freed[size / STEP];
  freed[size / STEP] = piece;
  unlock();
}

static int room(void *memory) { return memory == NULL ? 0 : (int)(piece_of(memory)->head.size - sizeof(struct head)); }

static int rounded(int size) { return (int)(whole(size) - sizeof(struct head)); }

static void *resize(void *memory, int size) {
  int before = room(memory);
  size_t wanted = whole(size);
  if (before > STEP * STEPS && wanted > STEP * STEPS) {
    struct piece *piece = realloc(piece_of(memory), wanted);
    return piece == NULL ? NULL : memory_of(piece, wanted);
  }
  if (before >= size && (size_t)before < 2 * wanted) return memory;
  void *new = allocate(size);
  if (new == NULL) return NULL;
  memcpy(new, memory, (size_t)(before < size ? before : size));
  release(memory);
  return new;
}

static int begin(void *context) {
  (void)context;
  return SQLITE_OK;
}

static void end(void *context) { (void)context; }

void sqlite_memory_use(void) {
  static const sqlite3_mem_methods methods = {
      .xMalloc = allocate,
      .xFree = release,
      .xRealloc = resize,
      .xSize = room,
      .xRoundup = rounded,
      .xInit = begin,
      .xShutdown = end,
  };
  sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
