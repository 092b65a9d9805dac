import CNightporter
import PorterEngine
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Handles of controllers. A handle is a number that looks like a pointer: from the low end up 24 bits of slot, a
/// generation, and the era of its process. So a handle that was freed, was never issued, or belongs to the process this
/// one was forked from is detected as invalid without touching any memory.
enum Handles {
  private static let slotBits = 24
  /// This many forks in a row pass before an era is reused.
  private static let eraBits = UInt.bitWidth < 64 ? 2 : 8
  private static let generationBits = UInt.bitWidth - 2 - slotBits - eraBits

  private static func mask(_ bits: Int) -> UInt { (1 << UInt(bits)) - 1 }

  /// A class, since an array of objects is of a type that every process already has.
  private final class Slot {
    var generation: UInt = 0
    var controller: Controller?
  }

  /// The handles of one process.
  private final class Table: Sendable {
    let process: pid_t
    let era: UInt
    let slots = Mutex<[Slot]>([])

    init(process: pid_t, era: UInt) {
      self.process = process
      self.era = era
    }
  }

  /// The table of the process that last used it; 0 at first. Never released.
  private static let current = Atomic<UInt>(0)

  /// After fork() the child has a copy of its parent's table, whose lock may be held by a thread that does not exist in
  /// the child. It begins its own table, in which none of its parent's handles is valid.
  private static var table: Table {
    let process = getpid()
    while true {
      let known = current.load(ordering: .acquiring)
      let last = UnsafeRawPointer(bitPattern: known).map { Unmanaged<Table>.fromOpaque($0).takeUnretainedValue() }
      if let last, last.process == process { return last }
      let own = Unmanaged.passRetained(Table(process: process, era: last.map { ($0.era + 1) & mask(eraBits) } ?? 0))
      let bits = UInt(bitPattern: own.toOpaque())
      let (isFirst, _) = current.compareExchange(expected: known, desired: bits, ordering: .acquiringAndReleasing)
      if isFirst { return own.takeUnretainedValue() }
      own.release()
    }
  }

  static func add(_ controller: Controller) -> chat_ctrl? {
    let table = table
    return table.slots.withLock { slots in
      let free = slots.firstIndex { $0.controller == nil }
      let slot = free ?? slots.count
      guard UInt(slot) < mask(slotBits) else { return nil }
      if free == nil { slots.append(Slot()) }
      // Never 0, so that no handle is NULL.
      let generation = max(1, (slots[slot].generation &+ 1) & mask(generationBits))
      slots[slot].generation = generation
      slots[slot].controller = controller
      let upper = table.era << UInt(generationBits) | generation
      return chat_ctrl(bitPattern: upper << UInt(slotBits) | UInt(slot))
    }
  }

  static func find(_ handle: chat_ctrl?) -> Controller? {
    withSlot(of: handle) { $0 }
  }

  static func remove(_ handle: chat_ctrl?) -> Controller? {
    withSlot(of: handle) { controller in
      defer { controller = nil }
      return controller
    }
  }

  /// Calls `body` with the contents of the handle's slot; nil if the handle is not valid.
  private static func withSlot(
    of handle: chat_ctrl?, _ body: (inout Controller?) -> Controller?
  ) -> Controller? {
    guard let handle else { return nil }
    let bits = UInt(bitPattern: handle)
    let (slot, upper) = (Int(bits & mask(slotBits)), bits >> UInt(slotBits))
    let table = table
    guard upper >> UInt(generationBits) == table.era else { return nil }
    return table.slots.withLock { slots in
      guard slot < slots.count, slots[slot].generation == upper & mask(generationBits) else { return nil }
      return body(&slots[slot].controller)
    }
  }
}
