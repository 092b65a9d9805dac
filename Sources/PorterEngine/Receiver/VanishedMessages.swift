import PorterPlatform
import PorterStore

/// Withdraws placeholders of messages that will not come: the source had nothing for their connection when it was asked
/// after they were announced, and no process has committed them. Deleted at the relay, for example because their time
/// was up. What is announced later, by a process that knows of a later message, stays. Threads: the engine's.
struct VanishedMessages {
  private let context: EngineContext

  init(_ context: EngineContext) { self.context = context }

  /// Call before a source is asked about many connections whose records are not read.
  func newestAnnounced() -> [Int64: Int64] {
    do throws(StoreError) { return try context.store?.newestAnnounced() ?? [:] } catch { return failed(error, [:]) }
  }

  /// The source has nothing for this connection. Its record was read before the source was asked.
  func note(_ connection: StoredConnection) {
    if let entry = connection.newestAnnounced { note(connection.id, through: entry) }
  }

  /// If this fails, the next look finds the mailbox empty as well.
  func note(_ connectionID: Int64, through entry: Int64?) {
    guard let entry else { return }
    do throws(StoreError) { try context.store?.noteVanished(connectionID: connectionID, through: entry) } catch {
      failed(error, ())
    }
  }

  private func failed<Value>(_ error: StoreError, _ value: Value) -> Value {
    context.log(.warning, "placeholders could not be withdrawn", ["error": error.description])
    return value
  }
}
