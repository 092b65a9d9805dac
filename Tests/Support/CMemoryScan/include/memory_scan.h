/// Looks for bytes in all of this process's memory, for tests of what is wiped.
#ifndef MEMORY_SCAN_H
#define MEMORY_SCAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// In how many places of this process's memory the bytes are that are the complement of these. So whoever asks need not
/// have in memory what must not be there. Guarded memory is looked into as well. -1 where memory cannot be read (other
/// systems than Linux). Once at a time; what other threads write meanwhile may be missed.
long memory_scan(const uint8_t *inverted, size_t length);

#ifdef __cplusplus
}
#endif

#endif
