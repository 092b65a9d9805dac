import PorterJSON
import PorterNotifications
import PropertyTesting
import PythonPeer
import XCTest

/// Our output is what spec/protocol/notification.schema.json promises, and the schema promises nothing more.
final class SchemaFileTests: XCTestCase {
  func testNotificationsFitTheirSchema() throws {
    var contents: [NotificationContent] = []
    for (_, event) in Sample.everyKind {
      for mode in PreviewMode.allCases {
        contents.append(try ContentBuilder.content(for: event, NotificationPolicy(previewMode: mode)).get())
      }
    }
    let lines =
      contents.flatMap { content -> [JSONValue] in
        var counted = content
        counted.badge = 3
        return [content.json(), counted.json(in: StringTable(.arabic))]
      }.map { JSONValue(["notification", $0]).text }
      + StringTable.Shipped.allCases.map {
        JSONValue(["categories", NotificationCategories.json(in: StringTable($0))]).text
      }
    let output = try runPeer(
      "../../PorterSchemaTests/peers/schemas.py", input: lines.joined(separator: "\n") + "\n")
    XCTAssertEqual(output, "checked \(lines.count)\n")
  }
}
