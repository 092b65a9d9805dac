import CNightporter
import PorterEngine
import Synchronization

/// Handles of controllers. A handle is a number that looks like a pointer: 24 bits of slot and a generation above them,
/// so that one that was freed, or never given, is told from a valid one without touching any memory.
enum Handles {
  private struct Table {
    var slots: [(generation: UInt, controller: Controller?)] = []
  }

  private static let table = Mutex(Table())
  private static let slotBits: UInt = 24
  private static let slotMask: UInt = (1 << slotBits) - 1
  private static let generationMask: UInt = UInt.max >> (slotBits + 2)

  static func add(_ controller: Controller) -> chat_ctrl? {
    table.withLock { table in
      let free = table.slots.firstIndex { $0.controller == nil }
      let slot = free ?? table.slots.count
      guard UInt(slot) < slotMask else { return nil }
      if free == nil { table.slots.append((generation: 0, controller: nil)) }
      // Never 0, so that no handle is NULL.
      let generation = max(1, (table.slots[slot].generation &+ 1) & generationMask)
      table.slots[slot] = (generation, controller)
      return chat_ctrl(bitPattern: generation << slotBits | UInt(slot))
    }
  }

  static func find(_ handle: chat_ctrl?) -> Controller? {
    guard let (slot, generation) = split(handle) else { return nil }
    return table.withLock { table in
      guard slot < table.slots.count, table.slots[slot].generation == generation else { return nil }
      return table.slots[slot].controller
    }
  }

  static func remove(_ handle: chat_ctrl?) -> Controller? {
    guard let (slot, generation) = split(handle) else { return nil }
    return table.withLock { table in
      guard slot < table.slots.count, table.slots[slot].generation == generation else { return nil }
      defer { table.slots[slot].controller = nil }
      return table.slots[slot].controller
    }
  }

  private static func split(_ handle: chat_ctrl?) -> (slot: Int, generation: UInt)? {
    guard let handle else { return nil }
    let bits = UInt(bitPattern: handle)
    return (Int(bits & slotMask), bits >> slotBits)
  }
}
