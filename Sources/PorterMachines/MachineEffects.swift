/// Up to eight effects, in order, one byte each: code + 1, and 0 after the last.
package struct MachineEffects<Effect: MachineCode>: Hashable, Sendable, Sequence {
  package let packed: UInt64

  package init(packed: UInt64) { self.packed = packed }

  package var isEmpty: Bool { packed == 0 }

  package var count: Int { (71 - packed.leadingZeroBitCount) / 8 }

  @inlinable package func makeIterator() -> Iterator { Iterator(rest: packed) }

  package struct Iterator: IteratorProtocol {
    @usableFromInline var rest: UInt64

    @inlinable init(rest: UInt64) { self.rest = rest }

    @inlinable package mutating func next() -> Effect? {
      if rest == 0 { return nil }
      let code = UInt8(truncatingIfNeeded: rest) &- 1
      rest >>= 8
      return Effect(rawValue: code)
    }
  }
}

extension MachineEffects: CustomStringConvertible {
  package var description: String { "[" + map(\.name).joined(separator: ", ") + "]" }
}

extension MachineStep {
  package init(_ next: M.State, _ answer: MachineAnswer<M.Reason>) {
    self.init(next, answer, packed: 0)
  }

  package init(
    _ next: M.State, _ answer: MachineAnswer<M.Reason>, _ first: M.Effect
  ) {
    self.init(next, answer, packed: Self.pack(first, 0))
  }

  package init(
    _ next: M.State, _ answer: MachineAnswer<M.Reason>, _ first: M.Effect, _ second: M.Effect
  ) {
    self.init(next, answer, packed: Self.pack(first, 0) | Self.pack(second, 1))
  }

  package init(
    _ next: M.State, _ answer: MachineAnswer<M.Reason>, _ first: M.Effect, _ second: M.Effect, _ third: M.Effect
  ) {
    self.init(next, answer, packed: Self.pack(first, 0) | Self.pack(second, 1) | Self.pack(third, 2))
  }

  package init(
    _ next: M.State, _ answer: MachineAnswer<M.Reason>, _ first: M.Effect, _ second: M.Effect, _ third: M.Effect,
    _ fourth: M.Effect
  ) {
    self.init(
      next, answer, packed: Self.pack(first, 0) | Self.pack(second, 1) | Self.pack(third, 2) | Self.pack(fourth, 3))
  }

  package init(
    _ next: M.State, _ answer: MachineAnswer<M.Reason>, _ first: M.Effect, _ second: M.Effect, _ third: M.Effect,
    _ fourth: M.Effect, _ fifth: M.Effect
  ) {
    self.init(
      next, answer,
      packed: Self.pack(first, 0) | Self.pack(second, 1) | Self.pack(third, 2) | Self.pack(fourth, 3)
        | Self.pack(fifth, 4))
  }

  package init(
    _ next: M.State, _ answer: MachineAnswer<M.Reason>, _ first: M.Effect, _ second: M.Effect, _ third: M.Effect,
    _ fourth: M.Effect, _ fifth: M.Effect, _ sixth: M.Effect
  ) {
    self.init(
      next, answer,
      packed: Self.pack(first, 0) | Self.pack(second, 1) | Self.pack(third, 2) | Self.pack(fourth, 3)
        | Self.pack(fifth, 4) | Self.pack(sixth, 5))
  }

  package init(
    _ next: M.State, _ answer: MachineAnswer<M.Reason>, _ first: M.Effect, _ second: M.Effect, _ third: M.Effect,
    _ fourth: M.Effect, _ fifth: M.Effect, _ sixth: M.Effect, _ seventh: M.Effect
  ) {
    self.init(
      next, answer,
      packed: Self.pack(first, 0) | Self.pack(second, 1) | Self.pack(third, 2) | Self.pack(fourth, 3)
        | Self.pack(fifth, 4) | Self.pack(sixth, 5) | Self.pack(seventh, 6))
  }

  package init(
    _ next: M.State, _ answer: MachineAnswer<M.Reason>, _ first: M.Effect, _ second: M.Effect, _ third: M.Effect,
    _ fourth: M.Effect, _ fifth: M.Effect, _ sixth: M.Effect, _ seventh: M.Effect, _ eighth: M.Effect
  ) {
    self.init(
      next, answer,
      packed: Self.pack(first, 0) | Self.pack(second, 1) | Self.pack(third, 2) | Self.pack(fourth, 3)
        | Self.pack(fifth, 4) | Self.pack(sixth, 5) | Self.pack(seventh, 6) | Self.pack(eighth, 7))
  }

  static func pack(_ effect: M.Effect, _ place: UInt64) -> UInt64 {
    (UInt64(effect.rawValue) &+ 1) &<< (place &* 8)
  }
}
