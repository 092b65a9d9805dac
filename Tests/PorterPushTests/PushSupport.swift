import PorterCrypto
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterPush

let randomness = SystemRandomness()

/// The two ends of one token: the server's and the device's key, agreed from opposite halves.
struct TokenKeys {
  let server: BoxSharedKey
  let device: BoxSharedKey

  init() throws {
    let (one, other) = (
      try BoxKeyPair.generate(randomness: randomness), try BoxKeyPair.generate(randomness: randomness)
    )
    server = try one.secretKey.agree(with: other.publicKey)
    device = try other.secretKey.agree(with: one.publicKey)
  }
}

func nonce() throws -> BoxNonce { try BoxNonce.generate(randomness: randomness) }

func identifier() -> [UInt8] { randomness.bytes(24) }

extension Generator where Value == NotificationBundle.Entry {
  static var entry: Generator {
    all(
      Generator<Int64>.number(0...NotificationBundle.latestSecond),
      Generator<[UInt8]>.bytes(16...NotificationBundle.maximumMetadataCount),
      Generator<[UInt8]>.bytes(24...24)
    ).map { seconds, metadata, notifier in
      guard let nonce = BoxNonce(bytes: notifier.reversed()) else { preconditionFailure("24 bytes are a nonce") }
      return NotificationBundle.Entry(
        notifier: notifier, seconds: seconds, metadataNonce: nonce, sealedMetadata: metadata)
    }
  }
}

/// The error that `body` throws, of PorterPush's type.
func pushError<Value>(file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Value) -> PushError? {
  do {
    _ = try body()
    XCTFail("nothing was thrown", file: file, line: line)
    return nil
  } catch let error as PushError {
    return error
  } catch {
    XCTFail("another error: \(error)", file: file, line: line)
    return nil
  }
}
