/* A dozing connection, other processes using the same files, and one that replaces the database: does its cache stay current?
 *
 * Models Sources/CDozingVFS over the relevant part of SQLite's protocol: the shared lock on the database, the lock on the log's
 * index, which process rebuilds the index, what the last process to close does, and how a connection detects stale cached pages:
 * it compares its copy of the index's header. Each commit has a number. In every order, and whichever process is killed:
 *
 *   A dozing connection holds no lock (INC-01).
 *   Awake, it reads the latest commit, and commits to the files that all other processes use.
 *
 * DozingModelTests runs it, and removes the rules one at a time (-DWITHOUT_...). The run must find each removal.
 *
 * Simplified: whatever SQLite does under a lock is one step; a log restarted by a checkpoint has its own header (salts), one
 * recovered while empty has not.
 */
#ifndef COMMITS
#define COMMITS 3
#endif
#define TROUBLES 2 /* how many times the log is emptied, WAL mode left, or the database replaced */
#define OTHERS 2

#define CLOSED 0
#define AWAKE 1
#define DOZING 2
#define NONE 255
#define RECOVERED_EMPTY 0
#define SALTED 100

byte base, logged;            /* the latest commit in the database, and in the log; 0: none */
byte mainFile = 1, logFile;   /* the file at each path; 0: none */
bool isWAL = true, indexIsWhole;
byte header;
byte commits, troubles;
bool shared[3], mapped[3];    /* locks of the dozing connection, 0, and of the others */
byte openers;                 /* shared holders of the opening lock */
bool replaces;                /* the opening lock is held exclusively */

byte state = CLOSED;
byte copy, cached = NONE, ownLog, ownMain;
bool hasWoken;

#define newest (base > logged -> base : logged)
#define isLocked (shared[0] || shared[1] || shared[2])
#define isMapped (mapped[0] || mapped[1] || mapped[2])

/* An open file's number is not reused for another file. */
#define isPinned(number) (state != CLOSED && ownLog == (number))

inline makeLog() {
  if
  :: logFile == 0 && !isPinned(1) -> logFile = 1
  :: logFile == 0 && isPinned(1) -> logFile = 2
  :: else
  fi
}

/* The first process to map the index does not trust its contents. */
inline mapIndex(process) {
  if :: !isMapped -> indexIsWhole = false :: else fi;
  mapped[process] = true
}

inline openFiles(process) {
  if
  :: !isWAL -> isWAL = true; logged = 0; indexIsWhole = false
  :: else
  fi;
  makeLog();
  shared[process] = true;
  mapIndex(process)
}

inline recover() {
  if
  :: !indexIsWhole -> indexIsWhole = true; header = (logged > 0 -> logged : RECOVERED_EMPTY)
  :: else
  fi
}

inline commit() {
  commits++;
  logged = newest + 1;
  header = logged
}

/* ---- The dozing connection ---- */

inline use() {
  assert(ownMain == mainFile && ownLog == logFile && isWAL);
  if
  :: !indexIsWhole -> recover(); copy = header; cached = NONE
  :: indexIsWhole && copy != header -> copy = header; cached = NONE
  :: else
  fi;
  if :: cached == NONE -> cached = newest :: else fi;
  assert(cached == newest);
#ifdef WITHOUT_WAKING
  assert(!hasWoken);
#endif
  if
  :: commits < COMMITS -> commit(); copy = header; cached = logged
  :: true
  fi
}

inline release() {
  shared[0] = false; mapped[0] = false
}

#ifdef WITHOUT_COMPARING_THE_LOG
#define isSameLog true
#else
#define isSameLog (logFile == ownLog)
#endif
#ifdef WITHOUT_COMPARING_THE_DATABASE
#define isSameMain true
#else
#define isSameMain (mainFile == ownMain)
#endif
#ifdef WITHOUT_READING_THE_MODE
#define isSameMode true
#else
#define isSameMode isWAL
#endif
#define isSame (isSameLog && isSameMain && isSameMode)

active proctype dozer() {
  bool found;
end:
  do
  :: atomic { state == CLOSED && !replaces ->
       openFiles(0); state = AWAKE; ownLog = logFile; ownMain = mainFile; copy = NONE; cached = NONE; hasWoken = false }
  :: atomic { state == AWAKE -> use() }
  :: atomic { state == AWAKE ->
#ifndef WITHOUT_DROPPING_PAGES
       cached = NONE;
#endif
#ifdef WITHOUT_RELEASING_THE_INDEX
       shared[0] = false;
#else
       release();
#endif
       state = DOZING }
  :: atomic { state == DOZING -> assert(!shared[0] && !mapped[0]) }
  :: atomic { state == DOZING -> release(); state = CLOSED; ownLog = 0 }
  :: state == DOZING ->
#ifdef WITHOUT_THE_OPENING_LOCK
     openers = openers;
#else
     atomic { !replaces -> openers++ };
#endif
#ifdef WITHOUT_LOCKING_FIRST
     found = isSame;
     shared[0] = true;
#else
     shared[0] = true;
     found = isSame;
#endif
     atomic {
       if
       :: found -> mapIndex(0); state = AWAKE; hasWoken = true
       :: else -> release(); state = CLOSED; ownLog = 0
       fi;
       found = false;
#ifndef WITHOUT_THE_OPENING_LOCK
       openers--
#endif
     }
  od
}

/* ---- Others ---- */

inline writeBack() {
  base = newest; logged = 0
}

active [OTHERS] proctype other() {
  byte self = _pid;
  bool isOpen;
end:
  do
  :: atomic { !isOpen && !replaces -> openFiles(self); recover(); isOpen = true }
  :: atomic { isOpen && commits < COMMITS -> assert(indexIsWhole); commit() }
  :: atomic { isOpen && troubles < TROUBLES -> troubles++; writeBack(); indexIsWhole = true; header = SALTED + troubles }
  /* Killed. */
  :: atomic { isOpen -> shared[self] = false; mapped[self] = false; isOpen = false }
  /* The last process to close deletes the log and its index. */
  :: atomic { isOpen -> shared[self] = false; mapped[self] = false; isOpen = false;
       if :: !isLocked -> writeBack(); logFile = 0; indexIsWhole = false :: else fi }
  /* Leaves WAL mode, which needs exclusive use of the database, and commits without a log, whose file may remain. */
  :: atomic { isOpen && troubles < TROUBLES && commits < COMMITS && !shared[0] && !shared[3 - self] ->
       troubles++; writeBack(); isWAL = false; commits++; base++; indexIsWhole = false;
       shared[self] = false; mapped[self] = false; isOpen = false;
       if :: logFile = 0 :: true fi }
  od
}

/* Replaces the database with a copy, as a key change does. */
active proctype replacer() {
  bool isAlone;
end:
  do
  :: atomic { troubles < TROUBLES && !replaces && openers == 0 -> troubles++; replaces = true };
     /* It needs exclusive use of the database; the log that it has written back may remain, empty. */
     atomic {
       isAlone = !isLocked;
       if
       :: isAlone -> writeBack(); indexIsWhole = false; if :: logFile = 0 :: true fi
       :: else
       fi
     };
     atomic {
       if
       :: isAlone && !(state != CLOSED && ownMain == 3 - mainFile) -> mainFile = 3 - mainFile
       :: else
       fi;
       isAlone = false;
       replaces = false
     }
  od
}
