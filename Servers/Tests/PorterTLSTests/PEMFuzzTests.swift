import Foundation
import PorterMutation
import XCTest

@testable import PorterTLS

/// Certificates, keys and credentials from any file are read or rejected, with the file's name. `make verify` runs this
/// with the address sanitizer and many more inputs; PORTER_FUZZ_SEED repeats a run.
final class PEMFuzzTests: XCTestCase {
  private var mutator = Mutator()
  private var folder = ""

  override func setUpWithError() throws {
    print("seed \(mutator.seed)")
    folder = NSTemporaryDirectory() + "porter-pem-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  private func contents(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

  /// In place: making files takes longer than reading them.
  private func write(_ bytes: [UInt8], _ name: String) throws -> String {
    let path = "\(folder)/\(name)"
    if !KeyFile.exists(path) { try KeyFile.write([], to: path) }
    let file = try XCTUnwrap(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(bytes))
    try file.close()
    return path
  }

  private func make(_ name: String, _ kind: String) throws -> (certificate: [UInt8], key: [UInt8]) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["openssl", "req", "-x509", "-nodes", "-days", "10", "-subj", "/CN=\(name)"]
      + ["-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem", "-newkey"]
      + kind.split(separator: " ").map(String.init)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0, kind)
    return (try contents("\(folder)/\(name).pem"), try contents("\(folder)/\(name).key"))
  }

  /// Pairs of several kinds, the server's own among them, and a chain.
  private func pairs() throws -> [(certificate: [UInt8], key: [UInt8])] {
    let own = try OwnCertificate.prepare(in: folder, name: "relay.example.org")
    var pairs = [(certificate: try contents(own.certificate), key: try contents(own.key))]
    for (name, kind) in [
      ("p256", "ec -pkeyopt ec_paramgen_curve:P-256"), ("p384", "ec -pkeyopt ec_paramgen_curve:P-384"),
      ("rsa", "rsa:2048"),
    ] { pairs.append(try make(name, kind)) }
    pairs.append((certificate: pairs[1].certificate + pairs[0].certificate, key: pairs[1].key))
    return pairs
  }

  func testCertificatesAndTheirKeysAreReadOrRefused() throws {
    let pairs = try pairs()
    var (read, refused) = (0, 0)
    for _ in 0..<mutator.runs / 4 {
      let pair = pairs[Int.random(in: 0..<pairs.count, using: &mutator)]
      // One of both is whole, so that not everything is refused for the other's sake.
      let isKey = Bool.random(using: &mutator)
      let certificate = try write(isKey ? pair.certificate : mutator.bytes(like: [pair.certificate]), "c")
      let key = try write(isKey ? mutator.bytes(like: [pair.key]) : pair.key, "k")
      do throws(CertificateError) {
        let found = try Certificate(certificate: certificate, key: key)
        read += 1
        XCTAssertEqual(found.fingerprint.utf8.count, 43)
        XCTAssertFalse(found.isExpired)
      } catch {
        refused += 1
        XCTAssertTrue(error.description.contains(folder), error.description)
        XCTAssertLessThan(error.description.utf8.count, 400)
      }
    }
    XCTAssertGreaterThan(min(read, refused), mutator.runs / 80)
  }

  func testAuthoritiesAndCredentialsAreReadOrRefused() throws {
    let authorities = try pairs().map(\.certificate)
    let credentials = Array(
      """
      -----BEGIN NATS USER JWT-----
      eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.e30.AAAA
      ------END NATS USER JWT------

      -----BEGIN USER NKEY SEED-----
      SUAGMJH5XLGZKQQWAWKRZJIGMOU4HPFUYLXJMXOO5NLFEO2OOQJ5LPRDPM
      ------END USER NKEY SEED------
      """.utf8)
    var (read, refused) = (0, 0)
    for _ in 0..<mutator.runs / 4 {
      let isAuthority = Bool.random(using: &mutator)
      let path = try write(mutator.bytes(like: isAuthority ? authorities : [credentials]), "g")
      do throws(CertificateError) {
        if isAuthority { try GivenFiles.checkAuthorities(path) } else { try GivenFiles.checkCredentials(path) }
        read += 1
      } catch {
        refused += 1
        XCTAssertTrue(error.description.contains(path), error.description)
      }
    }
    XCTAssertGreaterThan(min(read, refused), mutator.runs / 80)
  }

  /// The keys for provider tokens, and a server's own key with which its certificate is renewed.
  func testSigningKeysSignOrAreRefused() throws {
    let keys = try pairs().map(\.key)
    var (read, refused) = (0, 0)
    for _ in 0..<mutator.runs / 4 {
      let path = try write(mutator.bytes(like: keys), "s")
      do throws(CertificateError) {
        let key = try SigningKey(path: path)
        read += 1
        XCTAssertEqual(key.publicPoint.count, 65)
        XCTAssertEqual(key.publicPoint.first, 4)
        XCTAssertEqual(key.token(header: "{}", claims: "{}")?.split(separator: ".").count, 3)
      } catch {
        refused += 1
        XCTAssertTrue(error.description.contains(path), error.description)
      }
    }
    XCTAssertGreaterThan(min(read, refused), mutator.runs / 80)
  }

  func testAnOwnCertificateIsKeptRenewedOrRefused() throws {
    let own = try OwnCertificate.prepare(in: folder, name: "relay.example.org")
    let (certificate, key) = (try contents(own.certificate), try contents(own.key))
    for _ in 0..<mutator.runs / 40 {
      _ = try write(mutator.bytes(like: [certificate]), "certificate.pem")
      _ = try write(Bool.random(using: &mutator) ? key : mutator.bytes(like: [key]), "key.pem")
      do throws(CertificateError) { _ = try OwnCertificate.prepare(in: folder, name: "relay.example.org") } catch {
        XCTAssertTrue(error.description.contains(folder), error.description)
      }
    }
  }
}
