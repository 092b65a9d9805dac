/// ISO 8601 in UTC with milliseconds, the form of every timestamp in the interface. Implemented here because
/// Foundation's formatters alone cost more memory than an extension's whole budget allows.
extension WallTime {
  package var iso8601: String {
    let seconds = self.seconds
    // Not `milliseconds - seconds * 1000`, which overflows at the edge of the range, where a foreign number may be.
    let fraction = (milliseconds % 1_000 + 1_000) % 1_000
    let days = seconds.quotientRoundedDown(by: 86_400)
    let secondOfDay = seconds - days * 86_400
    let (year, month, day) = Self.civil(fromDays: days)
    func padded(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(secondOfDay / 3_600, 2)):"
      + "\(padded(secondOfDay / 60 % 60, 2)):\(padded(secondOfDay % 60, 2)).\(padded(fraction, 3))Z"
  }

  /// Parses `YYYY-MM-DDTHH:MM:SS[.fraction]Z` with one to nine digits of fraction; nil for anything else, and for a day
  /// that is not in the calendar. A leap second is read as the first second of the next minute.
  package init?(iso8601 text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
    func number(_ from: Int, _ count: Int) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[from..<from + count] {
        guard byte >= 48, byte <= 57 else { return nil }
        value = value * 10 + Int64(byte - 48)
      }
      return value
    }
    let (hyphen, colon) = (UInt8(ascii: "-"), UInt8(ascii: ":"))
    guard bytes[4] == hyphen, bytes[7] == hyphen, bytes[10] == UInt8(ascii: "T"), bytes[13] == colon,
      bytes[16] == colon,
      let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2),
      let minute = number(14, 2), let second = number(17, 2),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    var fraction: Int64 = 0
    if bytes.count > 20 {
      guard bytes[19] == UInt8(ascii: "."), (22...30).contains(bytes.count), let digits = number(20, bytes.count - 21)
      else { return nil }
      let scaled = Self.scaledToMilliseconds(digits, digitCount: bytes.count - 21)
      fraction = scaled
    }
    let days = Self.days(year: year, month: month, day: day)
    guard Self.civil(fromDays: days) == (year, month, day) else { return nil }
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
    self.init(milliseconds: seconds * 1_000 + fraction)
  }

  private static func scaledToMilliseconds(_ digits: Int64, digitCount: Int) -> Int64 {
    var value = digits
    for _ in 0..<max(0, digitCount - 3) { value /= 10 }
    for _ in 0..<max(0, 3 - digitCount) { value *= 10 }
    return value
  }

  /// Proleptic Gregorian calendar, counting years from March so that the leap day is a year's last.
  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted.quotientRoundedDown(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }

  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let era = marchYear.quotientRoundedDown(by: 400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
