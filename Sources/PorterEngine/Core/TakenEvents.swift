import PorterPlatform
import PorterStore

/// What the host of an app has taken of its events while the store was closed, as it is while the app is suspended: kept in a file
/// beside the store until the store has it, also if that is opened by the app's next process. So no event comes a second time.
///
/// The file needs no lock, since one app at a time has the store; a process may be frozen or killed at any point of writing it.
/// Threads: the engine's.
final class TakenEvents {
  enum Kind: String, CaseIterable {
    /// The newest entry of the ledger.
    case entries
    case responses
    case calls
  }

  private let path: String
  private let store: String
  private let files: any Files
  private let log: Log
  private let isApp: Bool
  /// Nil until the file is read.
  private var known: [Kind: Set<Int64>]?

  init(_ context: EngineContext) {
    path = context.configuration.location.stem + "_taken"
    store = context.configuration.location.file
    files = context.configuration.ports.files
    log = context.log
    isApp = context.role == .app
  }

  func kept(_ kind: Kind) -> Set<Int64> { all()[kind] ?? [] }

  /// In place of what was kept of this kind.
  func keep(_ numbers: Set<Int64>, _ kind: Kind) { change(kind, to: numbers) }

  /// The store has them, or is to have them now.
  func forget(_ kind: Kind) { change(kind, to: []) }

  private func change(_ kind: Kind, to numbers: Set<Int64>) {
    guard isApp, kept(kind) != numbers else { return }
    var new = all()
    new[kind] = numbers.isEmpty ? nil : numbers
    known = new
    do throws(SystemError) { try write(new) } catch {
      log(.info, "events may come again after a restart", ["error": String(error.code)])
    }
  }

  private func all() -> [Kind: Set<Int64>] {
    if let known { return known }
    let read = isApp ? read() : [:]
    known = read
    return read
  }

  // MARK: The file

  private static let limit = 1 << 20

  /// The numbers mean something in this very file of the store, and not in one that was put in its place.
  private var identity: String? {
    guard let status = try? files.status(at: store) else { return nil }
    return "\(status.device) \(status.inode)"
  }

  private func write(_ kept: [Kind: Set<Int64>]) throws(SystemError) {
    guard let identity, !kept.isEmpty else {
      if (try? files.status(at: path)) != nil { try files.remove(path) }
      return
    }
    let file = try files.open(path, for: .writingOrCreating)
    defer { files.close(file) }
    var lines = [identity]
    for (kind, numbers) in kept {
      lines.append(([kind.rawValue] + numbers.map { String($0) }).joined(separator: " "))
    }
    lines.append("end\n")
    try files.write(Array(lines.joined(separator: "\n").utf8), to: file)
  }

  /// Nothing, if the file is not whole.
  private func read() -> [Kind: Set<Int64>] {
    guard let file = try? files.open(path, for: .reading) else { return [:] }
    defer { files.close(file) }
    guard let bytes = try? files.read(file, limit: Self.limit), let text = String(validating: bytes, as: UTF8.self)
    else { return [:] }
    let lines = text.split(separator: "\n")
    guard lines.count > 2, lines.first.map(String.init) == identity, lines.last == "end" else { return [:] }
    var kept: [Kind: Set<Int64>] = [:]
    for line in lines.dropFirst().dropLast() {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Int64($0) }
      guard let kind = words.first.flatMap({ Kind(rawValue: String($0)) }), numbers.count == words.count - 1 else {
        return [:]
      }
      kept[kind] = Set(numbers)
    }
    return kept
  }
}
