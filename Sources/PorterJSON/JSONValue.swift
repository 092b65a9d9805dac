/// A JSON document as a value.
///
/// Our own rather than Foundation's: JSON through FoundationEssentials adds about 4 MB of peak memory and 0.6 ms to the
/// start of an extension, which has 12 MB and a few milliseconds in total (`make bench`, the row "JSON through
/// FoundationEssentials").
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

/// Members in the order they were written; a repeated name keeps its last value.
package struct JSONObject: Hashable, Sendable {
  package private(set) var members: [(name: String, value: JSONValue)] = []

  package init() {}
  /// Not generic over sequences: the compiler must know the types, because the generic form costs each push some 10,000
  /// instructions per object.
  package init(_ members: [(String, JSONValue)]) {
    guard members.count > UniqueMembers<String, JSONValue>.few else {
      for (name, value) in members { self[name] = value }
      return
    }
    var unique = UniqueMembers<String, JSONValue>()
    for (name, value) in members { unique.set(name, to: value) }
    self.members = unique.elements
  }

  /// Sets all members of the other object here.
  package mutating func merge(_ other: JSONObject) {
    self = JSONObject((members + other.members).map { ($0.name, $0.value) })
  }

  package subscript(name: String) -> JSONValue? {
    get { place(of: name).map { members[$0].value } }
    set {
      let index = place(of: name)
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((name, value))
      case (nil, nil): break
      }
    }
  }

  private func place(of name: String) -> Int? {
    for index in members.indices where members[index].name == name { return index }
    return nil
  }

  init(_ members: UniqueMembers<String, JSONValue>) { self.members = members.elements }

  package static func == (left: JSONObject, right: JSONObject) -> Bool {
    guard left.members.count == right.members.count else { return false }
    let pairs = zip(left.members, right.members)
    if pairs.allSatisfy({ $0.name == $1.name }) { return pairs.allSatisfy { $0.value == $1.value } }
    // A received object may have thousands of members; for a few, looking them up costs less.
    guard left.members.count > UniqueMembers<String, JSONValue>.few else {
      return left.members.allSatisfy { right[$0.name] == $0.value }
    }
    let values = Dictionary(right.members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    return left.members.allSatisfy { values[$0.name] == $0.value }
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(members.count) }
}

extension JSONValue {
  package subscript(name: String) -> JSONValue? {
    guard case .object(let object) = self else { return nil }
    return object[name]
  }

  package var stringValue: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  package var integerValue: Int64? {
    guard case .integer(let value) = self else { return nil }
    return value
  }

  package var boolValue: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  package var arrayValue: [JSONValue]? {
    guard case .array(let value) = self else { return nil }
    return value
  }

  package var objectValue: JSONObject? {
    guard case .object(let value) = self else { return nil }
    return value
  }

  /// Whether all members, including those of nested objects, are also in `known`. Null members count as absent.
  package func hasNoMembers(but known: JSONValue) -> Bool {
    guard case .object(let object) = self else { return true }
    return object.members.allSatisfy { name, value in
      value == .null || known[name].map { value.hasNoMembers(but: $0) } ?? false
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral, ExpressibleByFloatLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .number(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
  package init(nilLiteral: ()) { self = .null }

  package init(_ value: String) { self = .string(value) }
  package init(_ value: some BinaryInteger) { self = .integer(Int64(clamping: value)) }
  package init(_ value: Bool) { self = .bool(value) }
  package init(_ value: [JSONValue]) { self = .array(value) }

  /// An object in which members whose value is nil are left out, as the interface writes optional fields.
  package static func compact(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    var object = JSONObject()
    for case (let name, let value?) in members { object[name] = value }
    return .object(object)
  }
}
