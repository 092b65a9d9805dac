import PorterPlatform
import PorterStore

/// The events that an app's host took while the store was closed, as it is while the app is suspended. They are kept in
/// a file next to the store until they are in the store, even if it is opened by the app's next process. So no event
/// comes twice.
///
/// The file needs no lock, since only one app at a time has the store; a process may be frozen or killed at any point
/// while writing it. Threads: the engine's.
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
  private var known = [Kind: Set<Int64>]()
  /// The name stored when this process last opened the store. The numbers are valid only in a store whose last opening
  /// has this name, not in one put in its place, such as a backup, even if that occupies the same place on the disk.
  private var opening: String?

  init(_ context: EngineContext) {
    path = context.configuration.location.stem + "_taken"
    files = context.configuration.ports.files
    randomness = context.randomness
    log = context.log
    stop = context.stop
    isApp = context.role == .app
  }

  /// Called once the store is open. Reads what was kept for it, and gives this opening its own name.
  func beginOpening(_ store: Store) throws(StoreError) {
    guard isApp else { return }
    let last: String?
    do throws(StoreError) { last = try store.setting(Setting.opening) } catch {
      // A process that had the store open before continues as it is, and retries what it cannot read.
      guard opening != nil else { throw error }
      return log(.info, "the name of the store's last opening could not be read", ["error": error.description])
    }
    if opening == nil { known = read(of: last) } else if opening != last { known = [:] }
    let new = TextEncoding.hex(randomness.bytes(16))
    do throws(SystemError) {
      // First: a process killed just before or after the store gets the new name leaves a file that matches the store.
      if !known.isEmpty {
        try write(known, of: last, next: new)
        FaultPoint.reach(.openingWritten)
      }
    } catch {
      log(.info, "the store keeps the name of its last opening", ["error": String(error.code)])
      return opening = last
    }
    do throws(StoreError) {
      try unwaiting { () throws(StoreError) in try store.noteLightly(new, as: Setting.opening) }
      opening = new
      if !known.isEmpty {
        FaultPoint.reach(.openingNamed)
        save()
      }
    } catch {
      log(.info, "the store keeps the name of its last opening", ["error": error.description])
      opening = last
    }
  }

  /// Writes to the store what was taken, without waiting for another process that is writing: until it succeeds, the
  /// file has it. Otherwise the host's call that took the event would return before anything is written.
  func unwaiting(_ write: () throws(StoreError) -> Void) throws(StoreError) {
    try stop.withReleaseBudget(Durations.releaseBudget) { Result { () throws(StoreError) in try write() } }.get()
  }

  func kept(_ kind: Kind) -> Set<Int64> { known[kind] ?? [] }

  /// Replaces what was kept of this kind.
  func keep(_ numbers: Set<Int64>, _ kind: Kind) { change(kind, to: numbers) }

  /// Drops this kind: the store has the numbers, or is about to get them.
  func forget(_ kind: Kind) { change(kind, to: []) }

  private func change(_ kind: Kind, to numbers: Set<Int64>) {
    guard isApp, kept(kind) != numbers else { return }
    known[kind] = numbers.isEmpty ? nil : numbers
    save()
  }

  private func save() {
    do throws(SystemError) { try write(known, of: opening) } catch {
      log(.info, "events may come again after a restart", ["error": String(error.code)])
    }
  }

  // MARK: The file

  private static let limit = 1 << 20

  /// `next`: the name the store is about to get.
  private func write(
    _ kept: [Kind: Set<Int64>], of opening: String?, next: String? = nil
  ) throws(SystemError) {
    guard let opening, !kept.isEmpty else {
      if (try? files.status(at: path)) != nil { try files.remove(path) }
      return
    }
    var lines = [opening]
    if let next { lines.append(Self.next + next) }
    for (kind, numbers) in kept {
      lines.append(([kind.rawValue] + numbers.map { String($0) }).joined(separator: " "))
    }
    lines.append("end\n")
    try replace(with: Array(lines.joined(separator: "\n").utf8))
  }

  private static let next = "next "

  /// The file is whole at any moment: either the old one or the new one.
  private func replace(with bytes: [UInt8]) throws(SystemError) {
    let new = path + "_new"
    let file = try files.open(new, for: .writingOrCreating)
    do throws(SystemError) {
      defer { files.close(file) }
      try files.write(bytes, to: file)
    } catch {
      try? files.remove(new)
      throw error
    }
    try files.rename(new, to: path)
  }

  /// Returns nothing if the file is not whole, or does not match the store opened under this name.
  private func read(of opening: String?) -> [Kind: Set<Int64>] {
    guard let opening, let file = try? files.open(path, for: .reading) else { return [:] }
    defer { files.close(file) }
    guard let bytes = try? files.read(file, limit: Self.limit), let text = String(validating: bytes, as: UTF8.self)
    else { return [:] }
    var lines = text.split(separator: "\n").map { String($0) }
    guard lines.count > 2, lines.removeLast() == "end" else { return [:] }
    var names = [lines.removeFirst()]
    if lines[0].hasPrefix(Self.next) { names.append(String(lines.removeFirst().dropFirst(Self.next.count))) }
    guard names.contains(opening) else { return [:] }
    var kept = [Kind: Set<Int64>]()
    for line in lines {
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
