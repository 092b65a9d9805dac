#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The only logger. Lines go to the sink that the program sets at startup; without one, nothing is written.
///
/// A message is a `StaticString` with separate values, so that no message text, name or key can slip in by
/// interpolation: a value is a number, one of our identifiers, or the name of a state.
package struct Log: Sendable {
  package enum Level: Int32, Sendable, Comparable {
    case debug = 0
    case info = 1
    case warning = 2
    case error = 3
    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// Gets a line with its values in it.
  package typealias Sink = @Sendable (Level, String) -> Void
  /// Gets the values apart from the message.
  package typealias FieldSink = @Sendable (Level, StaticString, KeyValuePairs<StaticString, String>) -> Void

  private let minimum: Level
  private let sink: FieldSink?

  package init(minimum: Level = .info, sink: Sink? = nil) {
    self.minimum = minimum
    guard let sink else {
      self.sink = nil
      return
    }
    self.sink = { level, message, values in
      var line = "\(message)"
      for (key, value) in values { line += " \(key)=\(value)" }
      sink(level, line)
    }
  }

  package init(minimum: Level, fields sink: @escaping FieldSink) {
    self.minimum = minimum
    self.sink = sink
  }

  package static let silent = Log()

  /// Whether a line of this level is written anywhere: for callers that would produce many.
  package func writes(_ level: Level) -> Bool { sink != nil && level >= minimum }

  /// Logs a machine's step, at the level `debug`. An empty subject means that there is one machine of its kind.
  package func step(
    _ machine: String, _ subject: String, event: String, from: String, to: String, answer: String
  ) {
    self(
      .debug, "step",
      [
        "machine": machine, "subject": subject.isEmpty ? "-" : subject, "event": event, "from": from, "to": to,
        "answer": answer,
      ])
  }

  /// Writes to standard error; for programs. `timed` prefixes each line with the monotonic clock's microseconds, for
  /// comparison with the logs of other processes.
  package static func standardError(minimum: Level, timed: Bool = false) -> Log {
    Log(minimum: minimum) { level, line in
      let text = (timed ? "\(monotonicMicroseconds()) " : "") + "\(level): \(line)\n"
      _ = text.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
    }
  }

  private static func monotonicMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  package func callAsFunction(
    _ level: Level, _ message: StaticString, _ values: KeyValuePairs<StaticString, String> = [:]
  ) {
    guard let sink, writes(level) else { return }
    sink(level, message, values)
  }
}
