import NIOCore
import Synchronization

/// The devices, each with one message under way at a time, so that a push can be matched with its message. Used by the
/// threads of the sender and of the push service.
final class Messages: Sendable {
  /// A mailbox's sender: an identifier, and the parts of requests signed in advance.
  private struct Device {
    let sender: ArraySlice<UInt8>
    var requests: ArraySlice<UInt8>
    var due: NIODeadline?
    var answered: NIODeadline?
    var pushed: NIODeadline?
  }

  struct Sample {
    /// From the answer to the sender, and from the moment at which the message should have been sent.
    let delay: Int64
    let whole: Int64
    let pushed: NIODeadline
  }

  struct Counts {
    var samples: [Sample] = []
    var sent = 0
    /// Answers other than `done`.
    var refused = 0
    /// Pushes to a device without a message under way, and to unknown devices.
    var repeated = 0
    var unknown = 0
  }

  private struct State {
    var devices: [Device] = []
    /// In the order in which they became idle.
    var idle = CircularBuffer<Int>()
    var counts = Counts()
    var isShort = false
  }

  struct Request {
    let device: Int
    let bytes: [UInt8]
  }

  /// The sizes of a device's identifier, a mailbox's, and a request's correlation, attempt and signature.
  private static let sizes = (device: 32, sender: 24, request: 24 + 24 + 64)

  private let numbers: [UInt64: Int]
  /// The limit on messages under way.
  private let most: Int
  private let state: Mutex<State>
  private let body = [UInt8](repeating: 7, count: 1_000)

  /// For each device, `bytes` has its identifier, its mailbox's sender identifier, and `each` signed requests.
  init(_ bytes: [UInt8], each: Int, most: Int) {
    let sizes = Self.sizes
    let size = sizes.device + sizes.sender + each * sizes.request
    var (numbers, state) = ([UInt64: Int](), State())
    for start in stride(from: 0, through: bytes.count - size, by: size) {
      let (sender, requests) = (start + sizes.device, start + sizes.device + sizes.sender)
      numbers[bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }] = state.devices.count
      state.idle.append(state.devices.count)
      state.devices.append(Device(sender: bytes[sender..<requests], requests: bytes[requests..<start + size]))
    }
    self.numbers = numbers
    self.most = most
    self.state = Mutex(state)
  }

  /// Nil if too many messages are under way, or each device has one or has used up its own: then `pushed` reports when
  /// that is over.
  func next(due: NIODeadline) -> Request? {
    state.withLock { state in
      guard state.counts.sent - state.counts.samples.count < most, let number = state.idle.popFirst() else {
        state.isShort = true
        return nil
      }
      let device = state.devices[number]
      let parts = device.requests.prefix(Self.sizes.request)
      state.devices[number].requests = device.requests.dropFirst(Self.sizes.request)
      state.devices[number].due = due
      state.counts.sent += 1
      let (correlation, attempt, signature) = (parts.prefix(24), parts.dropFirst(24).prefix(24), parts.suffix(64))
      let head = [1] + correlation + [1] + signature + [1] + device.sender
      return Request(device: number, bytes: head + [3] + attempt + [1] + body)
    }
  }

  func answered(_ number: Int, at now: NIODeadline, isDone: Bool) {
    state.withLock { state in
      if !isDone { state.counts.refused += 1 }
      state.devices[number].answered = now
      Self.finish(number, &state)
    }
  }

  /// `device`: the first 8 bytes of its identifier. True if the sender is waiting for a device.
  func pushed(_ device: UInt64, at now: NIODeadline) -> Bool {
    state.withLock { state in
      guard let number = numbers[device] else {
        state.counts.unknown += 1
        return false
      }
      guard state.devices[number].due != nil, state.devices[number].pushed == nil else {
        state.counts.repeated += 1
        return false
      }
      state.devices[number].pushed = now
      Self.finish(number, &state)
      defer { state.isShort = false }
      return state.isShort
    }
  }

  private static func finish(_ number: Int, _ state: inout State) {
    let device = state.devices[number]
    guard let due = device.due, let answered = device.answered, let pushed = device.pushed else { return }
    state.counts.samples.append(
      Sample(delay: (pushed - answered).nanoseconds, whole: (pushed - due).nanoseconds, pushed: pushed))
    state.devices[number].due = nil
    state.devices[number].answered = nil
    state.devices[number].pushed = nil
    if !device.requests.isEmpty { state.idle.append(number) }
  }

  var underWay: Int { state.withLock { state in state.counts.sent - state.counts.samples.count } }

  /// The counts since the last call.
  func takeCounts() -> Counts {
    state.withLock { state in
      defer { state.counts = Counts() }
      return state.counts
    }
  }
}
