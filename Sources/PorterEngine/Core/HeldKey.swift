import PorterStore

/// The store's key between one opening and the next.
package struct HeldKey: Sendable {
  /// Nil when it was used, and was not to be kept.
  private var held: StoreKey?
  let isRetained: Bool

  package init(_ key: StoreKey, isRetained: Bool) {
    held = key
    self.isRetained = isRetained
  }

  /// To open the store with.
  var key: StoreKey {
    get throws(StoreError) {
      guard let held else { throw .seal(.keyForgotten) }
      return held
    }
  }

  var isForgotten: Bool { held == nil }

  /// The store is open: a key that is not kept is wiped. That a store is plain is no secret.
  mutating func discardIfTransient() {
    if !isRetained, held?.isNone == false { held = nil }
  }
}
