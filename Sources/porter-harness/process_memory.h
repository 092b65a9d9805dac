/* The memory of an extension's process. */
#pragma once

/* What a host may do to its own process, but a library may not. Call before anything else. */
void process_memory_prepare(void);
