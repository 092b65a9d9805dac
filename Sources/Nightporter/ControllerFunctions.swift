public import CNightporter
import PorterEngine
import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore

// Implements Include/nightporter.h, which documents these functions. The compiler checks each signature against the
// header.

@c @implementation
public func chat_migrate_init(
  _ path: UnsafePointer<CChar>!, _ key: UnsafePointer<CChar>!, _ confirm: UnsafePointer<CChar>!,
  _ ctrl: UnsafeMutablePointer<chat_ctrl?>!
) -> UnsafeMutablePointer<CChar>! {
  chat_migrate_init_key(path, key, 0, confirm, 0, ctrl)
}

@c @implementation
public func chat_migrate_init_key(
  _ path: UnsafePointer<CChar>!, _ key: UnsafePointer<CChar>!, _ keep_key: Int32, _ confirm: UnsafePointer<CChar>!,
  _ background: Int32, _ ctrl: UnsafeMutablePointer<chat_ctrl?>!
) -> UnsafeMutablePointer<CChar>! {
  let role = Role(number: background)
  let result = Opening.open(path, key, keeps: keep_key != 0, confirm, role: role, ctrl)
  var isHeard = true
  if role == .extension, let prefix = CStringArgument(path).text {
    isHeard = NoticeMark.set(after: result, at: prefix)
  }
  return CString.make(result.json(for: role, isHeard: isHeard).text)
}

extension Role {
  /// Takes a value of `np_role`. Any other number is an extension, as in SimpleX's interface.
  fileprivate init(number: Int32) {
    switch number {
    case Int32(NP_ROLE_APP.rawValue): self = .app
    case Int32(NP_ROLE_SHARE.rawValue): self = .share
    default: self = .extension
    }
  }
}

/// From the arguments of `chat_migrate_init_key` to a controller.
private enum Opening {
  static func open(
    _ path: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?, keeps: Bool, _ confirm: UnsafePointer<CChar>?,
    role: Role, _ ctrl: UnsafeMutablePointer<chat_ctrl?>?
  ) -> MigrationResult {
    guard let ctrl, let path = CStringArgument(path).text, !path.isEmpty else {
      return .errorSQL(file: "", reason: "a path and a place for the handle are needed, in UTF-8")
    }
    let file = StoreLocation(prefix: path).file
    guard let confirm = CStringArgument(confirm).text.flatMap({ Store.Confirmation(rawValue: $0) }) else {
      return .invalidConfirmation
    }
    let held: HeldKey
    // A key is never ignored: opening a plain store instead of a sealed one would betray the caller that gave the key.
    do throws(KeyRefusal) { held = HeldKey(try KeyText.read(key, role: role), isRetained: keeps) } catch {
      return .nightporter(file: file, error.error)
    }
    let configuration = Configuration(prefix: path, role: role, confirmation: confirm, log: HostLog.current)
    let (result, controller) = Controller.open(configuration, key: held)
    guard let controller else { return result }
    guard let handle = Handles.add(controller) else {
      controller.stop()
      return .errorSQL(file: file, reason: "too many controllers")
    }
    ctrl.pointee = handle
    return result
  }
}

@c @implementation
public func chat_close_store(_ ctrl: chat_ctrl!) -> UnsafeMutablePointer<CChar>! {
  CString.make(Handles.find(ctrl)?.closeStore() ?? NightporterError.controllerInvalid.message)
}

@c @implementation
public func chat_reopen_store(_ ctrl: chat_ctrl!) -> UnsafeMutablePointer<CChar>! {
  CString.make(Handles.find(ctrl)?.reopenStore() ?? NightporterError.controllerInvalid.message)
}

@c @implementation
public func np_ctrl_free(_ ctrl: chat_ctrl!) -> np_error {
  if ctrl == nil { return NP_OK }
  guard let controller = Handles.remove(ctrl) else { return NP_ERROR_HANDLE }
  controller.stop()
  return NP_OK
}

// MARK: Commands and events

@c @implementation
public func chat_send_cmd(_ ctrl: chat_ctrl!, _ command: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! {
  chat_send_cmd_retry(ctrl, command, 0)
}

@c @implementation
public func chat_send_cmd_retry(
  _ ctrl: chat_ctrl!, _ command: UnsafePointer<CChar>!, _ retry: Int32
) -> UnsafeMutablePointer<CChar>! {
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  switch CStringArgument(command) {
  case .null: return CString.error(.commandSyntax(position: 0, expected: "a command, not NULL"))
  case .notUTF8: return CString.error(.textNotUTF8)
  case .text(let text): return CString.make(controller.send(text, retry: Int(retry)))
  }
}

@c @implementation
public func chat_recv_msg(_ ctrl: chat_ctrl!) -> UnsafeMutablePointer<CChar>! {
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  return CString.make(Events.text(controller.takeEvent(atMost: nil)))
}

@c @implementation
public func chat_recv_msg_wait(_ ctrl: chat_ctrl!, _ wait_us: Int32) -> UnsafeMutablePointer<CChar>! {
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  return CString.make(Events.text(controller.takeEvent(atMost: .microseconds(Int64(max(0, wait_us))))))
}

private enum Events {
  static func text(_ taken: EventQueue.Taken?) -> String {
    switch taken {
    case .event(let text): text
    case .lost(let count): Event.eventsLost(Int64(count)).envelope.text
    case .closed: Answer.error(.nightporter(.controllerInvalid)).json.text
    case nil: ""
    }
  }
}

@c @implementation
public func np_event_fd(_ ctrl: chat_ctrl!) -> Int32 { Handles.find(ctrl)?.events.descriptor ?? -1 }

// MARK: Pushes

@c @implementation
public func np_receive_push(
  _ ctrl: chat_ctrl!, _ payload_json: UnsafePointer<CChar>!, _ deadline_ms: Int32
) -> UnsafeMutablePointer<CChar>! {
  receivePush(ctrl, nil, payload_json, deadline_ms)
}

@c @implementation
public func np_receive_push_id(
  _ ctrl: chat_ctrl!, _ push_id: UnsafePointer<CChar>!, _ payload_json: UnsafePointer<CChar>!, _ deadline_ms: Int32
) -> UnsafeMutablePointer<CChar>! {
  switch CStringArgument(push_id) {
  case .text(let identifier): receivePush(ctrl, identifier, payload_json, deadline_ms)
  case .null: CString.error(.commandSyntax(position: 0, expected: "an identifier, not NULL"))
  case .notUTF8: CString.error(.textNotUTF8)
  }
}

private func receivePush(
  _ ctrl: chat_ctrl?, _ identifier: String?, _ payload: UnsafePointer<CChar>?, _ deadline: Int32
) -> UnsafeMutablePointer<CChar>? {
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  guard controller.role != .share else { return CString.error(.roleNotAllowed("pushes")) }
  guard (1...30_000).contains(deadline) else {
    return CString.error(.commandSyntax(position: 0, expected: "a deadline of 1 to 30000 ms"))
  }
  // Text that is not UTF-8 is answered like an unreadable push.
  let payload = CStringArgument(payload).text ?? ""
  return CString.make(
    controller.receivePush(payload, identifier: identifier, deadline: .milliseconds(Int64(deadline))))
}

@c @implementation
public func np_expire_push(_ ctrl: chat_ctrl!) -> np_error {
  if ctrl == nil { return NP_ERROR_NULL }
  guard let controller = Handles.find(ctrl) else { return NP_ERROR_HANDLE }
  return controller.expirePush() ? NP_OK : NP_ERROR_NOTHING_PENDING
}

@c @implementation
public func np_expire_push_id(_ ctrl: chat_ctrl!, _ push_id: UnsafePointer<CChar>!) -> np_error {
  if ctrl == nil { return NP_ERROR_NULL }
  guard let controller = Handles.find(ctrl) else { return NP_ERROR_HANDLE }
  switch CStringArgument(push_id) {
  case .text(let identifier): return controller.expirePush(identifier) ? NP_OK : NP_ERROR_NOTHING_PENDING
  case .null: return NP_ERROR_NULL
  case .notUTF8: return NP_ERROR_UTF8
  }
}

@c @implementation
public func np_push_is_silent(_ path: UnsafePointer<CChar>!, _ payload_json: UnsafePointer<CChar>!) -> Int32 {
  guard let path = CStringArgument(path).text, !path.isEmpty, let payload = CStringArgument(payload_json).text else {
    return 0
  }
  return SilentPush.isSilent(payload, at: path) ? 1 : 0
}

// MARK: Categories and responses

@c @implementation
public func np_categories(_ ctrl: chat_ctrl!) -> UnsafeMutablePointer<CChar>! {
  guard let ctrl else { return CString.make(ProcessStrings.shared.categories) }
  guard let text = Handles.find(ctrl)?.categories() else { return CString.error(.controllerInvalid) }
  return CString.make(text)
}

@c @implementation
public func np_notification_response(
  _ ctrl: chat_ctrl!, _ response_json: UnsafePointer<CChar>!
) -> UnsafeMutablePointer<CChar>! {
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  switch CStringArgument(response_json) {
  case .null: return CString.error(.responseInvalid("a JSON object, not NULL"))
  case .notUTF8: return CString.error(.textNotUTF8)
  case .text(let text): return CString.make(controller.notificationResponse(text))
  }
}

@c @implementation
public func np_background_refresh(_ ctrl: chat_ctrl!, _ deadline_ms: Int32) -> UnsafeMutablePointer<CChar>! {
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  guard controller.role == .app else { return CString.error(.roleNotAllowed("background refresh")) }
  guard (1...30_000).contains(deadline_ms) else {
    return CString.error(.commandSyntax(position: 0, expected: "a deadline of 1 to 30000 ms"))
  }
  return CString.make(controller.refresh(deadline: .milliseconds(Int64(deadline_ms))))
}

// MARK: Phases and states

@c @implementation
public func np_set_phase(_ ctrl: chat_ctrl!, _ phase: np_phase) -> np_error {
  if ctrl == nil { return NP_ERROR_NULL }
  guard let controller = Handles.find(ctrl) else { return NP_ERROR_HANDLE }
  let accepted: Bool
  switch phase {
  case NP_PHASE_ACTIVE: accepted = controller.setPhase(.active)
  case NP_PHASE_BACKGROUND: accepted = controller.setPhase(.background)
  case NP_PHASE_SUSPENDED: accepted = controller.setPhase(.suspended)
  case NP_PHASE_BACKGROUND_REFRESH: accepted = controller.setPhase(nil)
  default: return NP_ERROR_ARGUMENT
  }
  return accepted ? NP_OK : NP_ERROR_STATE
}

@c @implementation
public func np_state(_ ctrl: chat_ctrl!) -> UnsafeMutablePointer<CChar>! {
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  return CString.make(controller.state())
}
