/* The app: Receiver, MailboxFetchRun with the machine `mailbox_fetch`, and CommittedChanges. */

inline stepFetch() {
  d_step {
    if :: event == mailbox_fetch_on_timeout -> hasDeadline = false :: else fi;
    mailbox_fetch_step(fetch, event, answer);
    assert(answer != 0 && answer != REFUSED);
    if :: isAsked(work, mailbox_fetch_do_cancelDeadline) -> hasDeadline = false :: else fi;
    if :: isAsked(work, mailbox_fetch_do_startDeadline) -> hasDeadline = true :: else fi;
    settle(work, mailbox_fetch_do_cancelDeadline);
    settle(work, mailbox_fetch_do_startDeadline);
    settle(work, mailbox_fetch_do_giveUpRequest);
    settle(work, mailbox_fetch_do_emitMarker);
    if :: isAsked(work, mailbox_fetch_do_reportEmpty) -> isDone = true :: else fi;
    if :: isAsked(work, mailbox_fetch_do_reportFailed) -> hasFailed = true :: else fi;
    settle(work, mailbox_fetch_do_reportEmpty);
    settle(work, mailbox_fetch_do_reportFailed);
    event = 0; answer = 0
  }
}

/* CommittedChanges.report: reports messages stored by other processes, up to `last`. An entry not yet shown by a notification
 * counts as shown from then on, if the app is on screen and so shows it. */
inline reload(last) {
  if
  :: d_step {
       told < last && lock == NOBODY ->
       do
       :: told < last ->
          if
          :: isSeen && ledger[told] == ledger_entry_state_committed -> stepEntry(told, ledger_entry_on_present); shown(APP, told)
          :: else
          fi;
          told++
       :: else -> break
       od;
       event = 0
     }
  :: told >= last
  fi
}

/* The epoch is another process's: work begun under the old one is dropped, and that process's changes are read (INC-05). */
inline loseClaim() {
  event = ownership_on_displaced; stepOwnership();
  assert(asks == ((1 << ownership_do_discardWork) | (1 << ownership_do_reload)));
  asks = 0;
  reload(ratchet);
  event = ownership_on_reloaded; stepOwnership();
  assert(asks == (1 << ownership_do_forget));
  asks = 0; current[APP] = false
}

proctype app() {
  byte ownership = ownership_initial;
  byte fetch = mailbox_fetch_initial;
  short asks, work;       /* pending effects: ownership's, mailbox_fetch's */
  byte event, answer, chain;
  byte message = NONE;
  bool hasClaim, isStale, isRepeat, hasDeadline, hasFailed, isDone, retryDue;
  bool isFresh = true;    /* the process has not opened the store yet */

asleep:
  {
    atomic {
      !frozen[APP] ->
      assert(lock != APP && !inside[APP] && !hasDeadline);
      busy[APP] = false; listens = false; draining = false; subscribed = false; wakeByte = false; changed = false;
      hasPush = false; retryDue = false
    };
    if
    :: over -> goto ended
    :: atomic {
         launches < LAUNCHES && !over ->
         /* The channel is opened before the lock is taken, so that a process holding the lock can be asked. */
         launches++; busy[APP] = true; listens = true;
#ifdef BACKGROUND
         if :: onScreen = true :: onScreen = false fi;
#endif
         /* A new process reads everything; a suspended one continues from what it knew (CommittedChanges.beginWatching). */
         if :: isFresh -> told = ratchet; isFresh = false :: else fi
       }
    fi;
    atomic { !frozen[APP] -> atWork[APP] = true; yieldAsked = busy[EXTENSION] && onScreen; reload(ratchet) };

look: /* Receiver.listenToAll: the relay answers whether messages wait, and sends wake-ups from now on. */
    if
    :: atomic { !frozen[APP] && draining -> goto idle }
    :: atomic { !frozen[APP] && !draining && dropped == sent -> subscribed = true; goto idle }
    :: atomic { !frozen[APP] && !draining && dropped < sent -> subscribed = true }
    fi;

next: /* MailboxFetchRun.next */
    if
    :: atomic { !frozen[APP] && draining -> endClaim(APP); goto idle }
    :: atomic { /* Engine.storeChanged */
         !frozen[APP] && !draining && changed ->
         changed = false;
         if
         :: ownership != ownership_state_free ->
            event = ownership_on_suspected; stepOwnership();
            assert(asks == (1 << ownership_do_checkEpoch));
            asks = 0;
            if
            :: current[APP] -> event = ownership_on_confirmed; stepOwnership(); reload(ratchet)
            :: else -> loseClaim()
            fi
         :: else -> reload(ratchet)
         fi;
         goto next
       }
    :: atomic { !frozen[APP] && !draining && !changed && hasClaim -> goto granted }
    :: !frozen[APP] && !draining && !changed && !hasClaim -> claim(APP, false, false)
    fi;

denied:
    /* A background round looks once, and leaves a connection that another process has since claimed to that process. */
    atomic { !frozen[APP] -> retryDue = onScreen; goto idle };

granted:
    atomic { !frozen[APP] -> event = mailbox_fetch_on_get; stepFetch() };

    do
    :: atomic {
         !frozen[APP] && isAsked(work, mailbox_fetch_do_sendGet) ->
         assert(hasDeadline);
         settle(work, mailbox_fetch_do_sendGet);
         if
         :: dropped < sent -> message = dropped; event = mailbox_fetch_on_message
         :: dropped == sent -> event = mailbox_fetch_on_empty
         :: draining -> event = mailbox_fetch_on_failed
         :: troubles < TROUBLES -> troubles++; event = mailbox_fetch_on_timeout
         fi;
         stepFetch()
       }
    :: atomic { /* The user has left: the message stays at the relay, and the next push is about it (MessageAdmission). */
         !frozen[APP] && isAsked(work, mailbox_fetch_do_deliverMessage) && draining ->
         settle(work, mailbox_fetch_do_deliverMessage);
         event = mailbox_fetch_on_abandoned;
         stepFetch()
       }
    :: atomic {
         !frozen[APP] && isAsked(work, mailbox_fetch_do_deliverMessage) && !draining && lock == NOBODY ->
         settle(work, mailbox_fetch_do_deliverMessage);
         begin(APP)
       };
       lookInside(APP);
       atomic {
         !frozen[APP] ->
         write(APP);
         if
         :: isStale ->
            hasFailed = true;
            if :: ownership != ownership_state_free -> loseClaim() :: else fi;
            event = mailbox_fetch_on_abandoned
         :: else ->
            reload(message + 1);
            event = mailbox_fetch_on_committed
         fi;
         stepFetch();
         isStale = false; isRepeat = false
       }
    :: atomic {
         !frozen[APP] && isAsked(work, mailbox_fetch_do_sendAcknowledge) ->
         assert(hasDeadline);
         settle(work, mailbox_fetch_do_sendAcknowledge);
         if
         :: acknowledge(); event = mailbox_fetch_on_dropped
         :: draining -> hasFailed = true; event = mailbox_fetch_on_failed
         :: troubles < TROUBLES ->
            troubles++;
            if :: acknowledge() :: true fi;
            hasFailed = true; event = mailbox_fetch_on_timeout
         fi;
         stepFetch()
       }
    :: atomic {
         !frozen[APP] && work == (1 << mailbox_fetch_do_releaseMailbox) ->
         work = 0; message = NONE;
         if
         :: !isDone && !hasFailed -> goto next
         :: else ->
            if :: isDone -> reload(ratchet) :: else fi; /* Receiver.fetched */
            endClaim(APP); retryDue = hasFailed && onScreen; isDone = false; hasFailed = false; goto idle
         fi
       }
    :: work == 0 -> assert(false) /* no effect is pending, but the fetch has not ended */
    od;

idle: /* in poll(2) */
    if
    :: atomic { !frozen[APP] && over -> atWork[APP] = false; steady = false; goto asleep }
    :: !frozen[APP] && draining && !over -> goto asleep
    :: atomic { !frozen[APP] && !draining && !over && (wakeByte || retryDue) -> wakeByte = false; retryDue = false; goto look }
    :: atomic { !frozen[APP] && !draining && !over && changed -> changed = false; reload(ratchet); goto idle }
    /* Engine.extensionHasPush: a message about a commit may have been lost. */
    :: atomic { !frozen[APP] && !draining && !over && hasPush -> hasPush = false; reload(ratchet); goto idle }
    fi
  } unless { killed[APP] };
  /* The user may start it again. */
  atomic {
    killed[APP] = false;
    ownership = ownership_initial; fetch = mailbox_fetch_initial; asks = 0; work = 0; event = 0; answer = 0; chain = 0;
    message = NONE; hasClaim = false; isStale = false; isRepeat = false; hasDeadline = false; hasFailed = false;
    isDone = false; retryDue = false; isFresh = true; told = 0
  };
  goto asleep;

ended:
  skip
}
