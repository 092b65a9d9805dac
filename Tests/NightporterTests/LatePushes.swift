import XCTest

/// On a busy machine the engine may miss the 100 ms that it has at the end of a push.
extension JSON {
  /// The caller was answered without the engine, which knows what the push names and what it leaves alone.
  var isWithoutEngine: Bool {
    ["time was up while the engine was at work", "the engine did not end in time"].contains(self["reason"].text)
  }

  /// Likewise, or with what the engine showed before it had closed the store.
  var isLate: Bool { isWithoutEngine || self["reason"].text == "time was up before the store was closed" }
}

/// Repeats a push up to four times while its answer came too late. An engine that is always late still fails.
func repeating(
  while isLate: (JSON) -> Bool, of host: Host, file: StaticString = #filePath, line: UInt = #line,
  _ push: () throws -> JSON
) rethrows -> JSON {
  var answer = try push()
  for _ in 0..<4 where isLate(answer) {
    awaitThat("the engine is done", file: file, line: line) { host.state["quiescent"].flag }
    answer = try push()
  }
  return answer
}
