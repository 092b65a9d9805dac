public import CNightporter
import PorterEngine
import PorterJSON
import PorterNotifications
import PorterSchema

@c @implementation
public func np_set_strings(
  _ ctrl: chat_ctrl!, _ json: UnsafePointer<CChar>!
) -> UnsafeMutablePointer<CChar>! {
  let text: String
  switch CStringArgument(json) {
  case .null: return CString.error(.stringsInvalid(key: nil, "a string table, not NULL"))
  case .notUTF8: return CString.error(.textNotUTF8)
  case .text(let given): text = given
  }
  let table: StringTable?
  do throws(ChatError) { table = try StringTable.parsed(text) } catch {
    return CString.make(Answer.error(error).json.text)
  }
  guard let ctrl else {
    ProcessStrings.shared.set(table)
    return CString.make(Answer.result(.cmdOk(nil)).json.text)
  }
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  return CString.make(controller.setStrings(table, text: text))
}
