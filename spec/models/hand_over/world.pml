/* The shared environment: the relay, the store, the wake-ups, and the system that freezes, thaws and kills. */

/* The relay. Messages `dropped` .. `sent` - 1 wait; the oldest is delivered first (relay.md, rule 2). */
byte sent = 0;
byte dropped = 0;

/* Wake-ups are edge-triggered: a consumed one does not come again. The byte in the app's socket is sent to a subscribed process
 * (EmbeddedRelay.wake, Receiver.takeNews). A provider keeps only the newest push (INC-38). */
bool subscribed = false;
bool wakeByte = false;
bool pushDue = false;

/* The store. `lock` is SQLite's write lock; the rest is stored data. `ratchet` is the message that the chain's next step
 * decrypts; `ledger` holds the machine state of each message's entry. */
byte lock = NOBODY;
byte owner = NOBODY;
byte ratchet = 0;
byte ledger[MESSAGES] = ledger_entry_initial;

/* The processes. `atWork` is the lock on the phase file, which the kernel releases with the process. */
bool atWork[2] = false;
bool busy[2] = false;      /* not suspended: the system may kill or freeze it */
bool listens = false;      /* the app's end of the channel is open */
bool onScreen = true;      /* an app at work is on screen, or in a background round (-DBACKGROUND) */
bool draining = false;     /* the app suspends: it finishes work in progress, until the deadline */
/* Epochs are only compared for equality, so two bits are enough: the stored epoch is the one this process was granted; it is the
 * one this process has read. */
bool current[2] = false;
bool unchanged[2] = false;

/* Hints on the channel: the extension has stored something; it has a push, and asks whether the app is at work; the app is in the
 * foreground and asks the extension to yield. A question is left out if the app would find nothing new. */
bool changed = false;
bool hasPush = false;
bool yieldAsked = false;
#ifdef LIVENESS
bool hasLoss = false;      /* a message about a commit was lost; only liveness depends on it */
#define noteLoss hasLoss = hasLoss || listens
#else
#define hasLoss false
#define noteLoss skip
#endif

/* The system. */
bool killed[2] = false;
bool frozen[2] = false;
bool lasting[2] = false;   /* frozen until everything has arrived */
bool inside[2] = false;    /* inside a transaction, a few milliseconds long */
byte troubles = 0;
byte launches = 0;

/* What the user sees, and state used only by the properties. */
byte told = 0;             /* ledger entries known to the app's host: CommittedChanges.knownEntry */
byte stored[MESSAGES] = 0;
byte notified[MESSAGES] = 0;
byte unseen = 0;           /* recorded as shown by an extension that was killed before its host showed it, one bit each */
bool steady = false;       /* the app claimed while on screen, and has stayed there, unfrozen, ever since */

bool over = false;         /* everything has arrived; the processes are ending */

#define isStored(m) (ledger[m] != ledger_entry_state_seen)
/* The user sees the app. */
#define isSeen (onScreen && !draining)
/* The user has seen it, or can, or a kill cost its banner: an entry is recorded as shown before its host shows it. */
#define isKnown(m) (notified[m] > 0 || ((unseen >> (m)) & 1) || (atWork[APP] && onScreen && told > m))
#if MESSAGES == 1
#define forEach(what) what(0)
#define arrived (dropped == MESSAGES && ratchet == MESSAGES && isKnown(0))
#define isDue (ledger[0] == ledger_entry_state_committed)
#else
#define forEach(what) what(0); what(1)
#define arrived (dropped == MESSAGES && ratchet == MESSAGES && isKnown(0) && isKnown(1))
#define isDue (ledger[0] == ledger_entry_state_committed || ledger[1] == ledger_entry_state_committed)
#endif

/* An app answers a question if it is at work, not frozen, and listening (PeerLink.receive). */
#define appAnswers (listens && atWork[APP] && !frozen[APP])

/* The system kills and freezes processes at any moment, TROUBLES times in total. A process frozen inside a transaction continues
 * or is killed (0xdead10cc); frozen anywhere else, it may stay frozen until everything has arrived without it, except an extension
 * after a message about a commit was lost: no further push would have an app on screen look. A push thaws the extension unless the
 * app is on screen and can receive. */
inline kill(victim) {
  killed[victim] = true;
  frozen[victim] = false; lasting[victim] = false; inside[victim] = false;
  /* The kernel releases the process's locks; SQLite rolls back its transaction. */
  if :: lock == victim -> lock = NOBODY :: else fi;
  atWork[victim] = false;
  busy[victim] = false;
  current[victim] = false; unchanged[victim] = false;
  if
  :: victim == APP ->
     listens = false; draining = false; subscribed = false; wakeByte = false; changed = false; hasPush = false;
     steady = false;
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
       if :: lasting[EXTENSION] = !inside[EXTENSION] && !hasLoss :: true fi
     }
  :: d_step { frozen[APP] && (!lasting[APP] || over) -> frozen[APP] = false; lasting[APP] = false }
  :: d_step {
       frozen[EXTENSION] && (!lasting[EXTENSION] || over || !atWork[APP] || !onScreen || frozen[APP]) ->
       frozen[EXTENSION] = false; lasting[EXTENSION] = false
     }
  :: over && !frozen[APP] && !frozen[EXTENSION] -> break
  od
}

/* The user leaves the app, or stays; a background round ends. The phase lock is released first (app_phase, background). */
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

/* A message is stored at the relay, which wakes the notification server and, if subscribed, the app. */
proctype sender() {
  do
  :: d_step { sent < MESSAGES -> sent++; wakeByte = subscribed; pushDue = true }
  :: else -> break
  od
}

/* The server's periodic "check messages" push makes up for wake-ups that led to nothing: a message arrives while the app is at
 * work, the extension leaves it to the app, and the app suspends before it looks. */
proctype server() {
  do
  :: atomic { sent == MESSAGES && !pushDue && !over && !busy[EXTENSION] -> pushDue = true }
  :: atomic { arrived -> over = true; break }
  od
}
