// A step of the compiled machine token_status compared with the same machine as a hand-written C switch, on the same
// walk.
//
//   bench-machine-steps ROUNDS
//
// One line per round: nanoseconds per step in C, in Swift, and through np_machine_step(). They are measured in turn,
// over 64 passes of 65,536 events. Ends with status 1 if their answers differ anywhere.

import CNightporter
import CSwitchReference
import Nightporter
import PorterMachines

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

let passes = 64
let eventCount = 65_536

/// SplitMix64: the same walk in every run.
struct Sequence64 {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

func nanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Adds one answer to the digest; `token_walk` in switch.c does the same.
@inline(__always)
func mix(_ digest: UInt64, effects: UInt64, kind: UInt64, state: UInt8) -> UInt64 {
  digest &* 31 &+ (effects ^ (kind << 56) ^ UInt64(state))
}

func kind<Reason: MachineCode>(_ answer: MachineAnswer<Reason>) -> UInt64 {
  switch answer {
  case .moved: 0
  case .stayed: 1
  case .ignored: 2
  case .refused: 3
  }
}

func walk(_ state: inout TokenStatus.State, _ events: [TokenStatus.Event]) -> UInt64 {
  var digest: UInt64 = 0
  for event in events {
    let step = TokenStatus.step(state, event)
    state = step.next
    digest = mix(digest, effects: step.effects.packed, kind: kind(step.answer), state: state.rawValue)
  }
  return digest
}

/// Through the C interface, whose step returns the effects as an array.
func walkThroughInterface(_ state: inout Int32, _ events: [UInt8], machine: Int32) -> Int {
  var effects = 0
  var step = np_step()
  for event in events {
    guard np_machine_step(machine, state, Int32(event), &step) == NP_OK else { return -1 }
    state = step.state
    effects += Int(step.effect_count)
  }
  return effects
}

func perStep(_ began: UInt64, _ ended: UInt64) -> Double {
  Double(ended - began) / Double(passes * eventCount)
}

func formatted(_ value: Double) -> String {
  let thousandths = Int((value * 1000).rounded())
  let fraction = String(thousandths % 1000)
  return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
}

/// Every pair of a state and an event, once.
func answersAgree() -> Bool {
  for state in TokenStatus.State.allCases {
    for event in TokenStatus.Event.allCases {
      let step = TokenStatus.step(state, event)
      let reference = token_step(state.rawValue, event.rawValue)
      let same =
        step.next.rawValue == reference.state && kind(step.answer) == UInt64(reference.kind)
        && step.effects.packed == reference.effects
      if !same {
        print("\(state.name) answers \(event.name) differently in C")
        return false
      }
    }
  }
  return true
}

func main() -> Int32 {
  guard CommandLine.arguments.count == 2, let rounds = Int(CommandLine.arguments[1]), rounds > 0 else {
    print("usage: bench-machine-steps ROUNDS")
    return 2
  }
  guard answersAgree() else { return 1 }
  var random = Sequence64(state: 2)
  let kinds = TokenStatus.Event.allCases
  let events = (0..<eventCount).map { _ in kinds[Int(random.next() % UInt64(kinds.count))] }
  let codes = events.map(\.rawValue)
  let machine = np_machine_find(TokenStatus.name)

  var ours = TokenStatus.initial
  var reference = ours.rawValue
  var through = Int32(ours.rawValue)
  for _ in 0..<rounds {
    var (digests, referenceDigests): (UInt64, UInt64) = (0, 0)
    let began = nanoseconds()
    for _ in 0..<passes { referenceDigests = referenceDigests &* 7 &+ token_walk(&reference, codes, codes.count) }
    let between = nanoseconds()
    for _ in 0..<passes { digests = digests &* 7 &+ walk(&ours, events) }
    let ended = nanoseconds()
    for _ in 0..<passes where walkThroughInterface(&through, codes, machine: machine) < 0 { return 1 }
    let last = nanoseconds()
    guard digests == referenceDigests, ours.rawValue == reference, through == Int32(reference) else {
      print("the walks differ")
      return 1
    }
    print(formatted(perStep(began, between)), formatted(perStep(between, ended)), formatted(perStep(ended, last)))
  }
  return 0
}

exit(main())
