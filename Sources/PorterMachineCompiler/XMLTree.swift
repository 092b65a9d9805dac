import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// One element of a document, with its line and the comment before it.
final class XMLNode {
  let name: String
  let namespace: String
  let attributes: [String: String]
  let line: Int
  let comment: String
  fileprivate(set) var text = ""
  fileprivate(set) var children: [XMLNode] = []

  init(name: String, namespace: String, attributes: [String: String], line: Int, comment: String) {
    self.name = name
    self.namespace = namespace
    self.attributes = attributes
    self.line = line
    self.comment = comment
  }
}

/// Reads a document into a tree. Document types are rejected: SCXML needs none, and entities could be used to exhaust
/// the reader's memory.
func readXML(_ source: String, file: String) throws(MachineError) -> XMLNode {
  var problems = ProblemList(file: file)
  let builder = TreeBuilder()
  let parser = XMLParser(data: Data(source.utf8))
  parser.shouldProcessNamespaces = true
  parser.shouldResolveExternalEntities = false
  parser.delegate = builder
  if let range = source.range(of: "<!DOCTYPE") {
    let line = source[..<range.lowerBound].count { $0.isNewline } + 1
    problems.add(line, "a document type is not part of the subset")
  } else {
    // On Linux the parser reports recoverable errors, and then returns true.
    let parsed = parser.parse()
    if !parsed || builder.failure != nil {
      problems.add(max(1, builder.failureLine), "not well-formed XML: \(builder.failure ?? "no reason given")")
    }
  }
  try problems.throwIfAny()
  guard let root = builder.root else {
    throw MachineError(problems: [.init(file: file, line: 1, message: "there is no element in the document")])
  }
  return root
}

/// The words of a comment or declaration on one line.
func collapsed(_ text: String) -> String {
  text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
}

private final class TreeBuilder: NSObject, XMLParserDelegate {
  var root: XMLNode?
  var failure: String?
  var failureLine = 1
  private var open: [XMLNode] = []
  private var comment = ""

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    let node = XMLNode(
      name: elementName, namespace: namespaceURI ?? "", attributes: attributes, line: parser.lineNumber,
      comment: collapsed(comment))
    comment = ""
    if let parent = open.last { parent.children.append(node) } else { root = node }
    open.append(node)
  }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
  ) {
    open.removeLast()
    comment = ""
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    open.last?.text += string
  }

  func parser(_ parser: XMLParser, foundComment text: String) {
    comment += comment.isEmpty ? text : " " + text
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    if failure == nil {
      failure = Self.explanation((error as NSError).code)
      failureLine = parser.lineNumber
    }
  }

  /// On Linux errors have no description.
  private static func explanation(_ code: Int) -> String {
    switch code {
    case 4, 5: "the document ends too early, or is empty"
    case 76: "the closing tag does not match the last one opened"
    default: "error \(code) of libxml2"
    }
  }
}
