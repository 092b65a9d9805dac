import CNightporter
import Foundation
import PorterPlatform
import XCTest

/// A host's transport that can come to rest: it is notified when to, and is no longer in use afterwards.
final class HostRelaySuspensionTests: XCTestCase {
  /// Holds each exchange until it is suspended.
  private final class Transport: @unchecked Sendable {
    struct State {
      var rests = true
      var inside = 0
      var insideWhenRestBegan: [Int] = []
      var calls: [String] = []
    }

    let state = Monitor(State())

    /// The structure for `np_set_relay`, with the members of a header that knew `size` bytes.
    func relay(size: Int = MemoryLayout<np_relay>.size) -> np_relay {
      var relay = np_relay()
      relay.size = size
      relay.context = Unmanaged.passUnretained(self).toOpaque()
      relay.exchange = { context, _, _, _, _, _ in HostRelaySuspensionTests.transport(context).exchange() }
      relay.suspend = { HostRelaySuspensionTests.transport($0).suspend() }
      relay.resume = { HostRelaySuspensionTests.transport($0).resume() }
      return relay
    }

    private func exchange() -> np_error {
      state.signal { $0.inside += 1 }
      _ = state.wait(atMost: .seconds(60)) { $0.rests ? true : nil }
      state.signal { $0.inside -= 1 }
      return NP_ERROR_SYSTEM
    }

    private func suspend() {
      state.signal {
        $0.calls.append("suspend")
        $0.insideWhenRestBegan.append($0.inside)
        $0.rests = true
      }
      _ = state.wait(atMost: .seconds(60)) { $0.inside == 0 ? true : nil }
    }

    private func resume() {
      state.signal {
        $0.calls.append("resume")
        $0.rests = false
      }
    }

    /// Waits until exchanges are in progress.
    func waitUntilInside() { XCTAssertNotNil(state.wait(atMost: .seconds(30)) { $0.inside > 0 ? true : nil }) }
    var calls: [String] { state.withLock { $0.calls } }
  }

  private static func transport(_ context: UnsafeMutableRawPointer?) -> Transport {
    Unmanaged<Transport>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
  }

  private func inBackground(_ command: String, _ host: Host) -> XCTestExpectation {
    let handle = UInt(bitPattern: host.handle)
    let answered = expectation(description: command)
    Thread.detachNewThread {
      XCTAssertTrue(JSON(take(chat_send_cmd(chat_ctrl(bitPattern: handle), command)))["error"].exists)
      answered.fulfill()
    }
    return answered
  }

  private func start(_ transport: Transport, relay: np_relay, in folder: TemporaryFolder) throws -> Host {
    let host = try XCTUnwrap(Host.open(folder.file("alice")).host)
    var relay = relay
    XCTAssertEqual(np_set_relay(host.handle, &relay), NP_OK)
    host.send("/_create user {\"profile\":{\"displayName\":\"alice\",\"fullName\":\"\"}}").assert("activeUser")
    host.send("/_start").assert("chatStarted")
    return host
  }

  func testASuspensionEndsExchangesInProgress() throws {
    let (transport, folder) = (Transport(), try TemporaryFolder())
    let host = try start(transport, relay: transport.relay(), in: folder)
    XCTAssertEqual(transport.calls, ["resume"])
    for round in 1...2 {
      let answered = inBackground("/_connect 1", host)
      transport.waitUntilInside()
      host.send("/_app suspend 0").assert("cmdOk")
      XCTAssertEqual(transport.state.withLock { $0.inside }, 0)
      XCTAssertTrue(host.state["quiescent"].flag)
      wait(for: [answered], timeout: 30)
      XCTAssertEqual(transport.state.withLock { $0.insideWhenRestBegan.count { $0 > 0 } }, round)
      host.send("/_app activate").assert("cmdOk")
    }
    XCTAssertEqual(transport.calls, ["resume", "suspend", "resume", "suspend", "resume"])
    host.free()
    XCTAssertEqual(transport.calls.last, "suspend")
  }

  func testTheNetworkRestsInTheBackground() throws {
    let (transport, folder) = (Transport(), try TemporaryFolder())
    let host = try start(transport, relay: transport.relay(), in: folder)
    host.send("/_app phase background").assert("cmdOk")
    XCTAssertNotNil(transport.state.wait(atMost: .seconds(30)) { $0.calls.last == "suspend" ? true : nil })
    host.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(transport.calls, ["resume", "suspend", "resume"])
    host.free()
  }

  /// Hosts compiled against the earlier header have other data behind the structure's last member.
  func testAnEarlierStructureIsReadAsFarAsItGoes() throws {
    let (transport, folder) = (Transport(), try TemporaryFolder())
    let earlier = try XCTUnwrap(MemoryLayout<np_relay>.offset(of: \.suspend))
    let host = try start(transport, relay: transport.relay(size: earlier), in: folder)
    host.send("/_app suspend 0").assert("cmdOk")
    host.free()
    XCTAssertEqual(transport.calls, [])
    let other = try XCTUnwrap(Host.open(folder.file("bob")).host)
    var shorter = transport.relay(size: earlier - 1)
    XCTAssertEqual(np_set_relay(other.handle, &shorter), NP_ERROR_ARGUMENT)
    other.free()
  }
}
