/// Problems in a machine's file, each with its line. The description has the form that compilers print, so that editors
/// can jump to the line.
package struct MachineError: Error, Equatable, Sendable, CustomStringConvertible {
  package struct Problem: Equatable, Sendable, CustomStringConvertible {
    package let file: String
    /// Counted from 1; 0 if the problem concerns the whole file.
    package let line: Int
    package let message: String

    package var description: String { "\(file):\(line): error: \(message)" }
  }

  package let problems: [Problem]

  package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Collects problems, so that one run reports all of them.
struct ProblemList {
  let file: String
  private(set) var problems: [MachineError.Problem] = []

  init(file: String) { self.file = file }

  mutating func add(_ line: Int, _ message: String) {
    let problem = MachineError.Problem(file: file, line: line, message: message)
    if !problems.contains(problem) { problems.append(problem) }
  }

  func throwIfAny() throws(MachineError) {
    if !problems.isEmpty {
      throw MachineError(problems: problems.sorted { $0.line < $1.line })
    }
  }
}
