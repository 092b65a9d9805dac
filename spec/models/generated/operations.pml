/* Generated from spec/machines/operations.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and operations_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define operations_state_quiescent 0
#define operations_state_storeOnly 1
#define operations_state_running 2
#define operations_state_drainingNotifications 3
#define operations_state_drainingReceiving 4
#define operations_state_drainingDelivery 5
#define operations_state_drainingSending 6
#define operations_state_drainingDatabase 7
#define operations_state_stoppingNotifications 8
#define operations_state_stoppingReceiving 9
#define operations_state_stoppingDelivery 10
#define operations_state_stoppingSending 11
#define operations_state_networkStopped 12

#define operations_on_open 0
#define operations_on_resume 1
#define operations_on_suspend 2
#define operations_on_suspendNow 3
#define operations_on_deadline 4
#define operations_on_beginNotifications 5
#define operations_on_beginReceiving 6
#define operations_on_beginDelivery 7
#define operations_on_beginSending 8
#define operations_on_beginDatabase 9
#define operations_on_idleNotifications 10
#define operations_on_idleReceiving 11
#define operations_on_idleDelivery 12
#define operations_on_idleSending 13
#define operations_on_idleDatabase 14
#define operations_on_stopNetwork 15

#define operations_do_admit 0
#define operations_do_awaitNotifications 1
#define operations_do_awaitReceiving 2
#define operations_do_awaitDelivery 3
#define operations_do_awaitSending 4
#define operations_do_awaitDatabase 5
#define operations_do_armDeadline 6
#define operations_do_cancelDeadline 7
#define operations_do_giveUpWork 8
#define operations_do_reportQuiescent 9
#define operations_do_releaseRelay 10

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define operations_initial operations_state_quiescent
#define operations_isFinal(s) (false)

#ifndef PORTER_WORLD
inline operations_does(effect) {
  skip
}
#endif

inline operations_step(state, event, answer) {
  if
  :: state == operations_state_quiescent ->
    if
    :: event == operations_on_open ->
       answer = MOVED; state = operations_state_storeOnly
    :: event == operations_on_resume ->
       answer = REFUSED
    :: event == operations_on_suspend ->
       answer = REFUSED
    :: event == operations_on_suspendNow ->
       answer = IGNORED
    :: event == operations_on_deadline ->
       answer = IGNORED
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = REFUSED
    :: event == operations_on_beginSending ->
       answer = REFUSED
    :: event == operations_on_beginDatabase ->
       answer = REFUSED
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = REFUSED
    fi
  :: state == operations_state_storeOnly ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running
    :: event == operations_on_suspend ->
       answer = REFUSED
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = IGNORED
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = REFUSED
    :: event == operations_on_beginSending ->
       answer = REFUSED
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = REFUSED
    fi
  :: state == operations_state_running ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = IGNORED
    :: event == operations_on_suspend ->
       answer = MOVED; state = operations_state_drainingNotifications; operations_does(operations_do_armDeadline); operations_does(operations_do_awaitNotifications)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = IGNORED
    :: event == operations_on_beginNotifications ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginReceiving ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDelivery ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginSending ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = MOVED; state = operations_state_stoppingNotifications; operations_does(operations_do_awaitNotifications)
    fi
  :: state == operations_state_drainingNotifications ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running; operations_does(operations_do_cancelDeadline)
    :: event == operations_on_suspend ->
       answer = STAYED; operations_does(operations_do_armDeadline)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_cancelDeadline); operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork); operations_does(operations_do_reportQuiescent)
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDelivery ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginSending ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = MOVED; state = operations_state_drainingReceiving; operations_does(operations_do_awaitReceiving)
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_drainingReceiving ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running; operations_does(operations_do_cancelDeadline)
    :: event == operations_on_suspend ->
       answer = STAYED; operations_does(operations_do_armDeadline)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_cancelDeadline); operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork); operations_does(operations_do_reportQuiescent)
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginSending ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = MOVED; state = operations_state_drainingDelivery; operations_does(operations_do_awaitDelivery)
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_drainingDelivery ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running; operations_does(operations_do_cancelDeadline)
    :: event == operations_on_suspend ->
       answer = STAYED; operations_does(operations_do_armDeadline)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_cancelDeadline); operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork); operations_does(operations_do_reportQuiescent)
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = REFUSED
    :: event == operations_on_beginSending ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = MOVED; state = operations_state_drainingSending; operations_does(operations_do_awaitSending)
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_drainingSending ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running; operations_does(operations_do_cancelDeadline)
    :: event == operations_on_suspend ->
       answer = STAYED; operations_does(operations_do_armDeadline)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_cancelDeadline); operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork); operations_does(operations_do_reportQuiescent)
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = REFUSED
    :: event == operations_on_beginSending ->
       answer = REFUSED
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = MOVED; state = operations_state_drainingDatabase; operations_does(operations_do_awaitDatabase)
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_drainingDatabase ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running; operations_does(operations_do_cancelDeadline)
    :: event == operations_on_suspend ->
       answer = STAYED; operations_does(operations_do_armDeadline)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_cancelDeadline); operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork); operations_does(operations_do_reportQuiescent)
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = REFUSED
    :: event == operations_on_beginSending ->
       answer = REFUSED
    :: event == operations_on_beginDatabase ->
       answer = REFUSED
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_cancelDeadline); operations_does(operations_do_giveUpWork); operations_does(operations_do_reportQuiescent)
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_stoppingNotifications ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running
    :: event == operations_on_suspend ->
       answer = MOVED; state = operations_state_drainingNotifications; operations_does(operations_do_armDeadline); operations_does(operations_do_awaitNotifications)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = IGNORED
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDelivery ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginSending ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = MOVED; state = operations_state_stoppingReceiving; operations_does(operations_do_awaitReceiving)
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_stoppingReceiving ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running
    :: event == operations_on_suspend ->
       answer = MOVED; state = operations_state_drainingReceiving; operations_does(operations_do_armDeadline); operations_does(operations_do_awaitReceiving)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = IGNORED
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginSending ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = MOVED; state = operations_state_stoppingDelivery; operations_does(operations_do_awaitDelivery)
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_stoppingDelivery ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running
    :: event == operations_on_suspend ->
       answer = MOVED; state = operations_state_drainingDelivery; operations_does(operations_do_armDeadline); operations_does(operations_do_awaitDelivery)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = IGNORED
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = REFUSED
    :: event == operations_on_beginSending ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = MOVED; state = operations_state_stoppingSending; operations_does(operations_do_awaitSending)
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_stoppingSending ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running
    :: event == operations_on_suspend ->
       answer = MOVED; state = operations_state_drainingSending; operations_does(operations_do_armDeadline); operations_does(operations_do_awaitSending)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = IGNORED
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = REFUSED
    :: event == operations_on_beginSending ->
       answer = REFUSED
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = MOVED; state = operations_state_networkStopped; operations_does(operations_do_releaseRelay)
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  :: state == operations_state_networkStopped ->
    if
    :: event == operations_on_open ->
       answer = IGNORED
    :: event == operations_on_resume ->
       answer = MOVED; state = operations_state_running
    :: event == operations_on_suspend ->
       answer = MOVED; state = operations_state_drainingDatabase; operations_does(operations_do_armDeadline); operations_does(operations_do_awaitDatabase)
    :: event == operations_on_suspendNow ->
       answer = MOVED; state = operations_state_quiescent; operations_does(operations_do_giveUpWork)
    :: event == operations_on_deadline ->
       answer = IGNORED
    :: event == operations_on_beginNotifications ->
       answer = REFUSED
    :: event == operations_on_beginReceiving ->
       answer = REFUSED
    :: event == operations_on_beginDelivery ->
       answer = REFUSED
    :: event == operations_on_beginSending ->
       answer = REFUSED
    :: event == operations_on_beginDatabase ->
       answer = STAYED; operations_does(operations_do_admit)
    :: event == operations_on_idleNotifications ->
       answer = IGNORED
    :: event == operations_on_idleReceiving ->
       answer = IGNORED
    :: event == operations_on_idleDelivery ->
       answer = IGNORED
    :: event == operations_on_idleSending ->
       answer = IGNORED
    :: event == operations_on_idleDatabase ->
       answer = IGNORED
    :: event == operations_on_stopNetwork ->
       answer = IGNORED
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype operations_world() {
  byte state = operations_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = operations_on_open
      :: event = operations_on_resume
      :: event = operations_on_suspend
      :: event = operations_on_suspendNow
      :: event = operations_on_deadline
      :: event = operations_on_beginNotifications
      :: event = operations_on_beginReceiving
      :: event = operations_on_beginDelivery
      :: event = operations_on_beginSending
      :: event = operations_on_beginDatabase
      :: event = operations_on_idleNotifications
      :: event = operations_on_idleReceiving
      :: event = operations_on_idleDelivery
      :: event = operations_on_idleSending
      :: event = operations_on_idleDatabase
      :: event = operations_on_stopNetwork
      fi;
      answer = 0;
      operations_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
