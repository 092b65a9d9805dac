import CNightporter
import Foundation
import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore
import XCTest

@testable import PorterEngine

/// An app that is not on screen: what it commits in the background is shown once, as an extension would show it, and
/// the app is at rest when the round is over.
final class RefreshTests: XCTestCase {
  private let wake = #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#

  private func refresh(
    _ host: Host, deadline: Int32 = 10_000, file: StaticString = #filePath, line: UInt = #line
  ) -> JSON {
    let answer = JSON(take(np_background_refresh(host.handle, deadline)))
    XCTAssertTrue(answer["quiescent"].flag, answer.description, file: file, line: line)
    XCTAssertTrue(host.state["quiescent"].flag, host.state.description, file: file, line: line)
    return answer
  }

  private func waitUntil(file: StaticString = #filePath, line: UInt = #line, _ holds: () -> Bool) {
    let end = Date(timeIntervalSinceNow: 20)
    while end.timeIntervalSinceNow > 0 {
      if holds() { return }
      usleep(5_000)
    }
    XCTFail("this was never reached", file: file, line: line)
  }

  // MARK: Beside an extension

  /// The app is working in the background, and its request hangs. Nothing vouches for the request:
  /// the host may end before it does.
  func testAPushIsShownByTheExtensionMeanwhile() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.alice.free()
    let app = try XCTUnwrap(Host.open(station.alice.prefix).host)
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: app)
    transport.hang(.get)
    let waiting = app.inBackground { take(np_background_refresh($0.handle, 25_000)) }
    transport.waitUntilInside()
    XCTAssertEqual(app.state["machines"]["app_phase"].text, "bgRefresh")
    let answer = try station.present(push)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer.bodies, ["hello"])
    transport.hang(nil)
    let round = JSON(try XCTUnwrap(waiting.wait(atMost: .seconds(30))))
    XCTAssertEqual(round.bodies, [], round.description)
    app.send("/_start").assert("chatStarted")
    app.event("newChatItems")
    awaitRest(of: app)
    app.expectNone("newChatItems")
    XCTAssertEqual(station.pair.texts(app), ["hello"])
    app.free()
  }

  // MARK: A round

  /// S4, S65: the push goes to the app, which shows what arrived; its extension finds nothing left to show.
  func testAWakePushToASuspendedAppShowsWhatCameOnce() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")

    let answer = station.alice.push(wake, deadline: 10_000)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer["work"].text, "ran", answer.description)
    XCTAssertEqual(answer.bodies, ["hello"])
    XCTAssertEqual(answer["badge"].number, 1)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    XCTAssertEqual(answer["nextRefreshMs"].number, 2_400_000, "its device is notified by pushes")
    XCTAssertEqual(station.alice.state["machines"]["app_phase"].text, "suspended")
    XCTAssertEqual(station.alice.state["machines"]["background_refresh"].text, "done")

    let later = try station.present(push)
    XCTAssertEqual(later["outcome"].text, "nothingNew", later.description)
    XCTAssertEqual(refresh(station.alice)["outcome"].text, "nothingNew")
    XCTAssertEqual(station.alice.waitingEvents("notifications").count, 0, "it was not on screen")
    station.wake(expecting: ["hello"])
    XCTAssertEqual(station.alice.waitingScreenEvents().count, 0, "it was shown")
  }

  /// The system launches the app's process for it; its host has not started the chat.
  func testARoundOfAFreshProcessNeedsNoStart() throws {
    let pair = try Pair()
    pair.alice.free()
    pair.send("hello", from: pair.bob)
    let fresh = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
    let answer = refresh(fresh)
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertEqual(answer["nextRefreshMs"].number, 600_000, "no token")
    fresh.send("/_start").assert("chatStarted")
    XCTAssertEqual(fresh.state["machines"]["app_phase"].text, "active")
    XCTAssertEqual(fresh.state["machines"]["background_refresh"].text, "idle")
    pair.send("again", from: pair.bob)
    fresh.event("newChatItems")
  }

  /// The system has launched it too late: it still closes its store, since it may be frozen next.
  func testINC01ARoundWithoutTimeReleasesTheStoreOfAFreshProcess() throws {
    let pair = try Pair()
    pair.alice.free()
    let fresh = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
    XCTAssertFalse(fresh.state["quiescent"].flag, "it is open")
    let answer = JSON(take(np_background_refresh(fresh.handle, 1)))
    XCTAssertEqual(answer["outcome"].text, "expired", answer.description)
    waitUntil { fresh.state["quiescent"].flag }
    XCTAssertEqual(refresh(fresh)["outcome"].text, "nothingNew")
    fresh.send("/_start").assert("chatStarted")
  }

  func testMutedHiddenAndPreviewAreObeyed() throws {
    let pair = try Pair()
    func shown(_ text: String) -> JSON {
      pair.alice.send("/_app suspend 0").assert("cmdOk")
      pair.send(text, from: pair.bob)
      let answer = refresh(pair.alice)
      pair.alice.send("/_app activate").assert("cmdOk")
      return answer
    }
    pair.alice.send(#"/_settings @1 {"enableNtfs":"none","favorite":false}"#).assert("cmdOk")
    XCTAssertEqual(shown("muted chat")["outcome"].text, "nothingNew")
    pair.alice.send(#"/_settings @1 {"enableNtfs":"all","favorite":false}"#).assert("cmdOk")
    pair.alice.send("/_mute user 1").assert("userPrivacy")
    XCTAssertEqual(shown("muted profile")["outcome"].text, "nothingNew")
    pair.alice.send("/_unmute user 1").assert("userPrivacy")
    let previews = [
      ("message", "bob:", "a text"), ("contact", "bob:", "new message"), ("hidden", "Contact hidden:", "new message"),
    ]
    for (mode, title, body) in previews {
      pair.alice.send(#"/_save app settings {"notificationPreviewMode":"\#(mode)"}"#).assert("cmdOk")
      let answer = shown("a text")
      XCTAssertEqual(answer.titles, [title], mode)
      XCTAssertEqual(answer.bodies, [body], mode)
    }
  }

  /// INC-38: an extension committed the message and showed nothing.
  func testARoundShowsWhatAnExtensionCommittedAndDidNotShow() throws {
    let station = try Station()
    station.suspend()
    let data = JSON(try station.push(for: "hello"))["notificationData"]
    let notifier = try station.makeExtension()
    notifier.send("/_start main=off snd_files=off").assert("chatStarted")
    let conns = notifier.send("/_ntf conns \(data["nonce"].text) \(data["message"].text)")["result"]["ntfConns"]
    let (id, queue) = (conns[0]["agentConnId"].text, conns[0]["agentDbQueueId"].number)
    notifier.send("/_ntf conn messages \(id):\(queue):2026-01-01T00:00:00Z").assert("connNtfMessages")
    notifier.send("/_app suspend 0").assert("cmdOk")
    let answer = refresh(station.alice)
    XCTAssertEqual(answer.bodies, ["hello"], answer.description)
    XCTAssertEqual(refresh(station.alice)["outcome"].text, "nothingNew")
  }

  /// S68: the relay does not answer; the round ends in time and releases everything.
  func testARoundPastItsTimeEndsAtRest() throws {
    let pair = try Pair()
    let transport = HostTransport(relay: pair.folder.file("relay.db"))
    pair.alice.free()
    pair.send("hello", from: pair.bob)
    let fresh = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
    transport.install(in: fresh)
    transport.hang(true)
    let cut = repeating(while: \.isLate, of: fresh) { JSON(take(np_background_refresh(fresh.handle, 700))) }
    XCTAssertTrue(cut["quiescent"].flag, cut.description)
    XCTAssertTrue(fresh.state["quiescent"].flag, fresh.state.description)
    XCTAssertEqual(cut["outcome"].text, "expired", cut.description)
    XCTAssertEqual(cut["nextRefreshMs"].number, 600_000)
    XCTAssertEqual(fresh.state["machines"]["background_refresh"].text, "expired")
    transport.hang(false)
    XCTAssertEqual(refresh(fresh).bodies, ["hello"])
  }

  /// Whatever its deadline: the relay is slow, and takes 14 s for one answer and longer for the next.
  func testARoundReceivesForEighteenSeconds() throws {
    let pair = try Pair()
    pair.alice.free()
    pair.send("hello", from: pair.bob)
    let clock = MovedClock()
    let transport = HostTransport(relay: pair.folder.file("relay.db"))
    let configuration = Configuration(
      prefix: pair.folder.file("alice"), role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
    let app = try XCTUnwrap(Controller.open(configuration).1)
    defer { app.stop() }
    XCTAssertTrue(app.setRelay(transport.port))
    transport.hang(true)
    clock.stop()
    let answer = Promise<String>()
    Thread.detachNewThread { answer.fulfil(app.refresh(deadline: .seconds(30))) }
    transport.waitUntilInside()
    clock.move(.seconds(14))
    transport.hang(.get)
    transport.hang(false)
    waitUntil { transport.count(.get) > 0 }
    XCTAssertEqual(JSON(app.state())["machines"]["background_refresh"].text, "running")
    clock.move(.seconds(4))
    // Any call makes the engine check its timers.
    _ = app.state()
    clock.start()
    let text = try XCTUnwrap(answer.wait(atMost: .seconds(20)))
    XCTAssertEqual(JSON(text)["outcome"].text, "expired", text)
    XCTAssertTrue(JSON(text)["quiescent"].flag, text)
    XCTAssertEqual(JSON(app.state())["machines"]["background_refresh"].text, "expired")
    transport.hang(nil)
  }

  /// INC-39: the relay does not answer a request for a message; the fetch ends by its own deadline, and a later one
  /// succeeds.
  func testAFetchThatIsNotAnsweredEndsByItself() throws {
    let pair = try Pair()
    pair.alice.free()
    pair.send("hello", from: pair.bob)
    let clock = MovedClock()
    let transport = HostTransport(relay: pair.folder.file("relay.db"))
    let configuration = Configuration(
      prefix: pair.folder.file("alice"), role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
    let app = try XCTUnwrap(Controller.open(configuration).1)
    defer { app.stop() }
    XCTAssertTrue(app.setRelay(transport.port))
    transport.hang(.get)
    JSON(app.send("/_start", retry: 0)).assert("chatStarted")
    waitUntil { transport.count(.get) > 0 }
    clock.move(.seconds(11))
    waitUntil { JSON(app.state())["claims"].count == 0 }
    transport.hang(nil)
    clock.move(.seconds(200))
    waitUntil {
      clock.move(.seconds(1))
      return JSON(app.state())["unread"].number == 1
    }
  }

  func testARoundWithoutARelayIsOffline() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let relay = pair.folder.file("relay.db")
    try FileManager.default.moveItem(atPath: relay, toPath: relay + ".away")
    try FileManager.default.createDirectory(atPath: relay, withIntermediateDirectories: false)
    let answer = refresh(pair.alice)
    XCTAssertEqual(answer["outcome"].text, "offline", answer.description)
    XCTAssertEqual(answer["nextRefreshMs"].number, 600_000)
    XCTAssertEqual(pair.alice.state["machines"]["background_refresh"].text, "expired")
  }

  func testTheHostEndsARoundInTheMiddleOfIt() throws {
    let pair = try Pair()
    pair.alice.free()
    for end in ["expire", "suspend", "start", "stop"] {
      let transport = HostTransport(relay: pair.folder.file("relay.db"))
      let fresh = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
      transport.install(in: fresh)
      transport.hang(true)
      let (answer, handle) = (Promise<String>(), UInt(bitPattern: try XCTUnwrap(fresh.handle)))
      Thread.detachNewThread {
        answer.fulfil(take(np_background_refresh(UnsafeMutableRawPointer(bitPattern: handle), 20_000)))
      }
      transport.waitUntilInside()
      switch end {
      case "expire": XCTAssertEqual(np_expire_push(fresh.handle), NP_OK)
      case "suspend": fresh.send("/_app suspend 0").assert("cmdOk")
      case "start": fresh.send("/_start").assert("chatRunning")
      default: fresh.send("/_stop").assert("chatStopped")
      }
      transport.hang(false)
      let text = try XCTUnwrap(answer.wait(atMost: .seconds(15)), end)
      XCTAssertFalse(JSON(text)["outcome"].text.isEmpty, "\(end): \(text)")
      if ["expire", "suspend"].contains(end) {
        XCTAssertEqual(JSON(text)["outcome"].text, "expired", "\(end): \(text)")
        XCTAssertTrue(fresh.state["quiescent"].flag, "\(end): \(fresh.state)")
      } else {
        XCTAssertEqual(fresh.state["machines"]["background_refresh"].text, "idle", "\(end): \(text)")
      }
      fresh.free()
    }
  }

  /// A system's "time is up" for a round ends that round, and not a push that began before.
  func testARoundIsEndedByItsName() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.alice.free()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    let fresh = try XCTUnwrap(Host.open(station.pair.folder.file("alice")).host)
    transport.install(in: fresh)
    transport.hang(true)
    XCTAssertEqual(np_expire_push_id(fresh.handle, "np:refresh"), NP_ERROR_NOTHING_PENDING)
    let (pushed, round, handle) = (Promise<String>(), Promise<String>(), UInt(bitPattern: try XCTUnwrap(fresh.handle)))
    Thread.detachNewThread {
      pushed.fulfil(take(np_receive_push(UnsafeMutableRawPointer(bitPattern: handle), push, 20_000)))
    }
    transport.waitUntilInside()
    Thread.detachNewThread {
      round.fulfil(take(np_background_refresh(UnsafeMutableRawPointer(bitPattern: handle), 20_000)))
    }
    waitUntil { fresh.state["pushesWaiting"].number == 1 }
    XCTAssertEqual(np_expire_push_id(fresh.handle, "np:refresh"), NP_OK)
    XCTAssertEqual(JSON(try XCTUnwrap(round.wait(atMost: .seconds(15))))["outcome"].text, "expired")
    XCTAssertNil(pushed.wait(atMost: .zero))
    transport.hang(false)
    XCTAssertEqual(JSON(try XCTUnwrap(pushed.wait(atMost: .seconds(15)))).bodies, ["hello"])
  }

  /// The user taps, and opens the app in the middle of a round: the tap was waiting for the screen.
  func testAnAppThatIsStartedInARoundAppliesTheTapThatWaits() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let shown = try station.present(push)["notifications"][0]
    station.alice.free()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    let fresh = try XCTUnwrap(Host.open(station.pair.folder.file("alice")).host)
    transport.install(in: fresh)
    transport.hang(true)
    let (answer, handle) = (Promise<String>(), UInt(bitPattern: try XCTUnwrap(fresh.handle)))
    Thread.detachNewThread {
      answer.fulfil(take(np_background_refresh(UnsafeMutableRawPointer(bitPattern: handle), 20_000)))
    }
    transport.waitUntilInside()
    let tap = fresh.respond(to: shown)["result"]
    XCTAssertEqual(tap["outcome"].text, "waiting", tap.description)
    fresh.send("/_start").assert("chatRunning")
    let event = try XCTUnwrap(fresh.event("ntfResponse", within: 10))["result"]
    XCTAssertEqual(event["outcome"].text, "applied", event.description)
    transport.hang(false)
    XCTAssertNotNil(answer.wait(atMost: .seconds(15)))
    fresh.free()
  }

  /// Without a token the first round of a process is not the last word on the mode.
  func testTheNextRoundIsEarlierOnceTheTokenIsDeleted() throws {
    let station = try Station()
    let app = station.alice
    func round() -> Int64 {
      app.send("/_app phase background").assert("cmdOk")
      app.send("/_app suspend 0").assert("cmdOk")
      let answer = JSON(take(np_background_refresh(app.handle, 20_000)))
      return Int64(answer["nextRefreshMs"].number)
    }
    XCTAssertEqual(round(), 2_400_000)
    app.send("/_app activate").assert("cmdOk")
    app.send("/_ntf delete apns_test \(station.token)").assert("cmdOk")
    XCTAssertEqual(round(), 600_000)
  }

  /// On screen and off: the round is answered, and the process does not crash.
  func testAControllerIsFreedInTheMiddleOfARound() throws {
    let pair = try Pair()
    pair.alice.free()
    for isOnScreen in [false, true] {
      let transport = HostTransport(relay: pair.folder.file("relay.db"))
      let app = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
      transport.install(in: app)
      if isOnScreen { app.send("/_start").assert("chatStarted") }
      transport.hang(true)
      let (answer, handle) = (Promise<String>(), UInt(bitPattern: try XCTUnwrap(app.handle)))
      Thread.detachNewThread {
        answer.fulfil(take(np_background_refresh(UnsafeMutableRawPointer(bitPattern: handle), 20_000)))
      }
      transport.waitUntilInside()
      waitUntil { app.state["machines"]["push"].exists }
      app.free()
      let text = try XCTUnwrap(answer.wait(atMost: .seconds(15)))
      XCTAssertEqual(JSON(text)["outcome"].text, "expired", text)
      transport.hang(false)
    }
  }

  // MARK: On screen

  /// On screen, a round checks the mailboxes and changes nothing else.
  func testARoundOnScreenKeepsTheAppAtWork() throws {
    let pair = try Pair()
    let answer = JSON(take(np_background_refresh(pair.alice.handle, 5_000)))
    XCTAssertEqual(answer["outcome"].text, "nothingNew", answer.description)
    XCTAssertFalse(answer["quiescent"].flag)
    XCTAssertEqual(pair.alice.state["machines"]["app_phase"].text, "active")
    pair.send("hello", from: pair.bob)
    pair.alice.event("newChatItems")
  }

  func testOnlyAnAppDoesRounds() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    let refused = JSON(take(np_background_refresh(notifier.handle, 1_000)))
    XCTAssertEqual(refused["error"]["np"]["code"].text, "roleNotAllowed", refused.description)
    XCTAssertFalse(notifier.state["nextRefreshMs"].exists)
    XCTAssertTrue(JSON(take(np_background_refresh(nil, 1_000)))["error"].exists)
    for deadline: Int32 in [-1, 0, 30_001] {
      XCTAssertTrue(JSON(take(np_background_refresh(pair.alice.handle, deadline)))["error"].exists, "\(deadline)")
    }
    pair.alice.send("/_stop").assert("chatStopped")
    XCTAssertEqual(JSON(take(np_background_refresh(pair.alice.handle, 1_000)))["outcome"].text, "stopped")
  }

  // MARK: Values

  /// S63: the intervals of the reference.
  func testTheNextRoundIsDueByTheMode() {
    let start = Moment(nanoseconds: 1_000_000_000)
    let intervals: [(NotificationMode?, Int64)] = [(.instant, 2_400), (.periodic, 1_200), (nil, 600)]
    for (mode, seconds) in intervals {
      var schedule = RefreshSchedule()
      schedule.mode = mode
      XCTAssertEqual(schedule.next(at: start), .seconds(seconds))
      schedule.planNext(at: start)
      XCTAssertEqual(schedule.next(at: start), .seconds(600), "none was done in this process")
      schedule.lastRound = start
      schedule.planNext(at: start + .seconds(60))
      XCTAssertEqual(schedule.next(at: start + .seconds(60)), .seconds(seconds))
      XCTAssertEqual(schedule.next(at: start + .seconds(90)), .seconds(seconds - 30))
      XCTAssertEqual(schedule.next(at: start + .seconds(9_000)), .zero)
      schedule.planNext(at: start + .seconds(seconds))
      XCTAssertEqual(schedule.next(at: start + .seconds(seconds)), .seconds(600), "it is due")
      schedule.lastRound = start + .seconds(seconds)
      schedule.planSoon(at: start + .seconds(seconds))
      XCTAssertEqual(schedule.next(at: start + .seconds(seconds)), .seconds(600), "it was cut off")
      schedule.cancel()
      XCTAssertEqual(schedule.next(at: start), .seconds(seconds))
    }
  }
}
