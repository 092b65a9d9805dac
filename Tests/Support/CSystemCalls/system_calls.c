/* dlsym's RTLD_NEXT */
#define _GNU_SOURCE
#include "system_calls.h"

#include <stdbool.h>
#include <string.h>

#if defined(__linux__)

#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static __thread bool watching;
static __thread char found[256];

static void note(const char *name) {
  if (!watching || strstr(found, name) != NULL) return;
  if (strlen(found) + strlen(name) + 2 > sizeof found) return;
  if (found[0] != '\0') strcat(found, " ");
  strcat(found, name);
}

void system_calls_watch(void) {
  found[0] = '\0';
  watching = true;
}

const char *system_calls_end(void) {
  watching = false;
  return found;
}

/* A definition in the program comes before libc's for every library that is linked to it; this calls libc's. */
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

/* By number: this is how Swift's own generator asks. */
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

#else

void system_calls_watch(void) {}
const char *system_calls_end(void) { return ""; }

#endif
