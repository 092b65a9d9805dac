import PorterPlatform
import PorterStore

/// Reading what is to be worked off.
extension Engine {
  /// What `look` finds in the store. If that cannot be read now, nil, and `again` is called later by the timer `name`.
  ///
  /// A disk that fails for a moment, or a lock that is not to be had, must not be taken for a record that is not there:
  /// what was due would be forgotten, or, as with a token, be made anew.
  func read<Value>(
    _ look: (Store) throws(StoreError) -> Value, orLater name: String,
    _ again: @escaping (Engine) -> () -> Void
  ) -> Value? {
    guard let store else { return nil }
    do throws(StoreError) {
      let value = try look(store)
      backoffs.resetReading(name)
      return value
    } catch {
      log(.warning, "the store could not be read", ["due": name, "error": error.description])
      later(name, again)
      return nil
    }
  }

  /// Calls `again` after a delay that grows, by the timer `name`.
  func later(_ name: String, _ again: @escaping (Engine) -> () -> Void) {
    timers.set(name, after: backoffs.nextReading(name)) { [weak self] in self.map { again($0)() } }
  }
}
