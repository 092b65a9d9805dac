import PorterPlatform

/// A push waiting for a mailbox claimed by other work in this process.
struct MailboxWaiter {
  /// Names its timers.
  let name: String
  /// In the order in which pushes arrive, from 1. 0 for work that no push asks for.
  let rank: Int
  /// When it began to wait.
  let since: Moment
  let isWaiting: () -> Bool
}

/// How long a request for messages may take while a push waits for the same mailbox. A value.
enum MailboxPatience {
  /// When the request made at `asked` is given up. Nil `asked`: the work has no request pending, and will ask again.
  /// The time doubles with each request given up for the mailbox, so that a slow network gets a chance to answer.
  static func end(asked: Moment?, since: Moment, givenUp: Int, now: Moment) -> Moment {
    var patience = Durations.mailboxPatience
    for _ in 0..<min(givenUp, 4) { patience = patience + patience }
    return max(asked ?? now, since) + patience
  }
}

/// Gives up a request for messages that has been unanswered for two seconds while a later push waits for the same
/// mailbox; that push then asks again. It may be a call's, and the transport may have lost the request (INC-43). A late
/// answer is dropped. Threads: the engine's.
final class MailboxWatch {
  private let context: EngineContext
  private let claims: ConnectionClaims
  /// By connection, since the last time no push was in progress.
  private var givenUp = [Int64: Int]()

  init(_ context: EngineContext, _ claims: ConnectionClaims) {
    self.context = context
    self.claims = claims
  }

  func begin(_ connectionID: Int64, _ waiter: MailboxWaiter) {
    arm(connectionID, waiter, asked: claims.holder(of: connectionID)?.asked())
  }

  private func arm(_ connectionID: Int64, _ waiter: MailboxWaiter, asked: Moment?) {
    let due = patience(connectionID, waiter, asked)
    context.timers.set(Self.timer(connectionID, waiter), after: max(.zero, due - context.clock.now())) { [weak self] in
      self?.look(connectionID, waiter)
    }
  }

  func end(_ connectionID: Int64, _ waiter: MailboxWaiter) { context.timers.cancel(Self.timer(connectionID, waiter)) }

  /// No push is in progress any longer.
  func forget() { givenUp.removeAll() }

  /// When the current request is given up.
  private func patience(_ connectionID: Int64, _ waiter: MailboxWaiter, _ asked: Moment?) -> Moment {
    MailboxPatience.end(
      asked: asked, since: waiter.since, givenUp: givenUp[connectionID] ?? 0, now: context.clock.now())
  }

  private func look(_ connectionID: Int64, _ waiter: MailboxWaiter) {
    guard waiter.isWaiting() else { return }
    // An earlier push does not wait for a later one's request: otherwise two pushes would give up each other's.
    guard let holder = claims.holder(of: connectionID), holder.rank < waiter.rank, let asked = holder.asked() else {
      return arm(connectionID, waiter, asked: nil)
    }
    guard context.clock.now() >= patience(connectionID, waiter, asked) else {
      return arm(connectionID, waiter, asked: asked)
    }
    context.log(.info, "a request for messages is given up for a push", ["connection": String(connectionID)])
    givenUp[connectionID, default: 0] += 1
    // Other work may precede the push, and hang as well. Giving back may give the push its answer, which ends the
    // watch.
    arm(connectionID, waiter, asked: nil)
    holder.giveBack()
  }

  private static func timer(_ connectionID: Int64, _ waiter: MailboxWaiter) -> String {
    "\(waiter.name) waits for mailbox \(connectionID)"
  }
}
