import CSystemCalls
import Foundation
import PorterEngine
import PorterInbox
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterServer
import PorterStore
import Synchronization

/// Everything that happened, line by line, in virtual time.
///
/// `@unchecked Sendable`: used on one thread.
final class Trace: @unchecked Sendable {
  private(set) var lines: [String] = []
  private let clock: SimulatedClock
  private let folder: String

  init(clock: SimulatedClock, folder: String) {
    self.clock = clock
    self.folder = folder
  }

  func add(_ name: String, _ line: String) {
    let time = clock.elapsed.nanoseconds
    let fraction = String(1_000_000_000 + time % 1_000_000_000).dropFirst()
    lines.append("\(time / 1_000_000_000).\(fraction) \(name) \(line)".replacingOccurrences(of: folder, with: "~"))
  }

  func log(_ name: String) -> Log { Log(minimum: .debug) { [self] level, line in add(name, "\(level) \(line)") } }
}

struct SimulationFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Requests to those ports that other processes may delay.
struct Waits: Equatable, Sendable {
  private(set) var pauses: Int
  private(set) var lockAttempts: Int

  init(_ clock: SimulatedClock, _ files: SimulatedFiles) {
    (pauses, lockAttempts) = (clock.pauses, files.lockAttempts)
  }

  static func - (left: Waits, right: Waits) -> Waits {
    var difference = left
    difference.pauses -= right.pauses
    difference.lockAttempts -= right.lockAttempts
    return difference
  }
}

/// A program that embeds the library: one controller, whose calls and answers are traced.
final class SimulatedHost {
  let name: String
  let controller: Controller
  private let house: SimulatedHouse

  fileprivate init(_ name: String, _ house: SimulatedHouse, _ controller: Controller) {
    self.name = name
    self.house = house
    self.controller = controller
  }

  /// The answer, which must be a result of this type.
  @discardableResult
  func send(_ command: String, _ type: String) throws -> JSONValue {
    house.trace.add(name, "> \(command)")
    let answer = controller.send(command, retry: 0)
    house.trace.add(name, "< \(answer)")
    let json = try JSONValue(parsing: answer)
    guard json["result"]?["type"]?.stringValue == type else { throw SimulationFailure("\(command): \(answer)") }
    return json["result"] ?? .null
  }

  /// Waits for an event of this type; all events that arrive are traced.
  @discardableResult
  func event(_ type: String, within span: Span = .seconds(15)) throws -> JSONValue {
    var found: JSONValue?
    _ = house.world.run(atMost: span) {
      while found == nil, case .event(let text)? = controller.events.take(atMost: .zero) {
        house.trace.add(name, "! \(text)")
        if let event = try? JSONValue(parsing: text), event["result"]?["type"]?.stringValue == type {
          found = event["result"]
        }
      }
      return found != nil
    }
    guard let found else { throw SimulationFailure("\(name): no event \(type)") }
    return found
  }

  func push(_ payload: String, deadline: Span = .seconds(25)) throws -> JSONValue {
    let answer = controller.receivePush(payload, deadline: deadline)
    house.trace.add(name, "notification \(answer)")
    return try JSONValue(parsing: answer)
  }

  func refresh(deadline: Span = .seconds(30)) throws -> JSONValue {
    let answer = controller.refresh(deadline: deadline)
    house.trace.add(name, "refreshed \(answer)")
    return try JSONValue(parsing: answer)
  }

  /// The system wakes it in the background.
  func wake() throws {
    guard controller.setPhase(nil) else { throw SimulationFailure("\(name) is not woken") }
  }

  func closeStore() throws {
    let problem = controller.closeStore()
    guard problem.isEmpty else { throw SimulationFailure(problem) }
  }

  func reopenStore() throws {
    let problem = controller.reopenStore()
    guard problem.isEmpty else { throw SimulationFailure(problem) }
  }

  /// Sends a command whose work pauses, for example to wait for a lock, and makes a second call from another thread
  /// during that pause. Returns the requests to the ports from that moment to the answer of the second call.
  func send(
    _ command: String, interruptedBy call: @escaping @Sendable (Controller) -> String
  ) throws -> Waits {
    let (controller, house) = (controller, house)
    let begun = Mutex<(Promise<String>, Waits)?>(nil)
    house.clock.atNextPause { [world = house.world, clock = house.clock, files = house.files] in
      let answer = world.interrupt { call(controller) }
      begun.withLock { $0 = (answer, Waits(clock, files)) }
    }
    house.trace.add(name, "> \(command)")
    house.trace.add(name, "< \(controller.send(command, retry: 0))")
    _ = house.world.run(atMost: .seconds(15)) { begun.withLock { $0 != nil } }
    guard let (promise, before) = begun.withLock({ $0 }), let answer = house.world.answer(of: promise) else {
      throw SimulationFailure("\(command) was not interrupted")
    }
    house.trace.add(name, "interrupted \(answer)")
    return Waits(house.clock, house.files) - before
  }

  func state() throws -> JSONValue {
    let state = controller.state()
    house.trace.add(name, "state \(state)")
    return try JSONValue(parsing: state)
  }

  func end() {
    controller.stop()
    house.trace.add(name, "ended")
  }
}

/// The notification server, which serves whenever it is woken or its time has come, and puts its pushes on a tray.
private final class SimulatedServer: Participant {
  private let world: OneThread
  private let server: NotificationServer
  private let relay: EmbeddedRelay
  private let deliver: (String) -> Void
  private var nextDeadline: Moment

  init(_ world: OneThread, _ server: NotificationServer, _ relay: EmbeddedRelay, deliver: @escaping (String) -> Void) {
    self.world = world
    self.server = server
    self.relay = relay
    self.deliver = deliver
    nextDeadline = world.clock.now()
  }

  var isReady: Bool {
    world.failure == nil && (world.isReadable(relay.wakeDescriptor) || world.clock.now() >= nextDeadline)
  }
  var due: Moment? { world.failure == nil ? nextDeadline : nil }

  func step() {
    do {
      relay.drainWake()
      try server.serve()
      while let pending = try server.nextPush(for: "apns_test") {
        deliver(pending.push.payload.text)
        try server.finish(pending, .accepted)
      }
      nextDeadline = try server.nextDeadline()
    } catch {
      world.fail(error)
    }
  }
}

private final class Appointment: Participant {
  private let world: OneThread
  private let moment: Moment
  private let work: () throws -> Void

  init(_ world: OneThread, at moment: Moment, _ work: @escaping () throws -> Void) {
    self.world = world
    self.moment = moment
    self.work = work
  }

  var isReady: Bool { world.clock.now() >= moment }
  var due: Moment? { moment }

  func step() {
    world.remove(self)
    do { try work() } catch { world.fail(error) }
  }
}

/// A relay, a notification server, and the programs of several devices, on one thread.
final class SimulatedHouse {
  let world: OneThread
  let trace: Trace
  let clock = SimulatedClock()
  let files: SimulatedFiles
  private let sockets: SimulatedSockets
  private let seed: UInt64
  private let folder: String
  private let relay: EmbeddedRelay
  private let state: ServerState
  private let server: NotificationServer
  private var serving: SimulatedServer?
  private var processes: Int32 = 100
  private var pushes: [String] = []

  var serverLink: String { "\(server.link)" }
  var relayPath: String { folder + "/relay.db" }

  /// The folder must be empty.
  init(seed: UInt64, folder: String) throws {
    self.seed = seed
    self.folder = folder
    sockets = SimulatedSockets(clock: clock)
    files = SimulatedFiles(sockets: sockets)
    world = OneThread(clock: clock, sockets: sockets, order: SeededRandomness(seed: seed, name: "order"))
    trace = Trace(clock: clock, folder: folder)
    SimulatedLibraries.begin(seed: seed)
    let ports = Ports(
      clock: clock, randomness: SeededRandomness(seed: seed, name: "server"), files: files, datagrams: sockets,
      identity: ProcessIdentity(boot: "simulation", process: 99, started: 99))
    relay = EmbeddedRelay(path: folder + "/relay.db", ports: ports, log: trace.log("relay"))
    state = try ServerState(path: folder + "/server.db", access: .serve, ports: ports)
    server = try NotificationServer(
      state: state, relay: relay, providers: ["apns_test"], ports: ports, log: trace.log("server"))
    let serving = SimulatedServer(world, server, relay) { [unowned self] payload in
      trace.add("server", "push \(payload)")
      pushes.append(payload)
    }
    self.serving = serving
    world.add(serving)
  }

  /// The same for each run of this process: a store keeps its relay's path.
  private static let folder: String = {
    system_calls_enter_port()
    defer { system_calls_leave_port() }
    return NSTemporaryDirectory() + "porter-simulation-\(ProcessInfo.processInfo.processIdentifier)"
  }()

  /// Runs a story in a folder of its own, which is deleted afterwards.
  static func run(seed: UInt64, _ story: (SimulatedHouse) throws -> Void) throws -> SimulatedHouse {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let house = try SimulatedHouse(seed: seed, folder: folder)
    try story(house)
    try house.end()
    return house
  }

  /// Call it when the hosts have ended. Throws if the server or an appointment failed.
  func end() throws {
    if let serving { world.remove(serving) }
    relay.close()
    try state.close()
    SimulatedLibraries.end()
    try traceFiles()
    if let failure = world.failure { throw failure }
    guard sockets.isEmpty else { throw SimulationFailure("sockets stay behind") }
  }

  /// The final content of every file, as a checksum (FNV-1a).
  private func traceFiles() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
      guard try files.status(at: path(name)).kind == .regular else { continue }
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path(name)))
      let sum = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
      trace.add("file", "\(name) \(bytes.count) \(String(sum, radix: 16))")
    }
  }

  /// Starts a program on the store of this name, as its own process.
  func host(
    _ name: String, store: String, _ role: Role, inbox: Inbox? = nil, logs: Bool = true
  ) throws -> SimulatedHost {
    processes += 1
    let ports = Ports(
      clock: clock, randomness: SeededRandomness(seed: seed, name: "\(name) \(processes)"), files: files,
      datagrams: sockets,
      identity: ProcessIdentity(boot: "simulation", process: processes, started: Int64(processes)))
    var configuration = Configuration(
      prefix: folder + "/" + store, role: role, confirmation: .yesUp, ports: ports, execution: world,
      log: logs ? trace.log(name) : .silent)
    if let inbox { configuration = configuration.receiving(from: inbox) }
    let (result, controller) = Controller.open(configuration, key: HeldKey(try key(of: store), isRetained: true))
    trace.add(name, "opened \(result.json.text)")
    guard let controller else { throw SimulationFailure("\(name): \(result)") }
    return SimulatedHost(name, self, controller)
  }

  func key(of store: String) throws -> StoreKey {
    try StoreKey.parse("x'" + TextEncoding.hex(SeededRandomness(seed: seed, name: "key of " + store).bytes(32)) + "'")
  }

  func path(_ name: String) -> String { folder + "/" + name }

  /// When each file of a store was last written, by the system's clock, and its length. No file is opened for it.
  func writings(of store: String) throws -> [String: String] {
    var writings: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix(store + "_") {
      var status = stat()
      guard stat(path(name), &status) == 0 else { continue }
      writings[name] = "\(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }
    return writings
  }

  /// The oldest push that has not been taken.
  func nextPush(within span: Span = .seconds(30)) throws -> String {
    guard world.run(atMost: span, until: { !pushes.isEmpty }) else { throw SimulationFailure("no push came") }
    return pushes.removeFirst()
  }

  /// The number of channel sockets opened by all processes so far.
  var socketsOpened: Int { sockets.opened }

  /// Whether every push was taken.
  var hasNoPush: Bool { pushes.isEmpty }

  /// Runs everything that is due within this time.
  func pass(_ span: Span) { _ = world.run(atMost: span) { false } }

  /// Runs the work once the time has come, between two steps of other participants; also while a host waits for an
  /// answer.
  func after(_ span: Span, _ work: @escaping () throws -> Void) {
    world.add(Appointment(world, at: clock.now() + span, work))
  }

  func newToken() -> String { TextEncoding.hex(SeededRandomness(seed: seed, name: "token").bytes(32)) }
}
