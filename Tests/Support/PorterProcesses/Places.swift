import Foundation

/// Paths for tests of whole processes.
package enum Places {
  /// The root of the package.
  package static let root: URL = {
    var url = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { url.deleteLastPathComponent() }
    return url
  }()

  /// Where the build running this test put its programs and libraries.
  package static let products: URL = {
    let running = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    let beside = running.appendingPathComponent("porter-harness")
    if FileManager.default.isExecutableFile(atPath: beside.path) { return running }
    return root.appendingPathComponent(".build/debug")
  }()

  package static let harness = products.appendingPathComponent("porter-harness").path
  package static let server = products.appendingPathComponent("porter-server").path
  package static let library = products.appendingPathComponent("libnightporter.so").path

  /// A new directory, short enough for the paths of Unix sockets in it.
  package static func makeTemporaryDirectory() throws -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "porter-test-\(UInt32.random(in: 0...UInt32.max))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    return url.resolvingSymlinksInPath()
  }
}
