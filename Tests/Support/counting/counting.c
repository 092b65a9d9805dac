/*
 * Counts a process's requests: loaded with LD_PRELOAD in front of its libraries. On exit the process writes one line of
 * counts to the file that PORTER_COUNTS_TO names:
 *
 *   allocations COUNT statements COUNT syncs COUNT threads COUNT
 *
 * Threads are those that it starts. A statement is one that a caller makes SQLite compile, also by `sqlite3_exec`,
 * which calls `sqlite3_prepare_v2` for each. Their texts follow the counts, each on its own line, for a caller that
 * used more of them than it may.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc's own names for the functions replaced here. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_llong allocations, statements, syncs, threads;

void *malloc(size_t size) {
  allocations++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  allocations++;
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  allocations++;
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  allocations++;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  allocations++;
  void *made = __libc_memalign(alignment, size);
  if (!made) return ENOMEM;
  *block = made;
  return 0;
}

/* The function that this library shadows. ISO C has no conversion from an object's address to a function's. */
#define NEXT(type, name)                 \
  static union {                         \
    void *object;                        \
    type function;                       \
  } next;                                \
  if (!next.object) next.object = dlsym(RTLD_NEXT, name)

typedef int synchronize(int);

int fsync(int file) {
  NEXT(synchronize *, "fsync");
  syncs++;
  return next.function(file);
}

int fdatasync(int file) {
  NEXT(synchronize *, "fdatasync");
  syncs++;
  return next.function(file);
}

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  NEXT(create_thread *, "pthread_create");
  threads++;
  return next.function(thread, attributes, start, argument);
}

typedef int prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
typedef int prepare_v3(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **);

/* Compiling a statement may read the schema, which compiles others. */
static _Thread_local int depth;

static char texts[1 << 16];
static atomic_size_t end_of_texts;

static void note(const char *text, int length) {
  size_t size = length < 0 ? strlen(text) : strnlen(text, (size_t)length);
  size_t start = atomic_fetch_add(&end_of_texts, size + 1);
  statements++;
  if (start + size + 1 > sizeof texts) return;
  for (size_t index = 0; index < size; index++) texts[start + index] = text[index] == '\n' ? ' ' : text[index];
  texts[start + size] = '\n';
}

int sqlite3_prepare_v2(sqlite3 *database, const char *text, int length, sqlite3_stmt **statement, const char **rest) {
  NEXT(prepare_v2 *, "sqlite3_prepare_v2");
  if (depth++ == 0) note(text, length);
  int code = next.function(database, text, length, statement, rest);
  depth--;
  return code;
}

int sqlite3_prepare_v3(sqlite3 *database, const char *text, int length, unsigned flags, sqlite3_stmt **statement,
                       const char **rest) {
  NEXT(prepare_v3 *, "sqlite3_prepare_v3");
  if (depth++ == 0) note(text, length);
  int code = next.function(database, text, length, flags, statement, rest);
  depth--;
  return code;
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("PORTER_COUNTS_TO");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  char line[128];
  int length = snprintf(line, sizeof line, "allocations %lld statements %lld syncs %lld threads %lld\n",
                        (long long)allocations, (long long)statements, (long long)syncs, (long long)threads);
  if (write(file, line, (size_t)length) != length) abort();
  size_t size = end_of_texts < sizeof texts ? end_of_texts : sizeof texts;
  if (write(file, texts, size) != (ssize_t)size) abort();
  close(file);
}
