#include "process_memory.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>

#include "sqlite_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

/* Less than a push takes from the heap, and the amount by which the heap grows. */
enum { HEAP = 512 << 10 };

#ifdef MADV_POPULATE_WRITE
/* Defined by the linker. */
extern char __bss_start[];

/* Follows the variables written by a push, where `scripts/order` has put those first. */
char process_memory_hot_end;

/* The system provides pages one by one as they are touched, each by an exception, which costs more than asking for all
 * of them. A kernel before 5.14 refuses, and then they come one by one. */
static void populate(const char *from, const char *to) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = ((uintptr_t)from + page - 1) / page * page, end = (uintptr_t)to / page * page;
  if (begin < end) (void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}

static void populate_memory(void) {
  populate(__bss_start, &process_memory_hot_end);
  /* At the heap's end, followed by the piece that the heap has grown by. */
  char *piece = malloc(HEAP / 8);
  if (piece == NULL) return;
  const char *end = sbrk(0);
  populate(piece, piece < end && end - piece > HEAP ? piece + HEAP : end);
  free(piece);
}
#else
static void populate_memory(void) {}
#endif

/* The threads of a push work in turn, so one arena serves them all. Its memory is requested in one piece, and kept
 * until the next push. SQLite's memory statistics take a lock with each allocation, and nothing uses them. */
void process_memory_prepare(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, HEAP);
  mallopt(M_TRIM_THRESHOLD, 2 << 20);
#endif
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite_memory_use();
  populate_memory();
}
