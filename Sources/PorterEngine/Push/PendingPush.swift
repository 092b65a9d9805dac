import PorterJSON
import PorterMachines
import PorterNotifications
import PorterPlatform
import Synchronization

/// The answer to one push: the machine `push_answer`, shared by the waiting thread, the thread that reports that time
/// is up, and the engine's turns. From any thread; never waits.
package final class PendingPush: Sendable {
  /// The caller's name for the push, if any.
  let identifier: String?
  /// As received.
  let payload: String
  let answer = Promise<String>()

  private let life: Mutex<Life>
  private let log: Log
  /// The push's number within the process, for the log.
  private let number: Int

  init(identifier: String?, payload: String, number: Int = 0, log: Log = .silent) {
    (self.identifier, self.payload, self.number, self.log) = (identifier, payload, number, log)
    life = Mutex(Life(runner: StepRecord.newRunner()))
  }

  /// What the engine must do about a push whose time is up.
  enum Urgency {
    /// Running: whatever the engine waits for is interrupted.
    case interrupts
    /// Waiting for its turn.
    case waitsForATurn
  }

  /// Its turn has come.
  func begin() { post(.begin) }

  /// Returns nil if there is nothing to do.
  func expire() -> Urgency? { post(.expire).urgency }

  /// An answer given without the engine.
  struct Substitute {
    let text: String
    /// Whether it contains the notice it was made with.
    let givesNotice: Bool
  }

  typealias MakeSubstitute = @Sendable (_ notice: PushContent) -> Substitute

  /// Settles what is shown, before it is recorded as shown. Returns false when the caller was answered without it. The
  /// answer is built only if the caller gets it.
  func stage(_ make: @escaping MakeSubstitute) -> Bool { post(.stage, make).isTaken }

  /// Gives the engine's answer. The first answer counts (INC-31). Returns false when the caller already has another
  /// one.
  func finish(_ text: String) -> Bool { post(.finish) { _ in .init(text: text, givesNotice: false) }.isTaken }

  /// Answers for the engine, with what is staged or with what `make` builds from the notice. From here on nothing can
  /// be staged, and nothing is recorded as shown. Returns true if the user is shown the notice.
  func answerWithoutEngine(_ notice: PushContent, _ make: @escaping MakeSubstitute) -> Bool {
    post(.overdue, make, notice).givesNotice
  }

  /// Time is up and nothing is staged.
  var isExpired: Bool {
    life.withLock { life in
      switch life.machine.state {
      case .expiring, .answered: true
      case .queued, .running, .staged: false
      }
    }
  }

  var isAnswered: Bool { life.withLock { $0.machine.state == .answered } }
  var isQueued: Bool { life.withLock { $0.machine.state == .queued } }

  @discardableResult
  private func post(
    _ event: PushAnswer.Event, _ make: @escaping MakeSubstitute = { _ in .init(text: "", givesNotice: false) },
    _ notice: PushContent = PushContent()
  ) -> AnswerWork {
    let (before, step, work) = life.withLock { life in
      let before = life.machine.state
      let step = life.machine.handle(event)
      if StepRecord.isOn {
        StepRecord.add(
          PushAnswer.name, runner: life.runner, event: event.name, from: before.name, to: step.next.name,
          answer: step.answer.name)
      }
      let work = AnswerWork(isTaken: step.answer == .moved, make, staged: life.staged, notice, answer)
      for effect in step.effects { PushAnswer.perform(effect, by: work, ()) }
      life.staged = work.staged
      return (before, step, work)
    }
    log.step(PushAnswer.self, String(number), from: before, on: event, step)
    return work
  }

  private struct Life {
    let runner: Int
    var machine = MachineRunner<PushAnswer>()
    var staged: MakeSubstitute?
  }
}

/// Carries out the effects of one step of `push_answer`.
private final class AnswerWork: PushAnswerEffects {
  let isTaken: Bool
  private var make: PendingPush.MakeSubstitute
  private(set) var staged: PendingPush.MakeSubstitute?
  private let notice: PushContent
  private(set) var givesNotice = false
  private(set) var urgency: PendingPush.Urgency?
  private let promise: Promise<String>

  init(
    isTaken: Bool, _ make: @escaping PendingPush.MakeSubstitute, staged: PendingPush.MakeSubstitute?,
    _ notice: PushContent, _ promise: Promise<String>
  ) {
    self.isTaken = isTaken
    self.make = make
    self.staged = staged
    self.notice = notice
    self.promise = promise
  }

  func hurry(_ argument: Void) { urgency = .interrupts }
  func withdraw(_ argument: Void) { urgency = .waitsForATurn }
  func keep(_ argument: Void) { staged = make }
  func useStaged(_ argument: Void) { make = staged ?? make }

  func answer(_ argument: Void) {
    let answer = make(notice)
    givesNotice = answer.givesNotice
    promise.fulfil(answer.text)
  }
}

/// A controller's unanswered pushes, in order of arrival. From any thread; never waits.
final class PushQueue: Sendable {
  /// As many as a platform delivers in minutes; each blocks one of the host's threads.
  static let bound = 64

  private let pushes = Mutex<[PendingPush]>([])
  private let count = Atomic<Int>(0)

  enum Admission {
    case admitted(PendingPush)
    case full
    /// The engine accepts no more work.
    case refused
  }

  /// `deliver` hands the push to the engine, in queue order.
  func add(
    _ payload: String, _ identifier: String?, log: Log = .silent, deliver: (PendingPush) -> Bool
  ) -> Admission {
    pushes.withLock { pushes in
      guard pushes.count < Self.bound else { return .full }
      let number = count.wrappingAdd(1, ordering: .relaxed).newValue
      let push = PendingPush(identifier: identifier, payload: payload, number: number, log: log)
      guard deliver(push) else { return .refused }
      pushes.append(push)
      return .admitted(push)
    }
  }

  func remove(_ push: PendingPush) { pushes.withLock { $0.removeAll { $0 === push } } }

  var all: [PendingPush] { pushes.withLock { $0 } }

  /// The push the engine works on: pushes get their turn in order of arrival.
  var running: PendingPush? { pushes.withLock { $0.first { !$0.isAnswered } } }

  var unanswered: Int { pushes.withLock { $0.count { !$0.isAnswered } } }

  func named(_ identifier: String) -> [PendingPush] {
    pushes.withLock { $0.filter { $0.identifier == identifier && !$0.isAnswered } }
  }
}

/// How long each party waits for a push.
struct PushTimes {
  /// Reserved for answering without the engine, should it hang in the operating system.
  static let reserve = Span.milliseconds(100)
  /// The part of the reserve used to hand over the answer.
  static let handover = Span.milliseconds(20)

  let end: Moment

  init(started: Moment, deadline: Span) { end = started + deadline }

  /// For an answer the engine gives on its own: its own timer has fired by then.
  func untilExpiry(from now: Moment) -> Span { end - now - Self.reserve }
  /// For the answer of an engine that was notified that time is up.
  func untilHandover(from now: Moment) -> Span { end - now - Self.handover }
}
