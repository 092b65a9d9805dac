import PorterPlatform
import PorterSchema

/// A made-up profile for one contact, who then learns nothing of the user's own.
enum IncognitoProfile {
  static func make(_ randomness: any Randomness) -> Profile {
    let bytes = randomness.bytes(2)
    return Profile(displayName: "\(pick(qualities, bytes.first))\(pick(things, bytes.last))")
  }

  private static func pick(_ words: [String], _ byte: UInt8?) -> String { words[Int(byte ?? 0) % words.count] }

  private static let qualities = [
    "Amber", "Brave", "Brisk", "Calm", "Clever", "Copper", "Curious", "Daring", "Early", "Fair", "Gentle", "Golden",
    "Happy", "Honest", "Jolly", "Keen", "Kind", "Lively", "Lucky", "Mellow", "Merry", "Misty", "Noble", "Patient",
    "Quick", "Quiet", "Silver", "Steady", "Sunny", "Warm", "Wise", "Witty",
  ]
  private static let things = [
    "Acorn", "Badger", "Beacon", "Birch", "Brook", "Cedar", "Comet", "Crane", "Dune", "Falcon", "Fern", "Finch",
    "Harbour", "Heron", "Island", "Juniper", "Lantern", "Maple", "Meadow", "Otter", "Owl", "Pebble", "Pine", "Raven",
    "River", "Robin", "Sparrow", "Spruce", "Swallow", "Thistle", "Willow", "Wren",
  ]
}
