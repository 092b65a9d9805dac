import PorterJSON
import PorterNotifications
import PropertyTesting
import PythonPeer
import XCTest

/// What we write is what spec/protocol/notification.schema.json promises, and no more is promised.
final class SchemaFileTests: XCTestCase {
  func testNotificationsFitTheirSchema() throws {
    var contents: [NotificationContent] = Obstacle.allCases.map(\.content)
    for (_, event) in Sample.everyKind {
      for mode in PreviewMode.allCases {
        let policy = NotificationPolicy(previewMode: mode)
        contents.append(try ContentBuilder.content(for: event, policy).get())
        contents.append(try XCTUnwrap(JointContent.single([event, event], policy)))
      }
    }
    let lines = contents.flatMap { content -> [JSONValue] in
      var counted = content
      counted.badge = 3
      return [content.json, counted.json]
    }.map { JSONValue(["notification", $0]).text }
    let output = try runPeer(
      "../../PorterSchemaTests/peers/schemas.py", input: lines.joined(separator: "\n") + "\n")
    XCTAssertEqual(output, "checked \(lines.count)\n")
  }
}
