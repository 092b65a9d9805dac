import CSQLite
import PorterPlatform
import Synchronization

/// Waits for another connection's lock: short random pauses up to a deadline.
///
/// SQLite's own busy timeout backs off to pauses of 100 ms, hundreds of times a commit's length; a waiter then sleeps
/// through every gap of a busy file. Pauses here grow from 50 µs to half a millisecond, after about 30 ms to 2 ms, and
/// differ between processes so that they do not wake in step. `FairWriteLock` provides fairness.
final class BusyWaiter {
  var timeout: Span
  /// How often the connection had been interrupted when the running statement began.
  var interruptionsBefore: UInt32 = 0

  /// False while a transaction is committed or rolled back, or the connection is closed: work that has come this far
  /// ends soonest by being finished.
  var observesStop = true

  private let interrupter: DatabaseInterrupter
  private let stop: StopSignal?
  private let ports: Ports
  private var deadline = Moment.distantFuture
  /// 0 only until the first pause.
  private var jitter: UInt64 = 0

  private var clock: any Clock { ports.clock }

  init(timeout: Span, interrupter: DatabaseInterrupter, stop: StopSignal? = nil, ports: Ports) {
    self.timeout = timeout
    self.interrupter = interrupter
    self.stop = stop
    self.ports = ports
  }

  /// `instructions`: between two checks whether to stop reading.
  func install(on database: OpaquePointer, instructions: Int32 = instructionsBetweenLooks) {
    sqlite3_busy_handler(
      database,
      { context, attempt in
        guard let context else { return 0 }
        return Unmanaged<BusyWaiter>.fromOpaque(context).takeUnretainedValue().wait(attempt: attempt) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    guard stop != nil else { return }
    sqlite3_progress_handler(
      database, instructions,
      { context in
        guard let context else { return 0 }
        return Unmanaged<BusyWaiter>.fromOpaque(context).takeUnretainedValue().stopsReading ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// SQLite bytecode instructions: about ten microseconds' worth, a hundred rows.
  static let instructionsBetweenLooks: Int32 = 512

  private var isStopped: Bool { observesStop && stop?.cutsOff == true }
  private var stopsReading: Bool { observesStop && stop?.stopsReading == true }

  func noteCommit() { stop?.noteCommit() }

  /// The end of a wait of this length that begins now.
  private func end(of span: Span) -> Moment {
    let end = clock.now() + span
    return stop?.limit(end) ?? end
  }

  /// Runs `body` again while it throws `busy`, up to the timeout; for the few operations during which SQLite does not
  /// call the handler.
  func retrying(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    let end = end(of: timeout)
    var attempt: Int32 = 0
    while true {
      do throws(SQLiteError) {
        return try body()
      } catch {
        guard error.kind == .busy, !isStopped, clock.now() < end else { throw error }
        clock.pause(length(ofPause: attempt))
        attempt += 1
      }
    }
  }

  /// Waits for this connection's turn among the writers, within bounds.
  func takeTurn(at writeLock: inout FairWriteLock) {
    let now = clock.now()
    writeLock.enter(clock, limit: max(.zero, end(of: timeout) - now)) { attempt in
      guard interrupter.interruptions == interruptionsBefore, !isStopped else { return false }
      clock.pause(length(ofPause: attempt))
      return true
    }
  }

  /// Sleeps a little; false if SQLite should give up. `attempt` counts from 0 for each lock.
  private func wait(attempt: Int32) -> Bool {
    // SQLite checks its interrupt flag only between steps, not while it waits for a lock.
    guard interrupter.interruptions == interruptionsBefore, !isStopped else { return false }
    if attempt == 0 { deadline = end(of: timeout) }
    let now = clock.now()
    guard now < deadline else { return false }
    clock.pause(min(length(ofPause: attempt), deadline - now))
    return true
  }

  private func length(ofPause attempt: Int32) -> Span {
    let longest: Int64 = attempt < 80 ? 500_000 : 2_000_000
    let ceiling = min(longest, 50_000 << Int64(min(attempt / 2, 6)))
    if jitter == 0 {
      var generator = RandomnessGenerator(ports.randomness)
      jitter = max(1, generator.next())
    }
    jitter ^= jitter << 13
    jitter ^= jitter >> 7
    jitter ^= jitter << 17
    return Span(nanoseconds: ceiling / 2 + Int64(jitter % UInt64(ceiling)))
  }
}

/// Stops the statement that a connection is running. Safe from any thread, even while or after the database is closed.
///
/// It stops whatever is running at that moment, including a wait for a lock; anything that begins later is not
/// affected. A caller that wants to stop a sequence of statements also needs its own flag.
package final class DatabaseInterrupter: Sendable {
  /// The connection's address; 0 once it is closed, since SQLite must not be asked to interrupt a closed connection.
  private let address = Mutex<UInt>(0)
  private let count = Atomic<UInt32>(0)

  package func interrupt() {
    count.wrappingAdd(1, ordering: .sequentiallyConsistent)
    address.withLock { address in
      guard let database = OpaquePointer(bitPattern: address) else { return }
      sqlite3_interrupt(database)
    }
  }

  var interruptions: UInt32 { count.load(ordering: .relaxed) }

  func attach(_ database: OpaquePointer) { address.withLock { $0 = UInt(bitPattern: database) } }
  func detach() { address.withLock { $0 = 0 } }
}
