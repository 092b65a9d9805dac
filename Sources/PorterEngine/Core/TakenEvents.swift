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
  private var known = [Kind: Set<Int64>]()
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
    let last: String?
    do throws(StoreError) { last = try store.setting(Setting.opening) } catch {
      // A process that has had the store open continues as it is, and retries what it cannot read.
      guard opening != nil else { throw error }
      return log(.info, "the name of the store's last opening could not be read", ["error": error.description])
    }
    if opening == nil { known = read(of: last) } else if opening != last { known = [:] }
    let new = TextEncoding.hex(randomness.bytes(16))
    do throws(SystemError) {
      // First: a process that is killed before the store has the new name, or right after, leaves a file that is about the store.
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

  /// Writes to the store what was taken, and waits for no other process that is writing: until that is done, the file has it. Else
  /// the call with which the host has taken the event would return before anything is written.
  func unwaiting(_ write: () throws(StoreError) -> Void) throws(StoreError) {
    try stop.withReleaseBudget(Durations.releaseBudget) { Result { () throws(StoreError) in try write() } }.get()
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
    do throws(SystemError) { try write(known, of: opening) } catch {
      log(.info, "events may come again after a restart", ["error": String(error.code)])
    }
  }

  // MARK: The file

  private static let limit = 1 << 20

  /// `next`: the name that the store is given now.
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

  /// At any moment the file is whole: the old one or the new one.
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

  /// Nothing, if the file is not whole, or not about the store that was opened so.
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
