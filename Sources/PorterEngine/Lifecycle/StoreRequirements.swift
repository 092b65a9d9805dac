import PorterSchema
import PorterStore

/// The store as commands need it, with its errors in the interface's terms.
extension Lifecycle {
  func requireStore() throws(ChatError) -> Store {
    guard let store else { throw .nightporter(.storeClosed) }
    return store
  }

  func requireActiveUser() throws(ChatError) -> StoredUser {
    let store = try requireStore()
    guard let user = try mapStoreErrors({ () throws(StoreError) in try store.activeUser() }) else {
      throw .error(.noActiveUser)
    }
    return user
  }

  /// Runs a piece of work on the store. If another process has the store, the error names that process (INC-18).
  func mapStoreErrors<Value>(_ work: () throws(StoreError) -> Value) throws(ChatError) -> Value {
    do throws(StoreError) {
      return try work()
    } catch {
      if let holder = holder(in: error) { throw .nightporter(.ownedElsewhere(holder: holder)) }
      throw ChatError(error)
    }
  }
}
