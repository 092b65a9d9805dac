import CSodium

/// Secret bytes in guarded memory: between pages that nobody may touch, kept out of swap and core dumps where the system
/// allows it, read-only once written, wiped when the last reference goes. Immutable, hence safe on any thread.
///
/// It costs pages of memory and calls to the system, so it is for the few keys that live long; all others are
/// `SecretBytes`.
package final class GuardedBytes: Sendable, Redacted {
  package let count: Int
  /// Written before `init` returns, then only read.
  private nonisolated(unsafe) let storage: UnsafeMutableRawPointer

  /// For a function to write its result; nil if the memory is not to be had, or if `fill` says that it failed.
  package init?(count: Int, by fill: (UnsafeMutableRawBufferPointer) -> Bool) {
    Sodium.initializeIfPossible()
    guard count > 0, let memory = sodium_malloc(count) else { return nil }
    self.count = count
    storage = memory
    guard fill(UnsafeMutableRawBufferPointer(start: memory, count: count)) else { return nil }
    sodium_mprotect_readonly(memory)
  }

  /// Copies; the caller's own copy stays as it is.
  package convenience init?(_ bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count) { memory in
      memory.copyMemory(from: bytes)
      return true
    }
  }

  deinit { sodium_free(storage) }

  /// The bytes themselves, only until `body` returns.
  package func withExposedBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withExtendedLifetime(self) { body(UnsafeRawBufferPointer(start: storage, count: count)) }
  }
}

extension GuardedBytes: Equatable {
  package static func == (left: GuardedBytes, right: GuardedBytes) -> Bool {
    left.count == right.count
      && left.withExposedBytes { first in
        right.withExposedBytes { second in
          guard let first = first.baseAddress, let second = second.baseAddress else { return false }
          return sodium_memcmp(first, second, left.count) == 0
        }
      }
  }
}
