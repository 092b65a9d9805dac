import Foundation
import XCTest

/// The models' comments say which code a step stands for. Each name there exists.
final class ModelNamesTests: XCTestCase {
  func testTheCodeThatTheModelsNameExists() throws {
    let texts = try Self.comments()
    XCTAssertGreaterThan(texts.count, 100)
    let sources = try Self.sources()
    var names: Set<String> = []
    var problems: [String] = []
    for (file, text) in texts {
      // `Type.member`, or a type's name of several words.
      for match in text.matches(of: #/\b([A-Z]+[a-z]+[A-Za-z]*)(?:\.([a-z][A-Za-z]+))?\b/#) {
        let (type, member) = (String(match.output.1), match.output.2.map(String.init))
        guard member != nil || type.contains(#/[a-z][A-Z]/#), member != "pml" else { continue }
        names.insert(type)
        let places = sources.filter { $0.types.contains(type) }
        let isKnown = member.map { member in places.contains { $0.members.contains(member) } } ?? !places.isEmpty
        if !isKnown { problems.append("\(file): \(match.output.0)") }
      }
    }
    XCTAssertEqual(problems.sorted(), [])
    XCTAssertGreaterThan(names.count, 10)
  }

  /// Each comment of a handwritten model, and each reason given for a removal that is harmless.
  private static func comments() throws -> [(file: String, text: String)] {
    let models = packageRoot.appendingPathComponent("spec/models")
    let folders = [models, models.appendingPathComponent("hand_over")]
    let files = try folders.flatMap {
      try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
    }
    let comments = try files.filter { $0.pathExtension == "pml" }.flatMap { file in
      try String(contentsOf: file, encoding: .utf8).matches(of: #/\/\*[\s\S]*?\*\//#)
        .map { (file.lastPathComponent, String($0.output)) }
    }
    return comments + HandOverMutant.all.compactMap { mutant in mutant.reason.map { (mutant.title, $0) } }
  }

  private struct SourceFile {
    let types: Set<String>
    let members: Set<String>
  }

  /// What the Swift files of the package and of its tests declare, and the C targets' names.
  private static func sources() throws -> [SourceFile] {
    var found: [SourceFile] = []
    for folder in ["Sources", "Tests"] {
      let folder = packageRoot.appendingPathComponent(folder)
      let files = try XCTUnwrap(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        let types = text.matches(of: #/\b(?:class|struct|enum|protocol|extension|typealias) ([A-Z]\w*)/#)
          .map { String($0.output.1) }
        let members = text.matches(of: #/\b(?:func|var|let|case) (\w+)/#).map { String($0.output.1) }
        found.append(SourceFile(types: Set(types), members: Set(members)))
      }
      let targets = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      found.append(SourceFile(types: Set(targets), members: []))
    }
    return found
  }
}
