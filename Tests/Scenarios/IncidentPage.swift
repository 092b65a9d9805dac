import Foundation

/// `spec/incidents.md` as data: one section per incident, with fields as list items.
struct IncidentPage {
  struct Incident {
    let identifier: String
    var text = ""
    var fields: [String: String] = [:]

    /// The names of its tests, in page order.
    var tests: [String] {
      (fields["Tests"] ?? "").matches(of: #/`(\w+)`/#).map { String($0.output.1) }
    }
  }

  let incidents: [Incident]

  init(_ document: MarkdownDocument) {
    var incidents: [Incident] = []
    var field: String?
    for line in document.prose {
      if let heading = line.firstMatch(of: #/^### (INC-\d{2}): \S/#) {
        incidents.append(Incident(identifier: String(heading.output.1)))
        field = nil
      } else if line.hasPrefix("#") {
        field = nil
      } else if let index = incidents.indices.last {
        if let item = line.firstMatch(of: #/^- ([A-Z][a-z ]+): (.+)$/#) {
          field = String(item.output.1)
          incidents[index].fields[String(item.output.1)] = String(item.output.2)
        } else if let field, line.hasPrefix("  ") {
          incidents[index].fields[field]? += line
        } else {
          field = nil
          incidents[index].text += line
        }
      }
    }
    self.incidents = incidents
  }

  /// One line per fault of the page. `tests` are the names of all existing tests, `cited` the incidents cited in code,
  /// tests or documents.
  func problems(tests: Set<String>, cited: Set<String>) -> [String] {
    let identifiers = incidents.map(\.identifier)
    var problems: [String] = []
    for (earlier, later) in zip(identifiers, identifiers.dropFirst()) where earlier >= later {
      problems.append("\(later): is out of order, or there twice")
    }
    for incident in incidents {
      problems += self.problems(with: incident, tests: tests).map { "\(incident.identifier): \($0)" }
    }
    let missing = cited.subtracting(identifiers).sorted()
    return problems + missing.map { "\($0): is cited, and not on the page" }
  }

  private func problems(with incident: Incident, tests: Set<String>) -> [String] {
    var problems: [String] = []
    if incident.text.isEmpty { problems.append("does not say what happened") }
    if incident.fields["Seen in"] == nil { problems.append("does not say where it was seen") }
    let isNotYet = incident.fields["Not applicable yet"] != nil
    if isNotYet {
      if incident.fields["Tests"] != nil { problems.append("has tests, and is not applicable yet") }
      let suffix = incident.identifier.replacing("-", with: "")
      problems += tests.filter { $0.contains(suffix) }.sorted().map { "is not applicable yet, but for \($0)" }
    } else {
      if incident.fields["Prevented by"] == nil { problems.append("does not say what prevents it") }
      if incident.tests.isEmpty { problems.append("has no test") }
      problems += incident.tests.filter { !tests.contains($0) }.map { "there is no test \($0)" }
      let number = incident.identifier.replacing("-", with: "")
      if !incident.tests.isEmpty, !incident.tests.contains(where: { $0.contains(number) }) {
        problems.append("none of its tests has \(number) in its name")
      }
    }
    let known: Set = ["Seen in", "Prevented by", "Tests", "Not applicable yet"]
    return problems + incident.fields.keys.filter { !known.contains($0) }.sorted().map { "what is \($0)?" }
  }
}
