import Foundation

/// One Markdown document: its prose, the links in it, and the anchors that a link may name.
struct MarkdownDocument {
  let file: URL
  /// The text line by line, without fenced code, which is an example rather than a promise.
  let prose: [String]

  init(file: URL) throws {
    self.init(file: file, text: try String(contentsOf: file, encoding: .utf8))
  }

  init(file: URL, text: String) {
    self.file = file
    var isCode = false
    prose = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      if line.drop(while: { $0 == " " }).hasPrefix("```") {
        isCode.toggle()
        return ""
      }
      // A line indented by four is code too, unless it continues a list item.
      return isCode || (line.hasPrefix("    ") && !line.contains("](")) ? "" : String(line)
    }
  }

  /// The targets of inline links and of reference definitions, in order. Code spans are not links.
  var links: [String] {
    prose.flatMap { line in
      let text = line.replacing(#/`[^`]*`/#, with: "")
      let inline = text.matches(of: #/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/#).map { String($0.output.1) }
      let defined = text.matches(of: #/^\[[^\]]+\]:\s+(\S+)/#).map { String($0.output.1) }
      return inline + defined
    }
  }

  /// The contents of the code spans.
  var codeSpans: [String] {
    prose.flatMap { line in line.matches(of: #/`([^`]+)`/#).map { String($0.output.1) } }
  }

  /// The anchors that a forge gives to the headings, with the numbers that tell equal ones apart.
  var anchors: Set<String> {
    var found: Set<String> = []
    var seen: [String: Int] = [:]
    for line in prose {
      guard let heading = line.firstMatch(of: #/^#{1,6}\s+(.*)$/#) else { continue }
      let slug = Self.slug(String(heading.output.1))
      let earlier = seen[slug, default: 0]
      seen[slug] = earlier + 1
      found.insert(earlier == 0 ? slug : "\(slug)-\(earlier)")
    }
    return found
  }

  private static func slug(_ heading: String) -> String {
    let text = heading.replacing(#/\[([^\]]*)\]\([^)]*\)/#) { String($0.output.1) }.lowercased()
    return String(
      text.compactMap { character -> Character? in
        if character == " " { return "-" }
        return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
      })
  }
}

/// All Markdown documents below a folder; hidden folders hold what was built or installed.
struct MarkdownTree {
  let root: URL
  let documents: [MarkdownDocument]

  init(root: URL) throws {
    self.root = root
    documents = try TextFiles.below(root, extensions: ["md"]).map { try MarkdownDocument(file: $0) }
  }

  /// One line for each link that leads to no file, to no heading of it, or out of the repository.
  func brokenLinks() -> [String] {
    documents.flatMap { document in
      document.links.compactMap { link in problem(with: link, in: document).map { "\(name(document)): \(link): \($0)" }
      }
    }
  }

  /// One line for each path in a code span that begins with a folder of the repository and does not exist.
  func missingPaths(under folders: [String]) -> [String] {
    documents.flatMap { document in
      document.codeSpans.compactMap { span in
        guard folders.contains(where: { span.hasPrefix($0 + "/") }), span.wholeMatch(of: #/[\w.\/-]+/#) != nil else {
          return nil
        }
        let exists = FileManager.default.fileExists(atPath: root.appendingPathComponent(span).path)
        return exists ? nil : "\(name(document)): \(span): there is no such file"
      }
    }
  }

  private func name(_ document: MarkdownDocument) -> String {
    String(document.file.standardizedFileURL.path.dropFirst(root.standardizedFileURL.path.count + 1))
  }

  private func problem(with link: String, in document: MarkdownDocument) -> String? {
    guard !link.hasPrefix("https://"), !link.hasPrefix("http://"), !link.hasPrefix("mailto:") else { return nil }
    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    var target = document.file
    if let path = parts.first, !path.isEmpty {
      target = document.file.deletingLastPathComponent().appendingPathComponent(path).standardizedFileURL
      guard target.path.hasPrefix(root.standardizedFileURL.path) else { return "leads out of the repository" }
      guard FileManager.default.fileExists(atPath: target.path) else { return "there is no such file" }
    }
    guard parts.count == 2 else { return nil }
    guard let other = documents.first(where: { $0.file.standardizedFileURL == target.standardizedFileURL }) else {
      return "has an anchor, and leads to no Markdown document"
    }
    return other.anchors.contains(parts[1]) ? nil : "there is no such heading"
  }
}

enum TextFiles {
  /// The files below a folder with one of these extensions, in a stable order.
  static func below(_ folder: URL, extensions: Set<String>) throws -> [URL] {
    let walk = FileManager.default.enumerator(
      at: folder, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles])
    var found: [URL] = []
    while let file = walk?.nextObject() as? URL {
      if extensions.contains(file.pathExtension) { found.append(file) }
    }
    return found.sorted { $0.path < $1.path }
  }
}
