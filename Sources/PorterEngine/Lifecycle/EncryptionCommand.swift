import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_db encryption` and `np_change_key`.
extension Engine {
  /// The command's texts cannot be wiped; see `changeKey`.
  func encryptStorage(from currentText: SecretText, to newText: SecretText) throws(ChatError) -> Response {
    try requireKeyMayChange()
    return try changeKey(from: try parse(currentText), to: try parse(newText))
  }

  /// Sets, changes or removes the store's key. Only while the chat is not running, and only in the app.
  func changeKey(from current: StoreKey, to new: StoreKey) throws(ChatError) -> Response {
    try requireKeyMayChange()
    // Before closing anything, so that a mistyped key changes nothing.
    try stored { () throws(StoreError) in
      try Store.check(configuration.location, key: current, ports: configuration.ports)
    }
    if current.isNone, new.isNone { return .cmdOk(nil) }

    let wasOpen = store != nil
    lifecycle.close()
    statusBoard.begin(.rekeying)
    defer { statusBoard.end() }
    do throws(StoreError) {
      // Interrupted when the store must be closed: the store is then unchanged, and the change may be requested again.
      try Rekeying.run(configuration.location, from: current, to: new, stop: stop, ports: configuration.ports) {
        stage in
        FaultPoint.reach(stage)
      }
      lifecycle.heldKey = HeldKey(new, isRetained: lifecycle.heldKey.isRetained)
    } catch {
      log(.error, "the store could not be given another key", ["error": error.description])
      // The old store is unchanged, and is reopened as if nothing had been requested.
      if wasOpen, lifecycle.heldKey.isForgotten {
        lifecycle.heldKey = HeldKey(current, isRetained: lifecycle.heldKey.isRetained)
      }
      if wasOpen { _ = reopenAfterKeyChange() }
      throw inUse(error) ?? ChatError(error)
    }
    if wasOpen, let problem = reopenAfterKeyChange() { throw ChatError(problem) }
    return .cmdOk(nil)
  }

  /// Reopens the store. Not cancelled by the event that cancelled the key change.
  private func reopenAfterKeyChange() -> StoreError? {
    stop.withReleaseBudget(Durations.releaseBudget) { lifecycle.open() }
  }

  private func requireKeyMayChange() throws(ChatError) {
    guard configuration.role == .app else { throw .nightporter(.roleNotAllowed("giving the store another key")) }
    guard lifecycle.isAtRest else { throw .error(.chatNotStopped) }
  }

  /// The process that has the store open, if that is why it could not be replaced (INC-18).
  private func inUse(_ error: StoreError) -> ChatError? {
    guard case .sqlite(let error) = error, error.kind == .busy || error.kind == .locked else { return nil }
    let holder = [Role.extension, .share, .app].lazy
      .map { PhaseFile(prefix: self.configuration.prefix, role: $0.rawValue, ports: self.configuration.ports) }
      .first { $0.isHeldElsewhere() }
    return .nightporter(.ownedElsewhere(holder: holder?.published()?.instance?.description ?? "another process"))
  }

  private func parse(_ text: SecretText) throws(ChatError) -> StoreKey {
    try stored { () throws(StoreError) in
      do throws(SealError) { return try StoreKey.parse(text.text) } catch { throw .seal(error) }
    }
  }
}
