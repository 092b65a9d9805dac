// Sends pushes to a stand-in for APNs as fast as it takes them: `push-load PORT AUTHORITY KEY COUNT STREAMS`, with as
// many under way as a notification server has. All are for one device, since the stand-in serves a file. Prints one
// JSON object; its processor time is that of sending, without start-up.

import NIOCore
import NIOPosix
import PorterAPNs
import PorterServer
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Keeps as many pushes under way as the provider takes.
final class Load: Sendable {
  private struct State {
    var sent = 0
    var ended = 0
    var refused = 0
    var waiting: EventLoopPromise<Void>?
  }

  private let provider: APNsProvider
  private let count: Int
  private let push: ServedPush
  private let state: Mutex<State>

  init(_ provider: APNsProvider, count: Int, done: EventLoopPromise<Void>) {
    self.provider = provider
    self.count = count
    // The content of a message push: 4 KB of JSON.
    let message = String(repeating: "A", count: 3_700)
    push = ServedPush(
      kind: .message, token: [UInt8](repeating: 0xAA, count: 32), isAlert: true, priority: 10,
      payload: Array(#"{"aps":{"mutable-content":1},"notificationData":{"message":"\#(message)"}}"#.utf8))
    state = Mutex(State(waiting: done))
  }

  func begin() {
    for _ in 0..<min(count, provider.capacity) { next() }
  }

  var refused: Int { state.withLock { $0.refused } }

  private func next() {
    let isLeft = state.withLock { state -> Bool in
      guard state.sent < count else { return false }
      state.sent += 1
      return true
    }
    guard isLeft else { return }
    provider.send(push) { [self] outcome in
      let done = state.withLock { state -> EventLoopPromise<Void>? in
        state.ended += 1
        if outcome != .accepted { state.refused += 1 }
        guard state.ended == count else { return nil }
        defer { state.waiting = nil }
        return state.waiting
      }
      done?.succeed()
      next()
    }
  }
}

func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func measure(
  _ provider: APNsProvider, count: Int, on loop: any EventLoop
) throws -> (time: Double, processor: Double, refused: Int) {
  let done = loop.makePromise(of: Void.self)
  let load = Load(provider, count: count, done: done)
  let (began, before) = (NIODeadline.now(), processorTime())
  load.begin()
  try done.futureResult.wait()
  return (Double((NIODeadline.now() - began).nanoseconds) / 1e9, processorTime() - before, load.refused)
}

let arguments = CommandLine.arguments
guard arguments.count == 6, let port = Int(arguments[1]), let count = Int(arguments[4]),
  let streams = Int(arguments[5])
else {
  print("usage: push-load PORT AUTHORITY KEY COUNT STREAMS")
  exit(2)
}
var options = try APNsOptions(
  environment: .sandbox, key: arguments[3], keyID: "ABCDE12345", teamID: "TEAM567890", topic: "org.example.app")
options.host = "localhost"
options.port = port
options.authority = arguments[2]
options.streams = streams
let provider = try APNsProvider(options) { level, message, _ in if level == "error" { print(message) } }
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
// The connection is open, and the token created.
_ = try measure(provider, count: 1_000, on: group.next())
let result = try measure(provider, count: count, on: group.next())
try provider.close()
try group.syncShutdownGracefully()
print(
  "{\"count\":\(count),\"refused\":\(result.refused),\"seconds\":\(result.time),\"processorSeconds\":\(result.processor)}"
)
