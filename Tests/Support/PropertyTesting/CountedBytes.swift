import Synchronization

/// The bytes of a text that count how often they are read, slices included: a parser's work, whatever machine it runs
/// on.
package struct CountedBytes: RandomAccessCollection, Sendable {
  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
  }

  private let bytes: [UInt8]
  private let counter = Counter()

  package init(_ text: String) { bytes = Array(text.utf8) }

  package var reads: Int { counter.count.load(ordering: .relaxed) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { bytes.count }
  package subscript(position: Int) -> UInt8 {
    counter.count.add(1, ordering: .relaxed)
    return bytes[position]
  }
}
