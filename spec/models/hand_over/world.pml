/* What both processes see: the relay, the store, the wake-ups, and the system that freezes, thaws and kills. */

/* The relay. Messages `dropped` .. `sent` - 1 wait; the oldest is given first (relay.md, rule 2). */
byte sent = 0;
byte dropped = 0;

/* Wake-ups are edges: one that is consumed does not come again. The byte in the app's socket is sent to a process that has
 * subscribed (EmbeddedRelay.wake, Engine.relayHasNews). Of the pushes a provider keeps the newest (INC-38). */
bool subscribed = false;
bool wakeByte = false;
bool pushDue = false;

/* The store. `lock` is SQLite's write lock; the rest is stored. `ratchet` is the message that the chain's next step opens;
 * `ledger` holds the state of each message's entry, as the machine has it. */
byte lock = NOBODY;
byte owner = NOBODY;
byte ratchet = 0;
byte ledger[MESSAGES] = ledger_entry_initial;

/* The processes. `atWork` is the lock on the phase file, which the kernel releases with the process. */
bool atWork[2] = false;
bool busy[2] = false;      /* not suspended: the system may kill or freeze it */
bool listens = false;      /* the app's end of the channel is open */
bool onScreen = true;      /* an app that is at work is on screen, or makes a round in the background (-DBACKGROUND) */
bool draining = false;     /* the app suspends: it finishes what has begun, until the deadline */
/* Epochs are compared for equality only, so that two bits are enough: the stored epoch is the one that this process was
 * granted; it is the one that this process has read. */
bool current[2] = false;
bool unchanged[2] = false;

/* Hints on the channel: the extension has stored something; the app has come to the front, and asks the extension to yield. */
bool changed = false;
bool yieldAsked = false;

/* The system. */
bool killed[2] = false;
bool frozen[2] = false;
bool lasting[2] = false;   /* frozen until everything has arrived */
bool inside[2] = false;    /* inside a transaction, a few milliseconds long */
byte troubles = 0;
byte launches = 0;

/* What the user sees, and what only the properties look at. */
byte told = 0;             /* ledger entries that the app's host knows: Engine.knownEntry */
byte stored[MESSAGES] = 0;
byte notified[MESSAGES] = 0;
bool steady = false;       /* the app claimed while on screen, and has been there, unfrozen, ever since */

bool over = false;         /* everything has arrived; the processes come to their ends */

#define isStored(m) (ledger[m] != ledger_entry_state_seen)
#define isKnown(m) (ledger[m] == ledger_entry_state_presented || (atWork[APP] && onScreen && told > m))
#if MESSAGES == 1
#define forEach(what) what(0)
#define arrived (dropped == MESSAGES && ratchet == MESSAGES && isKnown(0))
#define isDue (ledger[0] == ledger_entry_state_committed)
#else
#define forEach(what) what(0); what(1)
#define arrived (dropped == MESSAGES && ratchet == MESSAGES && isKnown(0) && isKnown(1))
#define isDue (ledger[0] == ledger_entry_state_committed || ledger[1] == ledger_entry_state_committed)
#endif

/* An app that is at work, is not frozen, and listens answers a question (Engine.hear). */
#define appAnswers (listens && atWork[APP] && !frozen[APP])

/* The system kills and freezes a process at any moment, TROUBLES times in all. A process that is frozen inside a transaction
 * continues or is killed (0xdead10cc); frozen anywhere else it may stay frozen until everything has arrived without it. A push
 * thaws the extension unless the app is on screen and can receive. */
inline kill(victim) {
  killed[victim] = true;
  frozen[victim] = false; lasting[victim] = false; inside[victim] = false;
  /* The kernel releases what the process held; SQLite rolls its transaction back. */
  if :: lock == victim -> lock = NOBODY :: else fi;
  atWork[victim] = false;
  busy[victim] = false;
  current[victim] = false; unchanged[victim] = false;
  if
  :: victim == APP ->
     listens = false; draining = false; subscribed = false; wakeByte = false; changed = false; steady = false;
     if :: owner == APP -> owner = GONE :: else fi
  :: else -> yieldAsked = false
  fi
}

#define mayStrike (troubles < TROUBLES && !over)

proctype system() {
  do
  :: d_step { mayStrike && busy[APP] -> troubles++; kill(APP) }
  :: d_step { mayStrike && busy[EXTENSION] -> troubles++; kill(EXTENSION) }
  :: atomic {
       mayStrike && busy[APP] && !frozen[APP] ->
       troubles++; frozen[APP] = true; steady = false;
       if :: lasting[APP] = !inside[APP] :: true fi
     }
  :: atomic {
       mayStrike && busy[EXTENSION] && !frozen[EXTENSION] ->
       troubles++; frozen[EXTENSION] = true;
       if :: lasting[EXTENSION] = !inside[EXTENSION] :: true fi
     }
  :: d_step { frozen[APP] && (!lasting[APP] || over) -> frozen[APP] = false; lasting[APP] = false }
  :: d_step {
       frozen[EXTENSION] && (!lasting[EXTENSION] || over || !atWork[APP] || !onScreen || frozen[APP]) ->
       frozen[EXTENSION] = false; lasting[EXTENSION] = false
     }
  :: over && !frozen[APP] && !frozen[EXTENSION] -> break
  od
}

/* The user leaves the app, or stays; a round in the background comes to its end. The phase lock is released first (app_phase, background). */
proctype user() {
  do
  :: d_step {
       atWork[APP] && !frozen[APP] && !inside[APP] ->
       draining = true; atWork[APP] = false; steady = false
     }
#ifdef LIVENESS
  :: atWork[APP] && onScreen -> skip
#endif
  :: over -> break
  od
}

/* A message is stored at the relay, which wakes the app if it has subscribed, and the notification server. */
proctype sender() {
  do
  :: d_step { sent < MESSAGES -> sent++; wakeByte = subscribed; pushDue = true }
  :: else -> break
  od
}

/* The server's periodic "check messages" push makes up for wake-ups that led to nothing: a message comes while the app is at work,
 * the extension leaves it to the app, and the app suspends before it looks. */
proctype server() {
  do
  :: atomic { sent == MESSAGES && !pushDue && !over && !busy[EXTENSION] -> pushDue = true }
  :: atomic { arrived -> over = true; break }
  od
}
