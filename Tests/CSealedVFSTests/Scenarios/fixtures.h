// Files as they were on disk: lines of base64, terminated by NULL.
#ifndef FIXTURES_H
#define FIXTURES_H

extern const char *const version_1_main[], *const version_1_log[];
extern const char *const version_1_half[], *const version_1_journal[]; // written by version 1
extern const char *const aegis_main[], *const aegis_log[];
// Writes a fixture to a file.
void fixture_store(const char *path, const char *const *lines);

#endif
