/* The memory of an extension's process. */
#pragma once

/* What a host may do with its own process, and a library may not. Before anything else is used. */
void process_memory_prepare(void);
