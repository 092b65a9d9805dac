import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Everything that all parts of the engine need, passed to each at creation. Immutable; a class, since each of some
/// fifty copies would retain all of it. Threads: the engine's.
final class EngineContext {
  let configuration: Configuration
  let instance: Instance
  let timers: Timers
  /// The events of all machines.
  let steps: StepQueue
  /// Events on their way to the host.
  let events: EventQueue
  /// Raised when something urgent needs the engine while it is busy.
  let stop: StopSignal
  let board: StatusBoard
  let storeAccess: StoreAccess
  /// Work for later turns.
  let deferred: DeferredWork
  let retries: Retries

  init(
    configuration: Configuration, instance: Instance, timers: Timers, steps: StepQueue, events: EventQueue,
    stop: StopSignal, board: StatusBoard, storeAccess: StoreAccess, deferred: DeferredWork, retries: Retries
  ) {
    (self.configuration, self.instance, self.timers, self.steps) = (configuration, instance, timers, steps)
    (self.events, self.stop, self.board, self.storeAccess) = (events, stop, board, storeAccess)
    (self.deferred, self.retries) = (deferred, retries)
  }

  var clock: any Clock { configuration.clock }
  var randomness: any Randomness { configuration.randomness }
  var role: Role { configuration.role }
  /// This process, as recorded in the store.
  var identity: Owner { Owner(role: role.rawValue, instance: instance) }
  /// Nil while it is closed.
  var store: Store? { storeAccess.store }

  var machines: MachineSurroundings { machines(timers: EngineMachineTimers(timers: timers)) }

  func machines(timers: any MachineTimers) -> MachineSurroundings {
    MachineSurroundings(queue: steps, timers: timers, trace: EngineTrace(log: log))
  }

  var log: Log { configuration.log }

  /// Runs `work` in a later turn.
  func later(_ work: @escaping () -> Void) { deferred.add(work) }

  func newSigningKey() throws(ChatError) -> SigningKeyPair {
    do throws(CryptoError) { return try .generate(randomness: randomness) } catch {
      throw .internal(error.description)
    }
  }

  func emit(_ event: Event) { events.post(event) }
  func emit(making make: @escaping @Sendable () -> Event, bytes: Int?) { events.post(making: make, bytes: bytes) }
}

/// The open store, for all parts to use. Only `Lifecycle` opens and closes it.
final class StoreAccess {
  private(set) var store: Store?

  func set(_ store: Store?) { self.store = store }
}

/// The machines' timers, kept among the engine's.
struct EngineMachineTimers: MachineTimers {
  let timers: Timers
  /// Distinguishes machines that have the same subject at the same time; nil where there is only one.
  var owner: String?

  func set(_ name: String, milliseconds: UInt32, _ fire: @escaping () -> Void) {
    timers.set(own(name), after: .milliseconds(Int64(milliseconds)), fire)
  }

  func cancel(_ name: String) { timers.cancel(own(name)) }

  private func own(_ name: String) -> String { owner.map { "\(name) \($0)" } ?? name }
}

/// Writes each step of each machine as a line of the log, `step machine=… event=… from=… to=… answer=…`, and, for
/// tests, to the record of steps.
private struct EngineTrace: MachineTrace {
  let log: Log

  var isWatching: Bool { StepRecord.isOn || log.writes(.debug) }

  func newRunner() -> Int { StepRecord.newRunner() }

  func stepped<M: Machine>(
    _ machine: M.Type, _ subject: String, runner: Int, from state: M.State, on event: M.Event, _ step: MachineStep<M>
  ) {
    if StepRecord.isOn {
      StepRecord.add(
        M.name, runner: runner, event: event.name, from: state.name, to: step.next.name, answer: step.answer.name)
    }
    log.step(M.self, subject, from: state, on: event, step)
  }
}

extension Log {
  /// Logs a step; also for machines without a driver.
  func step<M: Machine>(
    _ machine: M.Type, _ subject: String, from state: M.State, on event: M.Event, _ step: MachineStep<M>
  ) {
    guard writes(.debug) else { return }
    self.step(
      M.name, subject, event: event.name, from: state.name, to: step.next.name, answer: step.answer.name)
  }
}
