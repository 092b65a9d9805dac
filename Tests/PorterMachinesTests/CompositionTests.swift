import PorterMachines
import XCTest

/// The joint promises of the lifecycle's machines, shown for every order of host calls, ends of work and deadlines, and
/// for everything that may fail on the way.
final class CompositionTests: XCTestCase {
  private typealias App = Composition<AppPhase>
  private typealias Notifier = Composition<ExtensionPhase>

  func testAnAppHoldsNothingWhereItSaysSo_INC01() {
    var stopped = App()
    stopped.phase = .stopped
    for start in [App(), stopped] { _ = walk(start, calls: appCalls) }
  }

  func testAnExtensionHoldsNothingWhereItSaysSo_INC01() { _ = walk(Notifier(), calls: notifierCalls) }

  func testEveryActingPairIsMet() {
    var stopped = App()
    stopped.phase = .stopped
    let met = Set(
      [App(), stopped].flatMap { walk($0, calls: appCalls) }.map { "\($0.machine) \($0.state) \($0.event)" }
    )
    .union(walk(Notifier(), calls: notifierCalls).map { "\($0.machine) \($0.state) \($0.event)" })
    let acting = pairs(AppPhase.self) + pairs(ExtensionPhase.self) + pairs(ChatLifecycle.self) + pairs(Operations.self)
    XCTAssertEqual(acting.filter { !met.contains($0) }.sorted(), [], "dead in the composition")
  }

  private func pairs<M: Machine>(_ machine: M.Type) -> [String] {
    allSteps(machine).filter { $0.step.answer.isTaken }.map { "\(M.name) \($0.state.name) \($0.event.name)" }
  }

  // MARK: Host calls

  private func appCalls(_ world: App) -> [App.Call] {
    var calls: [App.Call] = [
      .phase(.background), .phase(.suspend), .phase(.suspendNow), .phase(.stop), .wake(.refreshBegan), .close,
      .chat(.open),
    ]
    if world.phase == .bgRefresh { calls.append(.phase(.refreshOver)) }
    if world.isTimed { calls.append(.phase(.backgroundOver)) }
    for foreground in [AppPhase.Event.foregroundExtensionActive, .foregroundExtensionInactive] {
      calls.append(.enter(world.phase == .stopped ? .startConfirmed : foreground, asking: .start))
      if case .refused = ChatLifecycle.step(world.chat, .activate).answer { continue }
      calls.append(.enter(foreground, asking: .activate))
    }
    return calls + work(of: world)
  }

  private func notifierCalls(_ world: Notifier) -> [Notifier.Call] {
    // Another key, or no longer dozing.
    let dropped: [Notifier.Call] = world.chat == .dozing ? [.chat(.close)] : []
    return [.phase(.suspend), .phase(.suspendNow), .phase(.appRunning), .wake(.start), .close, .doze, .chat(.open)]
      + dropped + work(of: world)
  }

  private func work<Phase>(of world: Composition<Phase>) -> [Composition<Phase>.Call] {
    Composition<Phase>.Kind.allCases.map { world.underWay.contains($0) ? .end($0) : .begin($0) }
      + (world.isArmed ? [.deadline] : [])
  }

  // MARK: Walking

  private func walk<Phase>(
    _ start: Composition<Phase>, calls: @escaping (Composition<Phase>) -> [Composition<Phase>.Call]
  ) -> Set<Composition<Phase>.Pair> {
    var pairs: Set<Composition<Phase>.Pair> = []
    var problems: Set<String> = []
    var count = 0
    explore(start) { world in
      count += 1
      var next: [Composition<Phase>] = []
      for call in calls(world) {
        var choices: Choices? = Choices()
        while let path = choices {
          var run = CompositionRun(world, path)
          run.run(call)
          pairs.formUnion(run.pairs)
          for problem in run.problems + wrong(run.world, after: call, in: world) where problems.count < 20 {
            if problems.insert(problem).inserted { XCTFail("\(problem): \(world), on \(call), to \(run.world)") }
          }
          next.append(run.world)
          choices = run.choices.following
        }
      }
      return next
    }
    print("\(Phase.name) with chat_lifecycle and operations: \(count) worlds")
    return pairs
  }

  /// Conditions that must not hold between two calls.
  private func wrong<Phase>(
    _ world: Composition<Phase>, after call: Composition<Phase>.Call, in before: Composition<Phase>
  ) -> [String] {
    var wrong: [String] = []
    let couldNotBeClosed = [.stillOpen, .suspendedStillOpen].contains(world.chat)
    if [.closed, .suspended].contains(world.chat), world.storeIsOpen { wrong.append("the store is open") }
    if (world.chat == .dozing) != world.storeDozes { wrong.append("the store dozes, or not") }
    if world.storeDozes, world.storeIsOpen { wrong.append("two stores") }
    if [.starting, .activating].contains(world.chat) { wrong.append("the chat hangs") }
    if ["suspended", "created"].contains(world.phase.name) {
      // A host may open it; then it is neither running nor suspended.
      if world.storeIsOpen, world.chat != .opened, !couldNotBeClosed {
        wrong.append("open, and the phase says suspended")
      }
      if world.holdsPhaseFile { wrong.append("suspended, with the phase file's lock") }
      if let published = world.published, published != world.phase { wrong.append("others read \(published.name)") }
    }
    if ["active", "bgRefresh"].contains(world.phase.name), world.chat != .active {
      wrong.append("active, and no chat")
    }
    if world.chat == .active, !["active", "bgRefresh"].contains(world.phase.name) {
      wrong.append("a chat, not active")
    }
    wrong += wrongInBackground(world)
    if world.operations == .quiescent, !world.underWay.isEmpty || world.relayIsOpen {
      wrong.append("work in quiescent")
    }
    if world.owesSuspended, !world.isArmed || world.chat != .suspending {
      wrong.append("a suspension that will never end")
    }
    let isAsked: Bool =
      switch call {
      case .phase(let event):
        event == Phase.suspendNow || Phase.step(before.phase, event).effects.contains { Phase.work($0) == .suspendChat }
      case .deadline, .end: before.owesSuspended
      case .doze: true
      case .chat, .enter, .wake, .close, .begin: false
      }
    if isAsked, !world.owesSuspended, world.storeIsOpen, !couldNotBeClosed { wrong.append("open after a suspension") }
    return wrong
  }

  /// In the background there is a store and no network, extensions act, and the phase ends.
  private func wrongInBackground<Phase>(_ world: Composition<Phase>) -> [String] {
    let isInBackground = world.phase.name == AppPhase.State.background.name
    let rests: Bool =
      switch world.operations {
      case .stoppingNotifications, .stoppingReceiving, .stoppingDelivery, .stoppingSending, .networkStopped: true
      default: false
      }
    var wrong: [String] = []
    if isInBackground != (world.chat == .background) { wrong.append("phase and chat differ about the background") }
    if isInBackground != rests { wrong.append("in the background, and the operations are not") }
    if isInBackground != world.isTimed { wrong.append("a time in the background that is not over") }
    if isInBackground, !world.storeIsOpen { wrong.append("in the background, without a store") }
    if isInBackground, world.holdsPhaseFile { wrong.append("in the background, with the phase file's lock") }
    if isInBackground, Operations.step(world.operations, .beginDatabase).answer != .stayed {
      wrong.append("in the background, and no transaction may begin")
    }
    if world.operations == .networkStopped, !world.underWay.isSubset(of: [.database]) || world.relayIsOpen {
      wrong.append("the network is stopped, and at work")
    }
    if world.operations == .running, !world.relayIsOpen { wrong.append("at work, without a relay") }
    return wrong
  }
}
