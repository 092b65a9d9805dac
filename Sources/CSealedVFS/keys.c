// The registry of databases and their keys. Key material is only in guarded memory that is wiped.
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>

#include "internal.h"

// In guarded memory.
struct secrets {
  uint8_t master[KEY_BYTES];
  uint8_t salt[SALT_BYTES]; // the salt that `master` was derived with
  bool has_master;
  bool is_passphrase;
  size_t length;
  char passphrase[];
};

struct key_entry {
  struct key_entry *next;
  struct secrets *secrets;  // NULL once no connection can need them
  pthread_mutex_t deriving; // held while a key is derived from them
  int users;                // open main files
  int needing;              // users that may still ask for a key
  bool listed;              // may be found by path
  bool keep;
  char path[];
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct key_entry *registry;

// Keys may be registered before the VFS is.
static bool is_ready(void) { return sodium_init() >= 0; }

// Wipes what no connection needs, and frees the entry with its last one. Called with the registry locked.
static void tidy(struct key_entry *entry) {
  if (entry->listed) { return; }
  if (entry->needing == 0) {
    guarded_free(entry->secrets);
    entry->secrets = NULL;
  }
  if (entry->users == 0) {
    pthread_mutex_destroy(&entry->deriving);
    free(entry);
  }
}

static void unlist(struct key_entry *entry) {
  struct key_entry **link = &registry;
  while (*link != entry) { link = &(*link)->next; }
  *link = entry->next;
  entry->listed = false;
  tidy(entry);
}

static struct key_entry *find(const char *path) {
  for (struct key_entry *entry = registry; entry != NULL; entry = entry->next) {
    if (strcmp(entry->path, path) == 0) { return entry; }
  }
  return NULL;
}

// The path as SQLite will pass it to the VFS: absolute, links resolved. NULL if there is no such path or no memory;
// free it with sqlite3_free.
static char *full_path(const char *path) {
  sqlite3_vfs *base = sqlite3_vfs_find(NULL);
  if (path == NULL || base == NULL) { return NULL; }
  char *result = sqlite3_malloc(base->mxPathname + 2);
  if (result == NULL) { return NULL; }
  memset(result, 0, (size_t)base->mxPathname + 2);
  int code = base->xFullPathname(base, path, base->mxPathname + 1, result);
  if (code != SQLITE_OK && code != SQLITE_OK_SYMLINK) {
    sqlite3_free(result);
    return NULL;
  }
  return result;
}

static int add(const char *path, struct secrets *secrets, unsigned flags) {
  char *full = full_path(path);
  if (full == NULL) {
    guarded_free(secrets);
    return SQLITE_CANTOPEN;
  }
  struct key_entry *entry = calloc(1, sizeof *entry + strlen(full) + 1);
  if (entry == NULL) {
    guarded_free(secrets);
    sqlite3_free(full);
    return SQLITE_NOMEM;
  }
  memcpy(entry->path, full, strlen(full) + 1);
  sqlite3_free(full);
  entry->secrets = secrets;
  entry->deriving = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  entry->listed = true;
  entry->keep = (flags & SEALED_VFS_KEEP_KEY) != 0;
  pthread_mutex_lock(&registry_lock);
  struct key_entry *former = find(entry->path);
  if (former != NULL) { unlist(former); }
  entry->next = registry;
  registry = entry;
  pthread_mutex_unlock(&registry_lock);
  return SQLITE_OK;
}

int sealed_vfs_set_key(const char *path, const uint8_t key[KEY_BYTES], unsigned flags) {
  if (path == NULL || key == NULL || !is_ready()) { return SQLITE_MISUSE; }
  struct secrets *secrets = guarded_allocate(sizeof *secrets);
  if (secrets == NULL) { return SQLITE_NOMEM; }
  memset(secrets, 0, sizeof *secrets);
  memcpy(secrets->master, key, KEY_BYTES);
  secrets->has_master = true;
  return add(path, secrets, flags);
}

int sealed_vfs_set_passphrase(const char *path, const char *passphrase, size_t length, unsigned flags) {
  if (path == NULL || passphrase == NULL || length > 4096 || !is_ready()) { return SQLITE_MISUSE; }
  // Rounded up to keep the contents aligned: sodium_malloc puts the end at the guard page.
  size_t bytes = (sizeof(struct secrets) + length + 15) / 16 * 16;
  struct secrets *secrets = guarded_allocate(bytes);
  if (secrets == NULL) { return SQLITE_NOMEM; }
  memset(secrets, 0, bytes);
  memcpy(secrets->passphrase, passphrase, length);
  secrets->length = length;
  secrets->is_passphrase = true;
  return add(path, secrets, flags);
}

int sealed_vfs_forget_key(const char *path) {
  char *full = full_path(path);
  if (full == NULL) { return SQLITE_CANTOPEN; }
  pthread_mutex_lock(&registry_lock);
  struct key_entry *entry = find(full);
  if (entry != NULL) { unlist(entry); }
  pthread_mutex_unlock(&registry_lock);
  sqlite3_free(full);
  return entry == NULL ? SQLITE_NOTFOUND : SQLITE_OK;
}

int sealed_vfs_derive_key(const char *passphrase, size_t length, const uint8_t salt[SALT_BYTES],
                          uint8_t key[KEY_BYTES]) {
  if (passphrase == NULL || salt == NULL || key == NULL || !is_ready()) { return SQLITE_MISUSE; }
  _Static_assert(SALT_BYTES == crypto_pwhash_argon2id_SALTBYTES, "salt of Argon2id");
  int failed =
      crypto_pwhash_argon2id(key, KEY_BYTES, passphrase, length, salt, crypto_pwhash_argon2id_OPSLIMIT_INTERACTIVE,
                             crypto_pwhash_argon2id_MEMLIMIT_INTERACTIVE, crypto_pwhash_argon2id_ALG_ARGON2ID13);
  // It leaves the key in its old stack frames.
  sodium_stackzero(16384);
  return failed != 0 ? SQLITE_NOMEM : SQLITE_OK;
}

struct key_entry *keys_retain(const char *path) {
  pthread_mutex_lock(&registry_lock);
  struct key_entry *entry = find(path);
  if (entry != NULL) {
    entry->users++;
    entry->needing++;
  }
  pthread_mutex_unlock(&registry_lock);
  return entry;
}

void keys_settle(struct key_entry *entry) {
  pthread_mutex_lock(&registry_lock);
  entry->needing--;
  tidy(entry);
  pthread_mutex_unlock(&registry_lock);
}

void keys_release(struct key_entry *entry, bool is_settled) {
  pthread_mutex_lock(&registry_lock);
  entry->users--;
  if (!is_settled) { entry->needing--; }
  if (entry->users == 0 && entry->listed && !entry->keep) {
    unlist(entry);
  } else {
    tidy(entry);
  }
  pthread_mutex_unlock(&registry_lock);
}

// Called with the entry locked: another thread that opens the same file waits instead of deriving the same key again. A
// thread that opens another file does not wait.
static sealed_vfs_kind master_for_salt(struct secrets *secrets, const uint8_t salt[SALT_BYTES]) {
  if (!secrets->is_passphrase || (secrets->has_master && memcmp(secrets->salt, salt, SALT_BYTES) == 0)) {
    return SEALED_VFS_NOTHING;
  }
  secrets->has_master = false;
  if (sealed_vfs_derive_key(secrets->passphrase, secrets->length, salt, secrets->master) != SQLITE_OK) {
    return SEALED_VFS_NO_MEMORY;
  }
  memcpy(secrets->salt, salt, SALT_BYTES);
  secrets->has_master = true;
  return SEALED_VFS_NOTHING;
}

sealed_vfs_kind keys_for_file(struct key_entry *entry, const uint8_t *label, struct file_keys *keys) {
  // Not wiped while this file may need them.
  struct secrets *secrets = entry->secrets;
  uint8_t new_label[LABEL_BYTES];
  if (label == NULL) {
    // Always a new salt: a file that is deleted and recreated must not accept pages of the old one.
    uint8_t salt[SALT_BYTES];
    randombytes_buf(salt, SALT_BYTES);
    seal_new_label(new_label, seal_chosen_cipher(), salt, secrets->is_passphrase);
  }
  pthread_mutex_lock(&entry->deriving);
  sealed_vfs_kind kind = master_for_salt(secrets, seal_label_salt(label != NULL ? label : new_label));
  if (kind == SEALED_VFS_NOTHING) {
    seal_file_keys(keys, secrets->master, label != NULL ? label : new_label);
    if (label != NULL && memcmp(keys->label, label, LABEL_BYTES) != 0) { kind = SEALED_VFS_WRONG_KEY; }
  }
  pthread_mutex_unlock(&entry->deriving);
  return kind;
}

struct file_keys *keys_allocate(void) { return guarded_allocate(sizeof(struct file_keys)); }

void keys_wipe(struct file_keys *keys) { guarded_free(keys); }

// Reads the start of a file, and the label of its first page, which identifies it. Uses SQLite's own VFS: closing a
// file by other means would drop all of the process's locks on it, those of open connections included (POSIX).
static int read_first_label(sqlite3_file *file, uint8_t label[LABEL_BYTES]) {
  uint8_t header[CLEAR_BYTES];
  sqlite3_int64 size = 0;
  int code = file->pMethods->xFileSize(file, &size);
  if (code != SQLITE_OK) { return code; }
  if (size == 0) { return SQLITE_NOTFOUND; }
  code = file->pMethods->xRead(file, header, sizeof header, 0);
  if (code == SQLITE_OK && header_kind(header) != SEALED_VFS_NOTHING) { return SQLITE_NOTADB; }
  if (code == SQLITE_OK) {
    code = file->pMethods->xRead(file, label, LABEL_BYTES, header_page_size(header) - TRAILER_BYTES);
  }
  if (code == SQLITE_OK && seal_salt_beside(label) != 0) {
    code = file->pMethods->xRead(file, label + MARK_BYTES, SALT_BYTES, CLEAR_BYTES);
  }
  if (code != SQLITE_OK) { return code == SQLITE_IOERR_SHORT_READ ? SQLITE_NOTADB : code; }
  sealed_vfs_kind kind = seal_mark_kind(label);
  return kind == SEALED_VFS_NOTHING || kind == SEALED_VFS_CIPHER_UNAVAILABLE ? SQLITE_OK : SQLITE_NOTADB;
}

static int read_label_at(const char *path, uint8_t label[LABEL_BYTES]) {
  sqlite3_vfs *base = sqlite3_vfs_find(NULL);
  char *full = full_path(path);
  if (full == NULL) { return SQLITE_CANTOPEN; }
  int exists = 0;
  int code = base->xAccess(base, full, SQLITE_ACCESS_EXISTS, &exists);
  sqlite3_filename name = sqlite3_create_filename(full, "", "", 0, NULL);
  sqlite3_file *file = sqlite3_malloc(base->szOsFile);
  if (file == NULL || name == NULL) {
    code = SQLITE_NOMEM;
  } else if (code == SQLITE_OK && !exists) {
    code = SQLITE_NOTFOUND;
  } else if (code == SQLITE_OK) {
    memset(file, 0, (size_t)base->szOsFile);
    code = base->xOpen(base, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL);
    if (code == SQLITE_OK) { code = read_first_label(file, label); }
    if (file->pMethods != NULL) { file->pMethods->xClose(file); }
  }
  sqlite3_free(file);
  sqlite3_free_filename(name);
  sqlite3_free(full);
  return code;
}

int sealed_vfs_read_salt(const char *path, uint8_t salt[SALT_BYTES], int *is_passphrase) {
  if (path == NULL || salt == NULL) { return SQLITE_MISUSE; }
  uint8_t label[LABEL_BYTES];
  int code = read_label_at(path, label);
  if (code != SQLITE_OK) { return code; }
  memcpy(salt, seal_label_salt(label), SALT_BYTES);
  if (is_passphrase != NULL) { *is_passphrase = seal_mark_is_passphrase(label); }
  return SQLITE_OK;
}

int sealed_vfs_read_cipher(const char *path, sealed_vfs_cipher *cipher) {
  if (path == NULL || cipher == NULL) { return SQLITE_MISUSE; }
  uint8_t label[LABEL_BYTES];
  int code = read_label_at(path, label);
  if (code == SQLITE_OK) { *cipher = seal_mark_cipher(label); }
  return code;
}

sealed_vfs_kind sealed_vfs_inspect(sqlite3 *database) {
  sqlite3_file *file = NULL;
  uint8_t label[LABEL_BYTES] = {0};
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK || file == NULL || file->pMethods == NULL) { return SEALED_VFS_NOT_A_DATABASE; }
  code = read_first_label(file, label);
  if (code == SQLITE_OK) { return seal_mark_kind(label); }
  // It stays zero if it was not read, and is zero in a plain database that only reserves the room.
  return code == SQLITE_NOTADB && !is_all_zero(label, sizeof label) ? seal_mark_kind(label) : SEALED_VFS_NOT_SEALED;
}
