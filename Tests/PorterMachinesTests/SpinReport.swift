/// The report of a verifier that Spin made.
struct SpinReport {
  let text: String

  init(_ text: String) { self.text = text }

  /// Found no error, and searched everything: no path was cut off.
  var isExhaustive: Bool { text.contains("errors: 0") && !text.contains("max search depth too small") }

  /// Statements that no path reaches, except `assert(false)` and the ends of processes that never end. Pan reports a
  /// statement together with its escapes.
  var unreached: [String] {
    var places: [String: [String]] = [:]
    for line in text.split(separator: "\n") {
      guard let match = line.firstMatch(of: #/^\t(\S+, state \d+), "(.*)"$/#) else { continue }
      places[String(match.output.1), default: []].append(String(match.output.2))
    }
    return places.filter { place in !place.value.contains { $0 == "assert(0)" || $0 == "-end-" } }
      .flatMap { place in place.value.map { "\(place.key), \($0)" } }.sorted()
  }
}
