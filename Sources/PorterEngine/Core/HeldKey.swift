import PorterStore

/// The store's key between one opening and the next.
package struct HeldKey: Sendable {
  /// Nil once it was used, if it must not be kept.
  private var held: StoreKey?
  let isRetained: Bool

  package init(_ key: StoreKey, isRetained: Bool) {
    held = key
    self.isRetained = isRetained
  }

  /// The key to open the store with.
  var key: StoreKey {
    get throws(StoreError) {
      guard let held else { throw .seal(.keyForgotten) }
      return held
    }
  }

  var isForgotten: Bool { held == nil }

  /// Called once the store is open: wipes a key that is not kept. The absence of a key (a plain store) is no secret.
  mutating func discardIfTransient() {
    if !isRetained, held?.isNone == false { held = nil }
  }
}
