import PorterSchema
import PorterStore

extension Lifecycle {
  /// Runs `work` on the open store, or on one opened just for this and closed again on return: for a few rows that a
  /// suspended app or an extension must write. A suspended chat stays suspended and quiescent.
  func withStore<Value>(_ work: (Store) throws(StoreError) -> Value) throws(ChatError) -> Value {
    if let store, operations.admits(.database) {
      return try mapStoreErrors { () throws(StoreError) in try work(store) }
    }
    return try mapStoreErrors { () throws(StoreError) in try withBrieflyOpenedStore(work) }
  }

  private func withBrieflyOpenedStore<Value>(
    _ work: (Store) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    context.board.begin(.opening)
    defer { context.board.end() }
    let store = try Store.open(
      at: context.configuration.location, key: heldKey.key, confirmation: .error, mayMigrate: false, stop: context.stop,
      ports: context.configuration.ports)
    store.log = context.configuration.log
    let result: Value
    do throws(StoreError) {
      result = try work(store)
    } catch {
      try? store.close(checkpoint: false)
      throw error
    }
    try store.close(checkpoint: false)
    return result
  }
}
