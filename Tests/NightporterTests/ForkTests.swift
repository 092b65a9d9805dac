import CNightporter
import Foundation
import XCTest

/// A child made by fork() has its parent's handles, but neither its threads nor any right to its locks.
final class ForkTests: XCTestCase {
  /// Runs `body` in a child, which ends as soon as it returns. Returns true if it returned true and was not killed for
  /// taking too long.
  private func inChild(_ body: () -> Bool) -> Bool {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { return false }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
      alarm(20)
      _exit(body() ? 0 : 1)
    }
    var status: Int32 = -1
    return child > 0 && waitpid(child, &status, 0) == child && status == 0
  }

  private let calls: [(name: String, isRefused: (chat_ctrl?) -> Bool)] = [
    ("chat_close_store", { take(chat_close_store($0)) == "no such controller" }),
    ("chat_reopen_store", { take(chat_reopen_store($0)) == "no such controller" }),
    ("chat_send_cmd", { isInvalid(chat_send_cmd($0, "/u")) }),
    ("chat_send_cmd_retry", { isInvalid(chat_send_cmd_retry($0, "/_app suspend 0", 0)) }),
    ("chat_recv_msg", { isInvalid(chat_recv_msg($0)) }),
    ("chat_recv_msg_wait", { isInvalid(chat_recv_msg_wait($0, 1_000_000)) }),
    ("np_receive_push", { isInvalid(np_receive_push($0, "{}", 1_000)) }),
    ("np_change_key", { isInvalid(np_change_key($0, "", "")) }),
    ("np_state", { isInvalid(np_state($0)) }),
    ("np_set_strings", { isInvalid(np_set_strings($0, "{}")) }),
    ("np_set_key", { np_set_key($0, "", 1) == NP_ERROR_HANDLE }),
    ("np_set_phase", { np_set_phase($0, NP_PHASE_SUSPENDED) == NP_ERROR_HANDLE }),
    ("np_expire_push", { np_expire_push($0) == NP_ERROR_HANDLE }),
    ("np_expire_push_id", { np_expire_push_id($0, "a") == NP_ERROR_HANDLE }),
    ("np_receive_push_id", { isInvalid(np_receive_push_id($0, "a", "{}", 1_000)) }),
    ("np_relay_ready", { np_relay_ready($0) == NP_ERROR_HANDLE }),
    ("np_event_fd", { np_event_fd($0) == -1 }),
    ("np_ctrl_free", { np_ctrl_free($0) == NP_ERROR_HANDLE && np_ctrl_free($0) == NP_ERROR_HANDLE }),
  ]

  func testAChildCannotUseItsParentsController() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.begin("alice", relay: folder.file("relay.db"))
    let handle = host.handle
    for (name, isRefused) in calls { XCTAssertTrue(inChild { isRefused(handle) }, name) }
    XCTAssertEqual(host.send("/u")["result"]["user"]["localDisplayName"].text, "alice", "and the parent continues")
    XCTAssertTrue(host.send("/_connect 1")["result"].exists)
  }

  /// Whatever the parent's other threads hold at that moment.
  func testAChildForkedDuringCallsWaitsForNoLock() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let handle = UInt(bitPattern: host.handle)
    let (isOver, ended) = (Box(false), expectation(description: "the threads ended"))
    ended.expectedFulfillmentCount = 2
    for _ in 0..<2 {
      Thread.detachNewThread {
        while !isOver.value { _ = np_event_fd(chat_ctrl(bitPattern: handle)) }
        ended.fulfill()
      }
    }
    for _ in 0..<50 {
      XCTAssertTrue(
        inChild { [handle = host.handle] in
          np_ctrl_free(handle) == NP_ERROR_HANDLE && np_set_phase(handle, NP_PHASE_ACTIVE) == NP_ERROR_HANDLE
        })
    }
    isOver.value = true
    wait(for: [ended], timeout: 60)
  }
}

private func isInvalid(_ answer: UnsafeMutablePointer<CChar>?) -> Bool {
  take(answer).contains("\"controllerInvalid\"")
}
