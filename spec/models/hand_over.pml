/* Two processes, one store, one relay, and a system that freezes and kills: does each message arrive, once?
 *
 * An app and an extension both fetch from one mailbox, as the machine `ownership` says, which is included as it is compiled from
 * spec/machines. Whatever the system does at whatever moment:
 *
 *   - a message is on record once, and its ratchet step was taken once, in order (INC-08, INC-10);
 *   - the relay drops a message only after it is on record, so none is lost;
 *   - a process holds no lock while it waits for the relay, nor once it is suspended (INC-01, INC-07);
 *   - a commit under an older epoch changes nothing, and its process reloads before it owns again (INC-04, INC-05);
 *   - when the system leaves everybody alone at last, all messages are on record in the end (`-a -f`).
 *
 * Each of these rests on a rule that can be taken away, to see that the checker would notice:
 *
 *   -DNO_FENCE       a commit does not look at the epoch
 *   -DEARLY_ACK      a message is acknowledged before it is committed
 *   -DLOCK_ON_WAIT   the transaction begins before the relay is asked
 *   -DNO_RELOAD      who was displaced goes on with what it knew
 *   -DLATCHED        an extension believes that an app is at work, though its process is gone (INC-12, INC-13)
 */
#define PORTER_WORLD

#define MESSAGES 2
#define KILLS 1
#define FREEZES 1

#define APP 0
#define EXTENSION 1
#define NOBODY 2
#define NONE 255

/* The relay: messages sent and not dropped are `dropped` .. `sent` - 1; the oldest comes first. */
byte sent = 0;
byte dropped = 0;

/* The store: the lock is SQLite's write lock, the rest is on record. `ratchet` is the message that the chain's next step opens. */
byte lock = NOBODY;
byte epoch = 0;
byte owner = NOBODY;
byte ratchet = 0;
byte onRecord[MESSAGES];

/* The processes, as the system sees them. `atWork` is the lock that the kernel lets go of with its process. */
bool atWork[2];
bool isFrozen[2];
bool isSuspended[2] = true;
byte kills = 0;
byte freezes = 0;

#define allArrived (ratchet == MESSAGES && dropped == MESSAGES)

/* What the machine says is to be done; the process does it after the step, as the engine does. */
inline ownership_does(effect) { todo = todo | (1 << effect) }
#define isTold(effect) ((todo >> effect) & 1)

#include "generated/ownership.pml"

inline tell(what) {
  d_step {
    event = what;
    todo = 0;
    ownership_step(ownership, event, answer);
    event = 0; answer = 0
  }
}

/* Only a live app that answers is left alone; one that is frozen is silent, and gives way (INC-07). */
#ifdef LATCHED
#define appAnswers (owner == APP)
#else
#define appAnswers (atWork[APP] && !isFrozen[APP])
#endif

/* A killed process forgets everything, and the kernel lets go of its locks: a transaction that it had begun is rolled back. */
inline die() {
  atomic {
    kills++;
    if :: lock == me -> lock = NOBODY :: else fi;
    atWork[me] = false;
    isFrozen[me] = false;
    isSuspended[me] = true;
    ownership = ownership_initial;
    mine = 0; known = 0; message = NONE
  }
}

proctype process(byte me) {
  byte ownership = ownership_initial;
  byte event, answer;
  short todo;
  byte mine = 0;        /* the epoch that this process got */
  byte read = 0;        /* the epoch that it read */
  byte known = 0;       /* the ratchet in its memory */
  byte message = NONE;  /* what the relay gave it */
  bool isStale = false;

asleep:
  atomic {
    isSuspended[me] = true; atWork[me] = false;
    mine = 0; read = 0; known = 0; message = NONE; isStale = false; todo = 0;
    assert(lock != me)
  };
  if
  :: allArrived -> goto over
  /* A push, or the word of the relay, says that something waits. */
  :: dropped < sent
  fi;
  atomic { isSuspended[me] = false; atWork[me] = true };

look:
  message = NONE;
  atomic {
    tell(ownership_on_want);
    assert(isTold(ownership_do_readOwner));
    read = epoch
  };
  do
  :: !isFrozen[me] && kills < KILLS -> die(); goto dead
  :: atomic {
       !isFrozen[me] && me == EXTENSION && owner == APP && appAnswers ->
       tell(ownership_on_ownerPrevails)
     };
     goto asleep
  :: atomic {
       !isFrozen[me] && (me == APP || owner != APP || !appAnswers) ->
       tell(ownership_on_ownerYields);
       assert(isTold(ownership_do_takeEpoch))
     };
     atomic {
       lock == NOBODY && !isFrozen[me];
       if
       :: epoch == read -> epoch++; mine = epoch; owner = me; known = ratchet; tell(ownership_on_granted)
       :: else -> read = epoch; tell(ownership_on_raced)
       fi
     };
     if
     :: ownership == ownership_state_held -> break
     :: else
     fi
  od;

fetch:
#ifdef LOCK_ON_WAIT
  atomic { lock == NOBODY -> lock = me };
#endif
  if
  :: !isFrozen[me] && kills < KILLS -> die(); goto dead
  :: !isFrozen[me] ->
     assert(lock != me);
     if
     :: dropped < sent -> message = dropped
     :: else -> message = NONE
     fi
  fi;
  if
  :: message == NONE -> tell(ownership_on_finished); goto asleep
  :: else
  fi;
#ifdef EARLY_ACK
  atomic { if :: dropped == message -> dropped++ :: else fi };
#endif

commit:
  if
  :: !isFrozen[me] && kills < KILLS -> die(); goto dead
  :: atomic { !isFrozen[me] && lock == NOBODY -> lock = me }
  fi;
  /* Inside the transaction: here a process may be frozen or killed, too. */
  if
  :: !isFrozen[me] && kills < KILLS -> die(); goto dead
  :: !isFrozen[me]
  fi;
  atomic {
#ifdef NO_FENCE
    isStale = false;
#else
    isStale = (epoch != mine);
#endif
    if
    :: isStale -> tell(ownership_on_displaced)
    :: !isStale && message < known -> skip  /* it was on record already: an acknowledgement that did not arrive */
    :: !isStale && message >= known ->
       assert(message == known);  /* the chain in memory opens this one and no other */
       assert(known == ratchet);  /* and nobody took its step */
       assert(onRecord[message] == 0);
       onRecord[message]++;
       ratchet++;
       known = ratchet
    fi;
    lock = NOBODY
  };
  if
  :: isStale ->
     assert(isTold(ownership_do_discardWork) && isTold(ownership_do_reload));
     message = NONE;
#ifndef NO_RELOAD
     tell(ownership_on_reloaded);
#endif
     goto look
  :: else
  fi;

acknowledge:
  if
  :: !isFrozen[me] && kills < KILLS -> die(); goto dead
  :: !isFrozen[me] ->
     atomic {
       if
       :: dropped == message -> assert(onRecord[message] == 1); dropped++
       :: else
       fi
     };
     goto fetch
  fi;

over:
  assert(lock != me);
  goto ended;

dead:
  /* Nobody starts an app that was killed; the next push starts an extension. */
  if
  :: me == EXTENSION -> goto asleep
  :: me == APP
  fi;

ended:
  skip
}

/* Freezes whoever has not suspended, at any moment, and thaws it at any later one. */
proctype system() {
  byte victim;
  do
  :: freezes < FREEZES ->
     select(victim : 0 .. 1);
     atomic { if :: !isSuspended[victim] -> isFrozen[victim] = true :: else fi; freezes++ };
     isFrozen[victim] = false
  :: freezes == FREEZES -> break
  :: allArrived -> break
  od
}

proctype sender() {
  do
  :: sent < MESSAGES -> sent++
  :: else -> break
  od
}

init {
  atomic { run process(APP); run process(EXTENSION); run system(); run sender() }
}

ltl everythingArrives { <> allArrived }
