import PorterNotifications
import PorterSchema
import PropertyTesting
import XCTest

final class PolicyTests: XCTestCase {
  private func verdict(_ event: Event, _ policy: NotificationPolicy = .init()) -> NotificationPolicy.Verdict {
    policy.verdict(for: event)
  }

  /// INC-37: a muted chat shows nothing, not even a placeholder.
  func testINC37MutedChatsShowNothing() {
    let muted = Sample.message(filter: .none)
    XCTAssertEqual(verdict(muted), .silent(.mutedChat))
    var call = Sample.event(.call(Sample.alice, .video))
    call.filter = .none
    XCTAssertEqual(verdict(call), .silent(.mutedChat))
    var event = Sample.event(.connection(.chat(Sample.alice)))
    event.filter = .none
    XCTAssertEqual(verdict(event), .silent(.mutedChat))
  }

  func testMentionsShowWhereOnlyMentionsMay() {
    XCTAssertEqual(verdict(Sample.message(in: Sample.club, filter: .mentions)), .silent(.notMentioned))
    XCTAssertEqual(verdict(Sample.message(in: Sample.club, filter: .mentions, mentions: true)), .show(.message))
    var event = Sample.event(.connection(.chat(Sample.club)))
    event.filter = .mentions
    XCTAssertEqual(verdict(event), .silent(.notMentioned))
    var call = Sample.event(.call(Sample.alice, .audio))
    call.filter = .mentions
    XCTAssertEqual(verdict(call), .show(.message))
  }

  /// INC-45: with the app locked, nothing that requires a code inside the app is shown outside it.
  func testINC45AppLockHidesPreviews() {
    for mode in PreviewMode.allCases {
      XCTAssertEqual(
        verdict(Sample.message(), NotificationPolicy(previewMode: mode, hasAppLock: true)), .show(.hidden))
    }
  }

  /// INC-45: a hidden profile is not revealed, whatever happens to it.
  func testINC45HiddenProfilesAreSilent() {
    for (name, event) in Sample.everyKind {
      var event = event
      event.owner = Event.Owner(id: 1, isHidden: true, showsNotifications: true)
      XCTAssertEqual(verdict(event), .silent(.hiddenProfile), name)
      event.owner = Event.Owner(id: 1, showsNotifications: false)
      XCTAssertEqual(verdict(event), .silent(.mutedProfile), name)
    }
  }

  /// Whether a call must be shown in time matches its `verdict`.
  func testACallIsShownInTimeIfItIsShown() {
    for filter in NotificationFilter.allCases {
      for (isHidden, shows) in [(false, true), (true, true), (false, false), (true, false)] {
        var call = Sample.event(.call(Sample.alice, .audio))
        call.filter = filter
        call.owner = Event.Owner(id: 1, isHidden: isHidden, showsNotifications: shows)
        XCTAssertEqual(
          NotificationPolicy.showsCalls(to: call.owner, filter), verdict(call) == .show(.message),
          "\(filter) \(isHidden) \(shows)")
      }
    }
  }

  /// Matches its `verdict`.
  func testWhetherAMessageIsShownIsKnownWithoutItsEvent() {
    for filter in NotificationFilter.allCases {
      for (isHidden, shows, mentions) in [
        (false, true, false), (false, true, true), (true, true, true), (false, false, true),
      ] {
        var message = Sample.message(filter: filter, mentions: mentions)
        message.owner = Event.Owner(id: 1, isHidden: isHidden, showsNotifications: shows)
        XCTAssertEqual(
          NotificationPolicy.showsMessage(to: message.owner, filter, mentionsUser: mentions),
          verdict(message) == .show(.message), "\(filter) \(isHidden) \(shows) \(mentions)")
      }
    }
  }

  func testOwnAndDeletedMessagesAreSilent() {
    func message(_ direction: MessageDirection, deleted: Bool) -> Event {
      Sample.event(
        .message(.init(chat: Sample.alice, content: .text("a"), direction: direction, isDeleted: deleted)))
    }
    XCTAssertEqual(verdict(message(.sent, deleted: false)), .silent(.ownMessage))
    XCTAssertEqual(verdict(message(.received, deleted: true)), .silent(.deletedMessage))
    XCTAssertEqual(verdict(message(.received, deleted: false)), .show(.message))
  }

  func testAPasswordMakesAProfileHidden() {
    let profile = ProfileRecord(id: 1, profile: Profile(displayName: "a"))
    var user = UserRecord(
      id: 4, contactID: 1, localDisplayName: "a", profile: profile, isActive: true, activeOrder: 1,
      showsNotifications: false)
    XCTAssertEqual(Event.Owner(user), Event.Owner(id: 4, isHidden: false, showsNotifications: false))
    user.viewPassword = .init(hash: "h", salt: "s")
    XCTAssertTrue(Event.Owner(user).isHidden)
  }
}
