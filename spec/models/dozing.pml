/* A connection that dozes, other processes at the same files, and one that replaces the database: is what it keeps current?
 *
 * Sources/CDozingVFS as rules, over SQLite's protocol as far as it matters here: the shared lock on the database, the lock on the index
 * of the log, who begins the index anew, what the last process to close does, and how a connection finds that its cached
 * pages are old: it compares its copy of the index's header. A commit has a number. Whatever the order, and whoever is killed:
 *
 *   A connection that dozes holds no lock (INC-01).
 *   Awake, it reads what was committed last, and what it commits is in the files that all others use.
 *
 * DozingModelTests runs it, and removes the rules one at a time (-DWITHOUT_...). The run has to find each removal.
 *
 * Simplified: what SQLite does under a lock is one step; a log that is begun anew by a checkpoint has a header of its own (salts), one
 * that was recovered while it was empty has not.
 */
#ifndef COMMITS
#define COMMITS 3
#endif
#define TROUBLES 2 /* how often the log is emptied, WAL mode left, or the database replaced */
#define OTHERS 2

#define CLOSED 0
#define AWAKE 1
#define DOZING 2
#define NONE 255
#define RECOVERED_EMPTY 0
#define SALTED 100

byte base, logged;            /* the last commit in the database, and in the log; 0: none */
byte mainFile = 1, logFile;   /* which file each path leads to; 0: none */
bool isWAL = true, indexIsWhole;
byte header;
byte commits, troubles;
bool shared[3], mapped[3];    /* locks of the dozing one, 0, and of the others */
byte openers;                 /* of the opening lock */
bool replaces;                /* holds it alone */

byte state = CLOSED;
byte copy, cached = NONE, ownLog, ownMain;
bool hasWoken;

#define newest (base > logged -> base : logged)
#define isLocked (shared[0] || shared[1] || shared[2])
#define isMapped (mapped[0] || mapped[1] || mapped[2])

/* The number of a file that is open is not given to another. */
#define isPinned(number) (state != CLOSED && ownLog == (number))

inline makeLog() {
  if
  :: logFile == 0 && !isPinned(1) -> logFile = 1
  :: logFile == 0 && isPinned(1) -> logFile = 2
  :: else
  fi
}

/* The first to come does not believe the index that it finds. */
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

/* ---- The connection that dozes ---- */

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
  :: atomic { isOpen && commits < COMMITS -> recover(); commit() }
  :: atomic { isOpen && troubles < TROUBLES -> troubles++; writeBack(); indexIsWhole = true; header = SALTED + troubles }
  /* Killed. */
  :: atomic { isOpen -> shared[self] = false; mapped[self] = false; isOpen = false }
  /* The last to close deletes the log and its index. */
  :: atomic { isOpen -> shared[self] = false; mapped[self] = false; isOpen = false;
       if :: !isLocked -> writeBack(); logFile = 0; indexIsWhole = false :: else fi }
  /* Leaves WAL mode, which needs the database for itself, and commits without a log, whose file may stay. */
  :: atomic { isOpen && troubles < TROUBLES && commits < COMMITS && !shared[0] && !shared[3 - self] ->
       troubles++; writeBack(); isWAL = false; commits++; base++; indexIsWhole = false;
       shared[self] = false; mapped[self] = false; isOpen = false;
       if :: logFile = 0 :: true fi }
  od
}

/* Puts a copy in the database's place, as a change of the key does. */
active proctype replacer() {
  bool isAlone;
end:
  do
  :: atomic { troubles < TROUBLES && !replaces && openers == 0 -> troubles++; replaces = true };
     /* It needs the database for itself; the log that it has written back may stay, empty. */
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
