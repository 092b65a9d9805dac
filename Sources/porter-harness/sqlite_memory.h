/* Memory for SQLite in an extension, from a few large blocks. */
#pragma once

/* Call before the first use of SQLite. Debian's SQLite has no memory of its own for small, short-lived pieces, and
 * calls malloc four thousand times for one push. */
void sqlite_memory_use(void);
