/* dlsym's RTLD_NEXT */
#define _GNU_SOURCE
#include "system_calls.h"

#include <stdbool.h>
#include <string.h>

#if defined(__linux__)

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* A thread still makes calls after its sanitizer state has been torn down. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)
#endif

static __thread bool watching;
static __thread char found[256];
static __thread int ports;
static const char in_program = 0;

static void note(const char *name) {
  if (!watching || strstr(found, name) != NULL) return;
  if (strlen(found) + strlen(name) + 2 > sizeof found) return;
  if (found[0] != '\0') strcat(found, " ");
  strcat(found, name);
}

/* Only for calls from the program's own code, not from a dynamically linked library, which has its own business. */
static void note_own(const char *name, const void *caller) {
  Dl_info own, calling;
  if (!watching || ports > 0) return;
  if (dladdr(&in_program, &own) == 0 || dladdr(caller, &calling) == 0) return;
  if (own.dli_fbase == calling.dli_fbase) note(name);
}

void system_calls_enter_port(void) { ports++; }
void system_calls_leave_port(void) { ports--; }

void system_calls_watch(void) {
  found[0] = '\0';
  watching = true;
}

const char *system_calls_end(void) {
  watching = false;
  return found;
}

/* A definition in the program precedes libc's for every library linked to it; this calls libc's. */
#define INTERPOSE(result, name, parameters, arguments) \
  result name parameters {                             \
    static result(*next) parameters;                   \
    note(#name);                                       \
    if (next == NULL) {                                \
      void *symbol = dlsym(RTLD_NEXT, #name);          \
      memcpy(&next, &symbol, sizeof next);             \
    }                                                  \
    return next arguments;                             \
  }

INTERPOSE(int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now))
INTERPOSE(int, gettimeofday, (struct timeval *restrict now, void *restrict zone), (now, zone))
INTERPOSE(time_t, time, (time_t *now), (now))
INTERPOSE(int, nanosleep, (const struct timespec *span, struct timespec *left), (span, left))
INTERPOSE(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *span, struct timespec *left),
          (clock, flags, span, left))
INTERPOSE(int, usleep, (useconds_t span), (span))
INTERPOSE(int, poll, (struct pollfd *descriptors, nfds_t count, int milliseconds), (descriptors, count, milliseconds))
INTERPOSE(ssize_t, getrandom, (void *bytes, size_t count, unsigned flags), (bytes, count, flags))
INTERPOSE(int, getentropy, (void *bytes, size_t count), (bytes, count))

#define INTERPOSE_OWN(result, name, parameters, arguments) \
  result name parameters {                                 \
    static result(*next) parameters;                       \
    note_own(#name, __builtin_return_address(0));          \
    if (next == NULL) {                                    \
      void *symbol = dlsym(RTLD_NEXT, #name);              \
      memcpy(&next, &symbol, sizeof next);                 \
    }                                                      \
    return next arguments;                                 \
  }

INTERPOSE_OWN(int, flock, (int descriptor, int operation), (descriptor, operation))
INTERPOSE_OWN(char *, getcwd, (char *path, size_t size), (path, size))
INTERPOSE_OWN(char *, realpath, (const char *restrict path, char *restrict resolved), (path, resolved))
INTERPOSE_OWN(DIR *, opendir, (const char *path), (path))
INTERPOSE_OWN(int, mkdir, (const char *path, mode_t mode), (path, mode))
INTERPOSE_OWN(int, rename, (const char *old, const char *new), (old, new))
INTERPOSE_OWN(int, unlink, (const char *path), (path))
INTERPOSE_OWN(pid_t, getpid, (void), ())

/* SQLite seeds its generator from this file, whatever opens it; the program's own files go through their port. */
static void note_open(const char *name, const char *path, const void *caller) {
  if (strstr(path, "random") != NULL) note(path);
  note_own(name, caller);
}

#define INTERPOSE_OPEN(name)                                                    \
  int name(const char *path, int flags, ...) {                                  \
    static int (*next)(const char *, int, ...);                                 \
    note_open(#name, path, __builtin_return_address(0));                        \
    if (next == NULL) {                                                         \
      void *symbol = dlsym(RTLD_NEXT, #name);                                   \
      memcpy(&next, &symbol, sizeof next);                                      \
    }                                                                           \
    va_list list;                                                               \
    va_start(list, flags);                                                      \
    unsigned mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(list, unsigned) : 0; \
    va_end(list);                                                               \
    return next(path, flags, mode);                                             \
  }

INTERPOSE_OPEN(open)
INTERPOSE_OPEN(open64)

/* By number: Swift's own generator asks this way. */
long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (number == SYS_getrandom) note("getrandom");
  if (number == SYS_clock_gettime) note("clock_gettime");
  if (next == NULL) {
    void *symbol = dlsym(RTLD_NEXT, "syscall");
    memcpy(&next, &symbol, sizeof next);
  }
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (int index = 0; index < 6; index++) arguments[index] = va_arg(list, long);
  va_end(list);
  return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

void system_calls_enter_port(void) {}
void system_calls_leave_port(void) {}
void system_calls_watch(void) {}
const char *system_calls_end(void) { return ""; }

#endif
