/* Generated from spec/machines/ledger_entry.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and ledger_entry_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define ledger_entry_state_seen 0
#define ledger_entry_state_announced 1
#define ledger_entry_state_committed 2
#define ledger_entry_state_upgraded 3
#define ledger_entry_state_presented 4
#define ledger_entry_state_outdated 5
#define ledger_entry_state_silenced 6
#define ledger_entry_state_lapsed 7
#define ledger_entry_state_read 8
#define ledger_entry_state_quarantined 9
#define ledger_entry_state_withdrawn 10
#define ledger_entry_state_vanished 11

#define ledger_entry_on_commit 0
#define ledger_entry_on_quarantine 1
#define ledger_entry_on_announce 2
#define ledger_entry_on_present 3
#define ledger_entry_on_read 4
#define ledger_entry_on_edit 5
#define ledger_entry_on_withdraw 6
#define ledger_entry_on_repeat 7
#define ledger_entry_on_lapse 8
#define ledger_entry_on_silence 9
#define ledger_entry_on_vanish 10

#define ledger_entry_do_countUnread 0
#define ledger_entry_do_uncountUnread 1
#define ledger_entry_do_show 2
#define ledger_entry_do_showPlaceholder 3
#define ledger_entry_do_replace 4
#define ledger_entry_do_remove 5
#define ledger_entry_do_recordReason 6
#define ledger_entry_do_countAttempt 7
#define ledger_entry_do_dropPlaceholder 8
#define ledger_entry_do_waitLate 9
#define ledger_entry_do_keep 10

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define ledger_entry_initial ledger_entry_state_seen
#define ledger_entry_isFinal(s) ((s) == ledger_entry_state_withdrawn)

#ifndef PORTER_WORLD
inline ledger_entry_does(effect) {
  skip
}
#endif

inline ledger_entry_step(state, event, answer) {
  if
  :: state == ledger_entry_state_seen ->
    if
    :: event == ledger_entry_on_commit ->
       answer = MOVED; state = ledger_entry_state_committed; ledger_entry_does(ledger_entry_do_countUnread)
    :: event == ledger_entry_on_quarantine ->
       answer = MOVED; state = ledger_entry_state_quarantined; ledger_entry_does(ledger_entry_do_recordReason)
    :: event == ledger_entry_on_announce ->
       answer = MOVED; state = ledger_entry_state_announced; ledger_entry_does(ledger_entry_do_showPlaceholder)
    :: event == ledger_entry_on_present ->
       answer = REFUSED
    :: event == ledger_entry_on_read ->
       answer = REFUSED
    :: event == ledger_entry_on_edit ->
       answer = REFUSED
    :: event == ledger_entry_on_withdraw ->
       answer = REFUSED
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = REFUSED
    :: event == ledger_entry_on_silence ->
       answer = REFUSED
    :: event == ledger_entry_on_vanish ->
       answer = REFUSED
    fi
  :: state == ledger_entry_state_announced ->
    if
    :: event == ledger_entry_on_commit ->
       answer = MOVED; state = ledger_entry_state_upgraded; ledger_entry_does(ledger_entry_do_countUnread); ledger_entry_does(ledger_entry_do_dropPlaceholder)
    :: event == ledger_entry_on_quarantine ->
       answer = MOVED; state = ledger_entry_state_quarantined; ledger_entry_does(ledger_entry_do_recordReason); ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = REFUSED
    :: event == ledger_entry_on_read ->
       answer = STAYED; ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_edit ->
       answer = IGNORED
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn; ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = REFUSED
    :: event == ledger_entry_on_silence ->
       answer = REFUSED
    :: event == ledger_entry_on_vanish ->
       answer = MOVED; state = ledger_entry_state_vanished; ledger_entry_does(ledger_entry_do_remove)
    fi
  :: state == ledger_entry_state_committed ->
    if
    :: event == ledger_entry_on_commit ->
       answer = IGNORED
    :: event == ledger_entry_on_quarantine ->
       answer = REFUSED
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = MOVED; state = ledger_entry_state_presented; ledger_entry_does(ledger_entry_do_keep); ledger_entry_does(ledger_entry_do_show)
    :: event == ledger_entry_on_read ->
       answer = MOVED; state = ledger_entry_state_read; ledger_entry_does(ledger_entry_do_uncountUnread)
    :: event == ledger_entry_on_edit ->
       answer = IGNORED
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn; ledger_entry_does(ledger_entry_do_uncountUnread)
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = MOVED; state = ledger_entry_state_lapsed
    :: event == ledger_entry_on_silence ->
       answer = MOVED; state = ledger_entry_state_silenced
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: state == ledger_entry_state_upgraded ->
    if
    :: event == ledger_entry_on_commit ->
       answer = IGNORED
    :: event == ledger_entry_on_quarantine ->
       answer = REFUSED
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = MOVED; state = ledger_entry_state_presented; ledger_entry_does(ledger_entry_do_keep); ledger_entry_does(ledger_entry_do_show)
    :: event == ledger_entry_on_read ->
       answer = MOVED; state = ledger_entry_state_read; ledger_entry_does(ledger_entry_do_uncountUnread); ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_edit ->
       answer = IGNORED
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn; ledger_entry_does(ledger_entry_do_uncountUnread); ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = MOVED; state = ledger_entry_state_lapsed; ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_silence ->
       answer = MOVED; state = ledger_entry_state_silenced; ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: state == ledger_entry_state_presented ->
    if
    :: event == ledger_entry_on_commit ->
       answer = IGNORED
    :: event == ledger_entry_on_quarantine ->
       answer = REFUSED
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = IGNORED
    :: event == ledger_entry_on_read ->
       answer = MOVED; state = ledger_entry_state_read; ledger_entry_does(ledger_entry_do_uncountUnread); ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_edit ->
       answer = MOVED; state = ledger_entry_state_outdated
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn; ledger_entry_does(ledger_entry_do_uncountUnread); ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = MOVED; state = ledger_entry_state_lapsed; ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_silence ->
       answer = IGNORED
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: state == ledger_entry_state_outdated ->
    if
    :: event == ledger_entry_on_commit ->
       answer = IGNORED
    :: event == ledger_entry_on_quarantine ->
       answer = REFUSED
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = MOVED; state = ledger_entry_state_presented; ledger_entry_does(ledger_entry_do_keep); ledger_entry_does(ledger_entry_do_replace)
    :: event == ledger_entry_on_read ->
       answer = MOVED; state = ledger_entry_state_read; ledger_entry_does(ledger_entry_do_uncountUnread); ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_edit ->
       answer = IGNORED
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn; ledger_entry_does(ledger_entry_do_uncountUnread); ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = MOVED; state = ledger_entry_state_lapsed; ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_silence ->
       answer = MOVED; state = ledger_entry_state_silenced; ledger_entry_does(ledger_entry_do_remove)
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: state == ledger_entry_state_silenced ->
    if
    :: event == ledger_entry_on_commit ->
       answer = IGNORED
    :: event == ledger_entry_on_quarantine ->
       answer = REFUSED
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = IGNORED
    :: event == ledger_entry_on_read ->
       answer = MOVED; state = ledger_entry_state_read; ledger_entry_does(ledger_entry_do_uncountUnread)
    :: event == ledger_entry_on_edit ->
       answer = MOVED; state = ledger_entry_state_committed; ledger_entry_does(ledger_entry_do_waitLate)
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn; ledger_entry_does(ledger_entry_do_uncountUnread)
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = MOVED; state = ledger_entry_state_lapsed
    :: event == ledger_entry_on_silence ->
       answer = IGNORED
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: state == ledger_entry_state_lapsed ->
    if
    :: event == ledger_entry_on_commit ->
       answer = IGNORED
    :: event == ledger_entry_on_quarantine ->
       answer = REFUSED
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = IGNORED
    :: event == ledger_entry_on_read ->
       answer = MOVED; state = ledger_entry_state_read; ledger_entry_does(ledger_entry_do_uncountUnread)
    :: event == ledger_entry_on_edit ->
       answer = IGNORED
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn; ledger_entry_does(ledger_entry_do_uncountUnread)
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = IGNORED
    :: event == ledger_entry_on_silence ->
       answer = IGNORED
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: state == ledger_entry_state_read ->
    if
    :: event == ledger_entry_on_commit ->
       answer = IGNORED
    :: event == ledger_entry_on_quarantine ->
       answer = REFUSED
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = IGNORED
    :: event == ledger_entry_on_read ->
       answer = IGNORED
    :: event == ledger_entry_on_edit ->
       answer = IGNORED
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = IGNORED
    :: event == ledger_entry_on_silence ->
       answer = IGNORED
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: state == ledger_entry_state_quarantined ->
    if
    :: event == ledger_entry_on_commit ->
       answer = MOVED; state = ledger_entry_state_upgraded; ledger_entry_does(ledger_entry_do_countUnread)
    :: event == ledger_entry_on_quarantine ->
       answer = STAYED; ledger_entry_does(ledger_entry_do_countAttempt)
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = REFUSED
    :: event == ledger_entry_on_read ->
       answer = REFUSED
    :: event == ledger_entry_on_edit ->
       answer = REFUSED
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = REFUSED
    :: event == ledger_entry_on_silence ->
       answer = REFUSED
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: state == ledger_entry_state_vanished ->
    if
    :: event == ledger_entry_on_commit ->
       answer = MOVED; state = ledger_entry_state_upgraded; ledger_entry_does(ledger_entry_do_countUnread); ledger_entry_does(ledger_entry_do_dropPlaceholder)
    :: event == ledger_entry_on_quarantine ->
       answer = MOVED; state = ledger_entry_state_quarantined; ledger_entry_does(ledger_entry_do_recordReason)
    :: event == ledger_entry_on_announce ->
       answer = IGNORED
    :: event == ledger_entry_on_present ->
       answer = REFUSED
    :: event == ledger_entry_on_read ->
       answer = IGNORED
    :: event == ledger_entry_on_edit ->
       answer = IGNORED
    :: event == ledger_entry_on_withdraw ->
       answer = MOVED; state = ledger_entry_state_withdrawn
    :: event == ledger_entry_on_repeat ->
       answer = IGNORED
    :: event == ledger_entry_on_lapse ->
       answer = REFUSED
    :: event == ledger_entry_on_silence ->
       answer = REFUSED
    :: event == ledger_entry_on_vanish ->
       answer = IGNORED
    fi
  :: ledger_entry_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype ledger_entry_world() {
  byte state = ledger_entry_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !ledger_entry_isFinal(state) ->
    atomic {
      if
      :: event = ledger_entry_on_commit
      :: event = ledger_entry_on_quarantine
      :: event = ledger_entry_on_announce
      :: event = ledger_entry_on_present
      :: event = ledger_entry_on_read
      :: event = ledger_entry_on_edit
      :: event = ledger_entry_on_withdraw
      :: event = ledger_entry_on_repeat
      :: event = ledger_entry_on_lapse
      :: event = ledger_entry_on_silence
      :: event = ledger_entry_on_vanish
      fi;
      answer = 0;
      ledger_entry_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: ledger_entry_isFinal(state) -> break
  od;
  skip
}
#endif
