import Foundation
import XCTest

@testable import PorterTLS

/// Keys made by openssl. ES256 needs P-256, and a server has no password.
final class SigningKeyTests: XCTestCase {
  private let folder = NSTemporaryDirectory() + "porter-key-\(UUID().uuidString)"

  override func setUpWithError() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

  private var path: String { folder + "/key.pem" }

  private func make(_ arguments: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "umask 077; openssl \(arguments) -out \(path) 2> /dev/null"]
    try process.run()
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0, arguments)
  }

  private func complaint() -> String? {
    do throws(CertificateError) {
      _ = try SigningKey(path: path)
      return nil
    } catch { return error.description }
  }

  func testAKeyOfP256IsTakenInBothForms() throws {
    for arguments in [
      "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", "ecparam -name prime256v1 -genkey -noout",
    ] {
      try make(arguments)
      XCTAssertNil(complaint(), arguments)
      XCTAssertEqual(try SigningKey(path: path).token(header: "{}", claims: "{}")?.split(separator: ".").count, 3)
    }
  }

  func testAKeyOfAnotherKindIsRefused() throws {
    for arguments in [
      "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384", "ecparam -name secp384r1 -genkey -noout",
      "ecparam -name secp256k1 -genkey -noout", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048",
      "genpkey -algorithm ED25519",
    ] {
      try make(arguments)
      XCTAssertEqual(complaint(), "\(path): not a P-256 key, which is what ES256 needs", arguments)
    }
  }

  func testAnEncryptedKeyIsReportedAsSuch() throws {
    for arguments in [
      "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:secret",
      "ecparam -name prime256v1 -genkey -noout | openssl ec -aes256 -passout pass:secret",
    ] {
      try make(arguments)
      XCTAssertEqual(
        complaint(), "\(path): encrypted with a password, which a server cannot enter; decrypt it: openssl pkey",
        arguments)
    }
  }

  func testAPublicKeyIsNone() throws {
    try make("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | openssl pkey -pubout")
    XCTAssertEqual(complaint(), "\(path): not a private key in PEM")
  }
}
