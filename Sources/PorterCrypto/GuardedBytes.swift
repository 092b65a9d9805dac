import CSodium

/// Secret bytes in guarded memory: between inaccessible pages, kept out of swap and core dumps where the system allows,
/// read-only once written, wiped when the last reference goes. Immutable, hence safe on any thread.
///
/// Costs pages of memory and system calls, so it is for the few long-lived keys; all others are `SecretBytes`.
package final class GuardedBytes: Sendable, Redacted {
  package let count: Int
  /// Written before `init` returns, then only read.
  private nonisolated(unsafe) let storage: UnsafeMutableRawPointer

  /// Calls `fill` to write the bytes; nil if the memory cannot be allocated, or if `fill` reports a failure.
  package init?(count: Int, by fill: (UnsafeMutableRawBufferPointer) -> Bool) {
    Sodium.initializeIfPossible()
    guard count > 0, let memory = sodium_malloc(count) else { return nil }
    self.count = count
    storage = memory
    guard fill(UnsafeMutableRawBufferPointer(start: memory, count: count)) else { return nil }
    sodium_mprotect_readonly(memory)
  }

  /// Copies the bytes; the caller's own copy is left unchanged.
  package convenience init?(_ bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count) { memory in
      memory.copyMemory(from: bytes)
      return true
    }
  }

  deinit { sodium_free(storage) }

  /// The bytes themselves, valid only until `body` returns.
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
