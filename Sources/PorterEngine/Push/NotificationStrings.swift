import PorterJSON
import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore
import Synchronization

/// The string table a host set for its whole process, for controllers without one of their own. Safe from any thread.
package final class ProcessStrings: Sendable {
  package static let shared = ProcessStrings()

  private let chosen = Mutex<StringTable?>(nil)

  package var table: StringTable? { chosen.withLock { $0 } }

  /// For a host without a controller.
  package var categories: String { NotificationCategories.json(in: table ?? .english).text }

  /// Nil removes the table.
  package func set(_ table: StringTable?) { chosen.withLock { $0 = table } }
}

/// The string tables known to a controller's engine, also for answers without it. Safe from any thread.
final class KnownStrings: Sendable {
  private struct Tables {
    var own: StringTable?
    /// The store's table, as last read.
    var stored: StringTable?
  }

  private let tables = Mutex(Tables())

  var own: StringTable? { tables.withLock { $0.own } }

  func setOwn(_ table: StringTable?) { tables.withLock { $0.own = table } }
  func setStored(_ table: StringTable?) { tables.withLock { $0.stored = table } }

  /// Does not read the store.
  var current: StringTable {
    let known = tables.withLock { $0 }
    return known.own ?? ProcessStrings.shared.table ?? known.stored ?? .english
  }
}

/// The texts of a controller's notifications. A table set in this process takes precedence over the one the app left in
/// the store for its extension. Threads: the engine's.
final class NotificationStrings {
  private let context: EngineContext
  private var known: KnownStrings { context.board.strings }
  /// The store's table, as last parsed.
  private var stored: (text: String, table: StringTable?)? {
    didSet { known.setStored(stored?.table) }
  }

  init(_ context: EngineContext) { self.context = context }

  /// `text` is the source that `table` was parsed from. An app stores it, since its extension has no other way to get
  /// it.
  func set(_ table: StringTable?, text: String) throws(ChatError) -> Response {
    if context.role == .app {
      guard let store = context.store else { throw .nightporter(.storeClosed) }
      do throws(StoreError) {
        try store.setSettings([Setting.strings: table == nil ? nil : text])
      } catch {
        throw ChatError(error)
      }
    }
    known.setOwn(table)
    return .cmdOk(nil)
  }

  /// While the store is closed, uses the app's texts as last read.
  var current: StringTable {
    context.store.flatMap { try? table($0) } ?? known.current
  }

  func table(_ store: Store) throws(StoreError) -> StringTable {
    if let table = known.own ?? ProcessStrings.shared.table { return table }
    guard let text = try store.overview(settings: [Setting.strings]).settings[Setting.strings] else {
      stored = nil
      return .english
    }
    if let stored, stored.text == text { return stored.table ?? .english }
    var table: StringTable?
    do throws(ChatError) { table = try StringTable.parsed(text) } catch {
      // Written by another version, which had other phrases.
      context.log(.warning, "the stored string table does not fit")
      table = .shipped(insteadOf: text)
    }
    stored = (text, table)
    return table ?? .english
  }
}

extension Controller {
  /// The answer of `np_categories`.
  package func categories() -> String? { call { NotificationCategories.json(in: $0.strings.current).text } }

  /// The answer of `np_set_strings`.
  package func setStrings(_ table: StringTable?, text: String) -> String {
    let answer = call { engine in
      Answer(catching: { () throws(ChatError) in try engine.strings.set(table, text: text) })
    }
    return (answer ?? .error(.nightporter(.controllerInvalid))).json.text
  }
}
