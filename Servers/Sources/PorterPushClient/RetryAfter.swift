public import NIOCore

/// Parses the header field Retry-After: a number of seconds, or a date in one of the three forms a recipient must read
/// (RFC 9110, sections 5.6.7 and 10.2.3).
public enum RetryAfter {
  private static let longest: Int64 = 86_400
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// How long to wait, at most a day; nil if the field is malformed. `now`: seconds since 1970. `date` is the answer's
  /// own field Date, which is preferred to this machine's clock: the two may differ.
  public static func pause(_ field: String, date: String?, now: Int64) -> TimeAmount? {
    if field.utf8.allSatisfy({ (48...57).contains($0) }), !field.isEmpty {
      return .seconds(min(Int64(field) ?? longest, longest))
    }
    guard let moment = seconds(of: field, now: now) else { return nil }
    return .seconds(min(max(0, moment - (date.flatMap { seconds(of: $0, now: now) } ?? now)), longest))
  }

  /// Seconds since 1970.
  static func seconds(of text: String, now: Int64) -> Int64? {
    let words = text.split(separator: " ")
    switch words.count {
    // Sun, 06 Nov 1994 08:49:37 GMT
    case 6 where words[5] == "GMT": return seconds(words[1], words[2], year: Int64(words[3]), words[4])
    // Sunday, 06-Nov-94 08:49:37 GMT
    case 4 where words[3] == "GMT":
      let parts = words[1].split(separator: "-")
      guard parts.count == 3, parts[2].utf8.count == 2, let short = Int64(parts[2]) else { return nil }
      return seconds(parts[0], parts[1], year: century(of: short, now: now), words[2])
    // Sun Nov  6 08:49:37 1994
    case 5: return seconds(words[2], words[1], year: Int64(words[4]), words[3])
    default: return nil
    }
  }

  /// A two-digit year is at most 50 years in the future.
  private static func century(of short: Int64, now: Int64) -> Int64 {
    let current = 1970 + now / 31_556_952
    let year = current - current % 100 + short
    return year > current + 50 ? year - 100 : year
  }

  private static func seconds(_ day: Substring, _ month: Substring, year: Int64?, _ time: Substring) -> Int64? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
    guard let year, (1970...9_999).contains(year), let day = Int64(day), (1...31).contains(day),
      let month = months.firstIndex(of: String(month)), clock.count == 3, let hour = clock[0], let minute = clock[1],
      let second = clock[2], (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    return ((days(year, Int64(month) + 1, day) * 24 + hour) * 60 + minute) * 60 + second
  }

  /// Days since 1970, in the Gregorian calendar. Years begin in March here, so that a leap day is the last one.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month > 2 ? year : year - 1
    let (era, yearOfEra) = (year / 400, year % 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
