// Files that version 1 of the format wrote: lines of base64, ended by NULL.
#ifndef FIXTURES_H
#define FIXTURES_H

extern const char *const version_1_main[], *const version_1_log[];
extern const char *const version_1_half[], *const version_1_journal[];

#endif
