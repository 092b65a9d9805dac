/// Members in the order in which their names first appeared; a repeated name keeps its last value. Objects with many
/// members are looked up by hash, so that parsing them does not take quadratic time; for a few, comparing costs less.
struct UniqueMembers<Name: Hashable, Value> {
  private(set) var elements: [(name: Name, value: Value)] = []
  private var places = [Name: Int]()

  /// Up to this many names are compared with each new one.
  static var few: Int { 16 }

  mutating func set(_ name: Name, to value: Value) {
    if let place = place(of: name) {
      elements[place].value = value
      return
    }
    elements.append((name, value))
    if elements.count == Self.few + 1 {
      for index in elements.indices { places[elements[index].name] = index }
    } else if elements.count > Self.few {
      places[name] = elements.count - 1
    }
  }

  private func place(of name: Name) -> Int? {
    if elements.count > Self.few { return places[name] }
    for index in elements.indices where elements[index].name == name { return index }
    return nil
  }
}
