/// Whether more comes than can be dealt with: from when there is no room left until a quarter of it is free. A balancer that asks
/// every few seconds sees it, also when single requests get through meanwhile.
package struct Overload: Sendable {
  package let most: Int
  package private(set) var isOverloaded = false

  package init(most: Int) { self.most = most }

  package func hasRoom(beside count: Int) -> Bool { count < most }

  package mutating func note(_ count: Int) {
    if !hasRoom(beside: count) { isOverloaded = true } else if count <= most - (most + 3) / 4 { isOverloaded = false }
  }
}
