import CNightporter
import Foundation
import XCTest

/// The user hears one sound in 30 s for one thing, on screen as well, whatever a chat brings.
final class ScreenSoundTests: XCTestCase {
  private struct Shown: Equatable {
    let title: String
    let presentation: [String]
    let isHeard: Bool

    init(_ notification: JSON) {
      title = notification["notification"]["title"].text
      presentation = notification["presentation"].elements.map(\.text)
      isHeard = notification["notification"]["sound"].exists
    }

    init(_ title: String, _ presentation: [String]) {
      (self.title, self.presentation) = (title, presentation)
      isHeard = presentation.contains("sound")
    }
  }

  /// The next notifications for the app on screen, this many.
  private func shown(_ count: Int, _ host: Host) throws -> [Shown] {
    var shown: [Shown] = []
    while shown.count < count {
      shown += try XCTUnwrap(host.event("notifications"))["result"]["notifications"].elements.map { Shown($0) }
    }
    return shown
  }

  func testANewContactAndItsFirstMessageMakeOneSoundOnScreen() throws {
    let pair = try Pair()
    pair.send("hello", from: pair.bob)
    XCTAssertEqual(
      try shown(2, pair.alice),
      [Shown("bob is connected!", ["sound", "banner", "list"]), Shown("bob:", ["list"])])
  }

  /// However many people ask, each has a banner. A round that follows is silent, too.
  func testTheRequestsOfSeveralPersonsMakeOneSoundOnScreen() throws {
    let meeting = try AddressMeeting()
    var askers: [Host] = []
    func ask(_ name: String) throws {
      let asker = try XCTUnwrap(Host.open(meeting.folder.file(name)).host)
      asker.begin(name, relay: meeting.folder.file("relay.db"))
      asker.send("/connect \(meeting.link)").assert("sentInvitation")
      askers.append(asker)
    }
    for name in ["carol", "dave", "eve"] { try ask(name) }
    let requests = try shown(3, meeting.alice)
    XCTAssertEqual(requests[0].presentation, ["sound", "banner", "list"])
    for request in requests.dropFirst() { XCTAssertEqual(request, Shown(request.title, ["banner", "list"])) }

    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    try ask("frank")
    let round = JSON(take(np_background_refresh(meeting.alice.handle, 20_000)))
    XCTAssertEqual(round.titles, ["frank wants to connect!"], round.description)
    XCTAssertFalse(round["notifications"][0]["sound"].exists, round.description)
  }
}
