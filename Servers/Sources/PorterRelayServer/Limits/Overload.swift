/// Whether more arrives than can be handled: from when no room is left until a quarter of it is free. A balancer that
/// asks every few seconds sees this even if single requests get through in between.
package struct Overload: Sendable {
  package let most: Int
  package private(set) var isOverloaded = false

  package init(most: Int) { self.most = most }

  package func hasRoom(beside count: Int) -> Bool { count < most }

  package mutating func note(_ count: Int) {
    if !hasRoom(beside: count) { isOverloaded = true } else if count <= most - (most + 3) / 4 { isOverloaded = false }
  }
}
