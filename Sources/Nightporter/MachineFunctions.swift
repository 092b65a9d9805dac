public import CNightporter
import PorterMachines

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The names of all machines as C strings, made on first use and kept as long as the library.
///
/// `@unchecked Sendable`: the pointers are written before they are published, and only read afterwards.
private struct MachineNames: @unchecked Sendable {
  let name: UnsafePointer<CChar>
  let states: [UnsafePointer<CChar>]
  let events: [UnsafePointer<CChar>]
  let effects: [UnsafePointer<CChar>]
  let reasons: [UnsafePointer<CChar>]

  static let all = MachineCatalog.all.compactMap(MachineNames.init)

  private init?(_ machine: MachineDescription) {
    guard let name = Self.keep(machine.name) else { return nil }
    self.name = name
    states = machine.states.compactMap(Self.keep)
    events = machine.events.compactMap(Self.keep)
    effects = machine.effects.compactMap(Self.keep)
    reasons = machine.reasons.compactMap(Self.keep)
  }

  private static func keep(_ text: String) -> UnsafePointer<CChar>? { strdup(text).map { UnsafePointer($0) } }

  static func machine(_ number: Int32) -> MachineNames? {
    all.indices.contains(Int(number)) ? all[Int(number)] : nil
  }
}

extension Array {
  fileprivate func at(_ number: Int32) -> Element? { indices.contains(Int(number)) ? self[Int(number)] : nil }
}

@c @implementation
public func np_machine_count() -> Int32 { Int32(MachineCatalog.all.count) }

@c @implementation
public func np_machine_find(_ name: UnsafePointer<CChar>!) -> Int32 {
  CStringArgument(name).text.flatMap { MachineCatalog.index(named: $0) }.map { Int32($0) } ?? -1
}

@c @implementation
public func np_machine_name(_ machine: Int32) -> UnsafePointer<CChar>! { MachineNames.machine(machine)?.name }

@c @implementation
public func np_machine_state_count(_ machine: Int32) -> Int32 {
  MachineNames.machine(machine).map { Int32($0.states.count) } ?? -1
}

@c @implementation
public func np_machine_event_count(_ machine: Int32) -> Int32 {
  MachineNames.machine(machine).map { Int32($0.events.count) } ?? -1
}

@c @implementation
public func np_machine_effect_count(_ machine: Int32) -> Int32 {
  MachineNames.machine(machine).map { Int32($0.effects.count) } ?? -1
}

@c @implementation
public func np_machine_state_name(_ machine: Int32, _ state: Int32) -> UnsafePointer<CChar>! {
  MachineNames.machine(machine)?.states.at(state)
}

@c @implementation
public func np_machine_event_name(_ machine: Int32, _ event: Int32) -> UnsafePointer<CChar>! {
  MachineNames.machine(machine)?.events.at(event)
}

@c @implementation
public func np_machine_effect_name(_ machine: Int32, _ effect: Int32) -> UnsafePointer<CChar>! {
  MachineNames.machine(machine)?.effects.at(effect)
}

@c @implementation
public func np_machine_initial(_ machine: Int32) -> Int32 {
  MachineCatalog.all.at(machine).map { Int32($0.initial) } ?? -1
}

@c @implementation
public func np_machine_step(
  _ machine: Int32, _ state: Int32, _ event: Int32, _ step: UnsafeMutablePointer<np_step>!
) -> np_error {
  guard let step else { return NP_ERROR_NULL }
  guard let description = MachineCatalog.all.at(machine), let names = MachineNames.machine(machine),
    let stateCode = UInt8(exactly: state), let eventCode = UInt8(exactly: event),
    let coded = description.step(state: stateCode, event: eventCode)
  else { return NP_ERROR_ARGUMENT }
  var result = np_step()
  result.state = Int32(coded.next)
  result.reason = coded.reason.flatMap { names.reasons.at(Int32($0)) } ?? StaticText("").pointer
  switch coded.kind {
  case .moved: result.kind = Int32(NP_STEP_MOVED.rawValue)
  case .stayed: result.kind = Int32(NP_STEP_STAYED.rawValue)
  case .ignored: result.kind = Int32(NP_STEP_IGNORED.rawValue)
  case .refused: result.kind = Int32(NP_STEP_REFUSED.rawValue)
  }
  result.effect_count = Int32(coded.effects.count)
  withUnsafeMutableBytes(of: &result.effects) { bytes in
    for (index, effect) in coded.effects.prefix(Int(NP_STEP_MAX_EFFECTS)).enumerated() {
      bytes.storeBytes(of: Int32(effect), toByteOffset: index * MemoryLayout<Int32>.stride, as: Int32.self)
    }
  }
  step.pointee = result
  return NP_OK
}
