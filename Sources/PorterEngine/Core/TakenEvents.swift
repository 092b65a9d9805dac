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
  private let files: any Files
  private let randomness: any Randomness
  private let log: Log
  private let stop: StopSignal
  private let isApp: Bool
  private var known: [Kind: Set<Int64>] = [:]
  /// As the store has it since this process opened it last. The numbers mean something in a store that was opened so last, and
  /// not in one that was put in its place, such as one from a backup, even if that has the place of the file on the disk.
  private var opening: String?

  init(_ context: EngineContext) {
    path = context.configuration.location.stem + "_taken"
    files = context.configuration.ports.files
    randomness = context.randomness
    log = context.log
    stop = context.stop
    isApp = context.role == .app
  }

  /// The store is open. Reads what was kept for it, and gives this opening a name of its own.
  func beginOpening(_ store: Store) throws(StoreError) {
    guard isApp else { return }
    let last = try store.setting(Setting.opening)
    if opening == nil { known = read(of: last) } else if opening != last { known = [:] }
    let new = TextEncoding.hex(randomness.bytes(16))
    do throws(StoreError) {
      // An app that starts waits for no other process.
      try stop.withReleaseBudget(Durations.releaseBudget) {
        Result { () throws(StoreError) in try store.noteLightly(new, as: Setting.opening) }
      }.get()
      opening = new
      if !known.isEmpty { save() }
    } catch {
      log(.info, "the store keeps the name of its last opening", ["error": error.description])
      opening = last
    }
  }

  func kept(_ kind: Kind) -> Set<Int64> { known[kind] ?? [] }

  /// In place of what was kept of this kind.
  func keep(_ numbers: Set<Int64>, _ kind: Kind) { change(kind, to: numbers) }

  /// The store has them, or is to have them now.
  func forget(_ kind: Kind) { change(kind, to: []) }

  private func change(_ kind: Kind, to numbers: Set<Int64>) {
    guard isApp, kept(kind) != numbers else { return }
    known[kind] = numbers.isEmpty ? nil : numbers
    save()
  }

  private func save() {
    do throws(SystemError) { try write(known) } catch {
      log(.info, "events may come again after a restart", ["error": String(error.code)])
    }
  }

  // MARK: The file

  private static let limit = 1 << 20

  private func write(_ kept: [Kind: Set<Int64>]) throws(SystemError) {
    guard let opening, !kept.isEmpty else {
      if (try? files.status(at: path)) != nil { try files.remove(path) }
      return
    }
    let file = try files.open(path, for: .writingOrCreating)
    defer { files.close(file) }
    var lines = [opening]
    for (kind, numbers) in kept {
      lines.append(([kind.rawValue] + numbers.map { String($0) }).joined(separator: " "))
    }
    lines.append("end\n")
    try files.write(Array(lines.joined(separator: "\n").utf8), to: file)
  }

  /// Nothing, if the file is not whole, or not about the store that was opened so.
  private func read(of opening: String?) -> [Kind: Set<Int64>] {
    guard let opening, let file = try? files.open(path, for: .reading) else { return [:] }
    defer { files.close(file) }
    guard let bytes = try? files.read(file, limit: Self.limit), let text = String(validating: bytes, as: UTF8.self)
    else { return [:] }
    let lines = text.split(separator: "\n")
    guard lines.count > 2, lines.first.map(String.init) == opening, lines.last == "end" else { return [:] }
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
