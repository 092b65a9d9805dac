import PorterJSON
import PropertyTesting

extension Generator where Value == JSONValue {
  /// Values of every kind, nested up to `depth`.
  static func json(depth: Int = 4) -> Generator<JSONValue> {
    Generator { choices in
      switch choices.number(below: depth > 0 ? 8 : 6) {
      case 0: return .null
      case 1: return .bool(choices.flag())
      case 2: return .integer(choices.draw(Generator<Int64>.number()))
      case 3: return .number(choices.draw(finite))
      case 4, 5: return .string(choices.draw(Generator<String>.text(0...8)))
      case 6: return .array(choices.draw(json(depth: depth - 1).array(0...4)))
      default:
        let member = both(Generator<String>.text(0...3), json(depth: depth - 1))
        return .object(JSONObject(choices.draw(member.array(0...4))))
      }
    }
  }

  /// Any bit pattern of a finite number.
  private static var finite: Generator<Double> {
    Generator<UInt64>.number().map { bits in
      let number = Double(bitPattern: bits)
      return number.isFinite ? number : 0.1
    }
  }
}
