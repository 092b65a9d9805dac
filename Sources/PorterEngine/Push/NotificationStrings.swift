import PorterJSON
import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore
import Synchronization

/// The string table that a host set for its whole process: for controllers that have none of their own. Safe from any thread.
package final class ProcessStrings: Sendable {
  package static let shared = ProcessStrings()

  private let chosen = Mutex<StringTable?>(nil)

  package var table: StringTable? { chosen.withLock { $0 } }

  /// For a host without a controller.
  package var categories: String { NotificationCategories.json(in: table ?? .english).text }

  /// Nil takes the table away.
  package func set(_ table: StringTable?) { chosen.withLock { $0 = table } }
}

/// Which texts a controller's notifications have. What this process was given prevails over what the app left in the store
/// for its extension. Threads: the engine's.
final class NotificationStrings {
  private let context: EngineContext
  private var own: StringTable?
  /// The store's, as it was parsed last.
  private var stored: (text: String, table: StringTable?)?

  init(_ context: EngineContext) { self.context = context }

  /// `text` is what `table` was parsed from. An app stores it, since its extension has no other way to learn of it.
  func set(_ table: StringTable?, text: String) throws(ChatError) -> Response {
    if context.role == .app {
      guard let store = context.store else { throw .nightporter(.storeClosed) }
      do throws(StoreError) {
        try store.setSettings([Setting.strings: table == nil ? nil : text])
      } catch {
        throw ChatError(error)
      }
    }
    own = table
    return .cmdOk(nil)
  }

  /// While the store is closed, with the app's texts as they were read last.
  var current: StringTable {
    if let table = context.store.flatMap({ try? table($0) }) { return table }
    return own ?? ProcessStrings.shared.table ?? stored?.table ?? .english
  }

  func table(_ store: Store) throws(StoreError) -> StringTable {
    if let table = own ?? ProcessStrings.shared.table { return table }
    guard let text = try store.overview(settings: [Setting.strings]).settings[Setting.strings] else { return .english }
    if let stored, stored.text == text { return stored.table ?? .english }
    var table: StringTable?
    do throws(ChatError) { table = try StringTable.parsed(text) } catch {
      // Of another version, which had other phrases.
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
