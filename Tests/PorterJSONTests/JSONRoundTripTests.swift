import Foundation
import PorterJSON
import PropertyTesting
import XCTest

final class JSONRoundTripTests: XCTestCase {
  func testWhatIsWrittenIsReadBack() {
    forAll(.json(), runs: 2_000) { value in
      try expectEqual(try JSONValue(parsing: value.text), value)
      try expectEqual(try JSONValue(parsing: value.utf8), value)
    }
  }

  /// Another reader understands our output.
  func testFoundationReadsOurOutput() {
    forAll(.json(), runs: 500) { value in
      let read = try JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
      try expect(Self.matches(value, read), "read as \(read)")
    }
  }

  /// Another writer's output is understood, spaces and all.
  func testFoundationsOutputIsRead() {
    forAll(.json(), runs: 500) { value in
      let read = try JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
      let written = try JSONSerialization.data(withJSONObject: [read], options: [.prettyPrinted, .sortedKeys])
      let again = try JSONValue(parsing: Array(written))
      try expect(Self.matches(again.arrayValue?.first ?? .null, read))
    }
  }

  func testMembersKeepTheirOrderAndRepeatedNamesTheirLastValue() throws {
    let value = try JSONValue(parsing: #"{"b":1,"a":2,"b":3}"#)
    XCTAssertEqual(value.text, #"{"b":3,"a":2}"#)
    XCTAssertEqual(value, ["a": 2, "b": 3], "order does not matter for equality")
    XCTAssertNotEqual(value, ["a": 2, "b": 3, "c": 4])
    var object = JSONObject([("a", 1), ("b", 2)])
    object["a"] = nil
    object["c"] = 3
    object["d"] = nil
    XCTAssertEqual(JSONValue.object(object).text, #"{"b":2,"c":3}"#)
  }

  func testCompactOmitsNilMembers() {
    XCTAssertEqual(JSONValue.compact(["a": 1, "b": nil, "c": .null]).text, #"{"a":1,"c":null}"#)
  }

  func testAccessorsReturnTheirOwnKindOnly() {
    let values: [JSONValue] = [.null, true, 1, 1.5, "a", [], [:]]
    XCTAssertEqual(values.map(\.boolValue), [nil, true, nil, nil, nil, nil, nil])
    XCTAssertEqual(values.map(\.integerValue), [nil, nil, 1, nil, nil, nil, nil])
    XCTAssertEqual(values.map(\.stringValue), [nil, nil, nil, nil, "a", nil, nil])
    XCTAssertEqual(values.map(\.arrayValue), [nil, nil, nil, nil, nil, [], nil])
    XCTAssertEqual(values.map(\.objectValue), [nil, nil, nil, nil, nil, nil, JSONObject()])
    XCTAssertNil(values[5]["a"])
    XCTAssertEqual(JSONValue(UInt64.max), .integer(.max), "clamped, never trapped")
  }

  func testUnwritableNumbersAreNull() {
    XCTAssertEqual(JSONValue.number(.infinity).text, "null")
    XCTAssertEqual(JSONValue.number(.nan).text, "null")
  }

  private static func matches(_ value: JSONValue, _ other: Any) -> Bool {
    switch value {
    case .null: return other is NSNull
    case .bool(let bool): return (other as? Bool) == bool
    case .integer(let integer): return (other as? NSNumber)?.int64Value == integer
    case .number(let number):
      // Foundation here reads numbers through `Decimal`, which has fewer digits and a smaller range.
      guard let read = (other as? NSNumber)?.doubleValue else { return false }
      return !(1e-100...1e100).contains(abs(number)) || abs(read - number) <= abs(number) * 1e-12
    case .string(let text): return (other as? String).map { Array($0.utf8) == Array(text.utf8) } ?? false
    case .array(let elements):
      guard let others = other as? [Any], others.count == elements.count else { return false }
      return zip(elements, others).allSatisfy { matches($0, $1) }
    case .object(let object):
      guard let others = other as? [String: Any] else { return false }
      // Swift compares texts by canonical equivalence: to a dictionary, two names that differ only in composition are
      // the same.
      return object.members.allSatisfy { member in others[member.name] != nil }
    }
  }
}
