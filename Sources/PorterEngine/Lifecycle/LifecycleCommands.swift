import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_start`, `/_stop`, `/_app …`, and the functions that close and reopen the store.
extension Engine {
  func startChat(mainApp: Bool) throws(ChatError) -> Response {
    // A store closed after a background round is opened by the start.
    if !lifecycle.isSuspended { _ = try requireActiveUser() }
    return try lifecycle.start(mainApp: mainApp) ? .chatStarted : .chatRunning
  }

  func stopChat(reply: @escaping Reply) { lifecycle.stop { reply(.result(.chatStopped)) } }

  func activateChat(restores: Bool) throws(ChatError) -> Response {
    try lifecycle.activate(takesUpWork: restores)
    return .cmdOk(nil)
  }

  func suspendChat(_ delay: Span) throws(ChatError) -> Response {
    lifecycle.suspend(within: delay)
    return .cmdOk(nil)
  }

  func setDozing(_ dozes: Bool) throws(ChatError) -> Response {
    lifecycle.setDozing(dozes)
    return .cmdOk(nil)
  }

  func setPhase(_ phase: HostPhase) throws(ChatError) -> Response {
    switch phase {
    case .active: try becomeActive()
    case .background: leaveScreen(by: context.clock.now() + Durations.backgroundSuspension)
    case .suspended: try suspendChat(.zero)
    }
  }

  func leaveScreen(by end: Moment) -> Response {
    lifecycle.leaveScreen(by: end)
    return .cmdOk(nil)
  }

  /// An extension reports it on start and on resumption.
  private func becomeActive() throws(ChatError) -> Response {
    guard context.role != .app else { return try activateChat(restores: true) }
    _ = try startChat(mainApp: false)
    return .cmdOk(nil)
  }

  func beginBackgroundRefresh() throws(ChatError) -> Response {
    try lifecycle.beginBackgroundRefresh()
    return .cmdOk(nil)
  }
}
