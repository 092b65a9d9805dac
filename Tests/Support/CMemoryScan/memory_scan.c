// Reads /proc/self/maps, and the resident pages of each readable mapping.
#define _GNU_SOURCE
#include "memory_scan.h"

#if defined(__linux__)

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIECE = 1 << 20, LONGEST = 4096 };

// Not searched itself: everything read passes through here.
static uint8_t piece[LONGEST + PIECE];

static long count_in(const uint8_t *bytes, size_t count, const uint8_t *inverted, size_t length) {
  long found = 0;
  const int first = inverted[0] ^ 0xff;
  const uint8_t *at = bytes, *end = bytes + count;
  while (at < end && (at = memchr(at, first, (size_t)(end - at))) != NULL) {
    size_t same = 0;
    while (same < length && at + same < end && (at[same] ^ inverted[same]) == 0xff) { same++; }
    if (same == length) { found++; }
    at++;
  }
  return found;
}

// The number of bytes that can be read from `address` on; 0 if none.
static size_t load(uintptr_t address, size_t count, uint8_t *into) {
  struct iovec local = {into, count}, remote = {(void *)address, count};
  ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  return got > 0 ? (size_t)got : 0;
}

// The kernel's information on consecutive pages; under a sanitizer there are millions that are not resident.
static uint64_t entries[4096];
static uintptr_t first_entry;
static size_t known_entries;

static bool is_there(int pagemap, uintptr_t page) {
  if (page < first_entry || page - first_entry >= known_entries) {
    ssize_t got = pread(pagemap, entries, sizeof entries, (off_t)(page * sizeof entries[0]));
    first_entry = page;
    known_entries = got > 0 ? (size_t)got / sizeof entries[0] : 0;
    if (known_entries == 0) { return true; }
  }
  return (entries[page - first_entry] >> 62) != 0; // in memory, or swapped out
}

static long count_from(int pagemap, uintptr_t start, uintptr_t end, const uint8_t *inverted, size_t length) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  long found = 0;
  size_t kept = 0; // the end of the previous page, for matches that span both
  for (uintptr_t at = start; at < end;) {
    size_t count = 0;
    while (at + count < end && count + page <= PIECE && is_there(pagemap, (at + count) / page)) { count += page; }
    size_t got = count == 0 ? 0 : load(at, count, piece + kept);
    if (got == 0) {
      kept = 0;
      at += page;
      continue;
    }
    found += count_in(piece, kept + got, inverted, length);
    size_t total = kept + got;
    kept = total < length - 1 ? total : length - 1;
    memmove(piece, piece + total - kept, kept);
    at += got;
  }
  return found;
}

long memory_scan(const uint8_t *inverted, size_t length) {
  if (length < 8 || length > LONGEST) { return -1; }
  FILE *maps = fopen("/proc/self/maps", "re");
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  long found = maps == NULL || pagemap < 0 ? -1 : 0;
  known_entries = 0;
  const uintptr_t own_start = (uintptr_t)piece, own_end = own_start + sizeof piece;
  char line[512];
  while (found >= 0 && fgets(line, sizeof line, maps) != NULL) {
    unsigned long start, end;
    char rights[5];
    if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3 || rights[0] != 'r') { continue; }
    // Shadow memory of sanitizers is not searched.
    if (end - start > (1UL << 36)) { continue; }
    if (own_start >= end || own_end <= start) {
      found += count_from(pagemap, start, end, inverted, length);
    } else {
      if (own_start > start) { found += count_from(pagemap, start, own_start, inverted, length); }
      if (own_end < end) { found += count_from(pagemap, own_end, end, inverted, length); }
    }
  }
  if (maps != NULL) { fclose(maps); }
  if (pagemap >= 0) { close(pagemap); }
  memset(piece, 0, sizeof piece);
  return found;
}

#else

long memory_scan(const uint8_t *inverted, size_t length) {
  (void)inverted;
  (void)length;
  return -1;
}

#endif
