public import CNightporter
import PorterCrypto
import PorterEngine
import PorterJSON
import PorterSchema
import PorterStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Why a key was rejected.
struct KeyRefusal: Error {
  let error: NightporterError
  init(_ error: NightporterError) { self.error = error }
}

/// Keys passed in and out. Nothing here makes a Swift string of a key, since it could not be wiped; the text of the
/// command `/_db encryption` is an exception.
enum KeyText {
  static func read(_ pointer: UnsafePointer<CChar>?, role: Role) throws(KeyRefusal) -> StoreKey {
    guard let pointer else { throw KeyRefusal(.storeKeyInvalid) }
    let text = UnsafeRawBufferPointer(start: pointer, count: strlen(pointer))
    guard isUTF8(text) else { throw KeyRefusal(.textNotUTF8) }
    let key: StoreKey
    do throws(SealError) { key = try StoreKey.parse(text) } catch { throw KeyRefusal(NightporterError(error)) }
    // Argon2id takes 64 MB, and platforms leave an extension less than half of it.
    if role != .app, key.isPassphrase { throw KeyRefusal(.storeKeyNotRaw) }
    return key
  }

  /// The answer of `np_derive_key`, in memory from malloc.
  static func answer(_ key: UnsafeRawBufferPointer) -> UnsafeMutablePointer<CChar>? {
    let start = "{\"result\":{\"type\":\"storeKey\",\"storeKey\":\"x'"
    let end = "'\"}}"
    let count = start.utf8.count + 2 * key.count + end.utf8.count
    guard let memory = malloc(count + 1) else { return nil }
    let text = memory.bindMemory(to: CChar.self, capacity: count + 1)
    var position = 0
    func append(_ byte: UInt8) {
      text[position] = CChar(bitPattern: byte)
      position += 1
    }
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
    for byte in start.utf8 { append(byte) }
    for byte in key {
      append(digit(byte >> 4))
      append(digit(byte & 15))
    }
    for byte in end.utf8 { append(byte) }
    append(0)
    return text
  }

  private static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
    var bytes = text.makeIterator()
    var decoder = UTF8()
    while true {
      switch decoder.decode(&bytes) {
      case .scalarValue: continue
      case .emptyInput: return true
      case .error: return false
      }
    }
  }
}

@c @implementation
public func np_derive_key(
  _ path: UnsafePointer<CChar>!, _ passphrase: UnsafePointer<CChar>!
) -> UnsafeMutablePointer<CChar>! {
  guard let path = CStringArgument(path).text, !path.isEmpty else {
    return CString.error(.commandSyntax(position: 0, expected: "a path, in UTF-8"))
  }
  do throws(KeyRefusal) {
    guard case .passphrase(let passphrase) = try KeyText.read(passphrase, role: .app) else {
      return CString.error(.storeKeyInvalid)
    }
    do throws(StoreError) {
      return try Store.derivedKey(of: StoreLocation(prefix: path), passphrase: passphrase).withExposedBytes {
        KeyText.answer($0)
      }
    } catch {
      return CString.make(Answer.error(ChatError(error)).json.text)
    }
  } catch {
    return CString.error(error.error)
  }
}

@c @implementation
public func np_set_key(_ ctrl: chat_ctrl!, _ key: UnsafePointer<CChar>!, _ keep_key: Int32) -> np_error {
  if ctrl == nil || key == nil { return NP_ERROR_NULL }
  guard let controller = Handles.find(ctrl) else { return NP_ERROR_HANDLE }
  do throws(KeyRefusal) {
    controller.setKey(HeldKey(try KeyText.read(key, role: controller.role), isRetained: keep_key != 0))
    return NP_OK
  } catch {
    switch error.error {
    case .textNotUTF8: return NP_ERROR_UTF8
    case .storeKeyNoMemory: return NP_ERROR_SYSTEM
    default: return NP_ERROR_ARGUMENT
    }
  }
}

@c @implementation
public func np_set_cipher(_ name: UnsafePointer<CChar>!) -> np_error {
  guard let pointer = name else { return NP_ERROR_NULL }
  guard let name = CStringArgument(pointer).text else { return NP_ERROR_UTF8 }
  guard let cipher = StoreCipher(name: name) else { return NP_ERROR_ARGUMENT }
  return cipher.prefer() ? NP_OK : NP_ERROR_SYSTEM
}

@c @implementation
public func np_change_key(
  _ ctrl: chat_ctrl!, _ current_key: UnsafePointer<CChar>!, _ new_key: UnsafePointer<CChar>!
) -> UnsafeMutablePointer<CChar>! {
  guard let controller = Handles.find(ctrl) else { return CString.error(.controllerInvalid) }
  // The engine decides which roles may use a passphrase; it refuses an extension here as it does for the command.
  do throws(KeyRefusal) {
    let current = try KeyText.read(current_key, role: .app)
    let new = try KeyText.read(new_key, role: .app)
    return CString.make(controller.changeKey(from: current, to: new))
  } catch {
    return CString.error(error.error)
  }
}
