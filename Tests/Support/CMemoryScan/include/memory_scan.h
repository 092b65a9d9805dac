/// Searches all of this process's memory for bytes, to test wiping.
#ifndef MEMORY_SCAN_H
#define MEMORY_SCAN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The number of places in this process's memory with the complement of these bytes, so that the caller need not itself
/// hold the forbidden bytes in memory. Guarded memory is searched as well. -1 where memory cannot be read (systems
/// other than Linux). One call at a time; concurrent writes by other threads may be missed.
long memory_scan(const uint8_t *inverted, size_t length);

#ifdef __cplusplus
}
#endif

#endif
