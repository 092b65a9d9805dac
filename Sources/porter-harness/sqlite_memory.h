/* Memory for SQLite in an extension, from a few large blocks. */
#pragma once

/* Before SQLite is used for the first time. Debian's SQLite has no memory of its own for what is small and short-lived,
 * and asks malloc four thousand times for one push. */
void sqlite_memory_use(void);
