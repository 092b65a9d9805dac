/// Members in the order in which their names first came; a repeated name keeps its last value. Finds a name by its hash,
/// so that an object of many names does not take quadratic time to parse.
struct UniqueMembers<Name: Hashable, Value> {
  private(set) var elements: [(name: Name, value: Value)] = []
  private var places: [Name: Int] = [:]

  mutating func set(_ name: Name, to value: Value) {
    if let place = places[name] {
      elements[place].value = value
    } else {
      places[name] = elements.count
      elements.append((name, value))
    }
  }
}
