import Foundation
import XCTest

@testable import PorterTLS

/// Certificates and keys: those that a server creates, and everything that can be wrong with those it is given.
final class CertificateTests: XCTestCase {
  private var folder = ""

  override func setUpWithError() throws {
    folder = NSTemporaryDirectory() + "porter-tls-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  @discardableResult
  private func openssl(_ arguments: String, file: StaticString = #filePath, line: UInt = #line) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "cd '\(folder)' && openssl \(arguments) 2>/dev/null"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0, arguments, file: file, line: line)
    return String(decoding: data, as: UTF8.self)
  }

  private func make(_ name: String, days: Int = 10) throws {
    try openssl(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).pem -days \(days) -subj /CN=\(name)"
    )
    try restrict("\(name).key")
  }

  private func restrict(_ name: String, to mode: Int = 0o600) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder)/\(name)")
  }

  private func read(_ certificate: String, _ key: String) throws -> Certificate {
    try Certificate(certificate: "\(folder)/\(certificate)", key: "\(folder)/\(key)")
  }

  private func assertFails(_ expected: String, _ certificate: String, _ key: String, line: UInt = #line) {
    XCTAssertThrowsError(try read(certificate, key), line: line) { error in
      let text = (error as? CertificateError)?.description.replacingOccurrences(of: folder + "/", with: "")
      XCTAssertEqual(text, expected, line: line)
    }
  }

  func testOwnCertificateIsMadeOnceAndOpenSSLReadsIt() throws {
    let paths = try OwnCertificate.prepare(in: folder, name: "relay.example.org")
    let made = try Certificate(certificate: paths.certificate, key: paths.key)
    let text = try openssl("x509 -in certificate.pem -noout -text -ext subjectAltName")
    XCTAssertTrue(text.contains("DNS:relay.example.org"), text)
    XCTAssertTrue(text.contains("prime256v1"), text)
    // The fingerprint, computed by another implementation.
    let pin = try openssl(
      "x509 -in certificate.pem -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64"
    )
    let expected = pin.trimmingCharacters(in: .whitespacesAndNewlines)
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
    XCTAssertEqual(made.fingerprint, expected)
    XCTAssertEqual(made.fingerprint.utf8.count, 43)
    _ = try OwnCertificate.prepare(in: folder, name: "relay.example.org")
    XCTAssertEqual(try Certificate(certificate: paths.certificate, key: paths.key).fingerprint, made.fingerprint)
    XCTAssertEqual(
      try FileManager.default.attributesOfItem(atPath: paths.key)[.posixPermissions] as? Int, 0o600)
  }

  func testOwnCertificateIsRenewedWithTheSameKey() throws {
    try make("old", days: 20)
    try FileManager.default.moveItem(atPath: "\(folder)/old.pem", toPath: "\(folder)/certificate.pem")
    try FileManager.default.moveItem(atPath: "\(folder)/old.key", toPath: "\(folder)/key.pem")
    let before = try read("certificate.pem", "key.pem")
    let paths = try OwnCertificate.prepare(in: folder, name: "127.0.0.1")
    let after = try Certificate(certificate: paths.certificate, key: paths.key)
    XCTAssertEqual(after.fingerprint, before.fingerprint)
    XCTAssertGreaterThan(after.expiry, before.expiry + 365 * 86_400)
    XCTAssertTrue(try openssl("x509 -in certificate.pem -noout -ext subjectAltName").contains("IP Address:127.0.0.1"))
  }

  func testALostKeyIsNotReplacedSilently() throws {
    let paths = try OwnCertificate.prepare(in: folder, name: "a")
    try FileManager.default.removeItem(atPath: paths.key)
    XCTAssertThrowsError(try OwnCertificate.prepare(in: folder, name: "a"))
  }

  func testNamesThatMeanSomethingToTheEncoderAreRefused() {
    for name in ["", "a,DNS:b", "a\nb", "a b", String(repeating: "a", count: 201)] {
      XCTAssertThrowsError(try OwnCertificate.prepare(in: folder, name: name), name)
    }
  }

  func testEachFaultIsNamed() throws {
    try make("one")
    try make("two")
    XCTAssertNoThrow(try read("one.pem", "one.key"))
    assertFails("none.pem: No such file or directory", "none.pem", "one.key")
    assertFails("none.key: No such file or directory", "one.pem", "none.key")
    assertFails("one.key: no certificate in PEM form", "one.key", "one.key")
    assertFails("two.key: this key does not belong to the certificate one.pem", "one.pem", "two.key")
    try restrict("one.pem")
    assertFails("one.pem: no unencrypted key in PEM form", "one.pem", "one.pem")
    for mode in [0o640, 0o604, 0o660] {
      try restrict("one.key", to: mode)
      let octal = String(mode, radix: 8)
      assertFails(
        "one.key: others can read this key (mode \(octal)); run: chmod 600 one.key", "one.pem", "one.key")
    }
  }

  /// `porter-relay check` is run by root on the data of a service that runs as another user.
  func testRootReadsAnotherUsersKeyAndGivesItTheCertificateThatItRenews() throws {
    try XCTSkipUnless(geteuid() == 0, "only root can give files to another user")
    try make("old", days: 20)
    for (name, own) in [("old.pem", "certificate.pem"), ("old.key", "key.pem")] {
      try FileManager.default.moveItem(atPath: "\(folder)/\(name)", toPath: "\(folder)/\(own)")
      XCTAssertEqual(chown("\(folder)/\(own)", 4_711, 4_712), 0)
    }
    XCTAssertEqual(chown(folder, 4_711, 4_712), 0)
    XCTAssertNoThrow(try read("certificate.pem", "key.pem"))
    let paths = try OwnCertificate.prepare(in: folder, name: "relay.example.org")
    let renewed = try Certificate(certificate: paths.certificate, key: paths.key)
    XCTAssertGreaterThan(renewed.expiry, time(nil) + 365 * 86_400)
    let attributes = try FileManager.default.attributesOfItem(atPath: paths.certificate)
    XCTAssertEqual(attributes[.ownerAccountID] as? Int, 4_711)
    XCTAssertEqual(attributes[.groupOwnerAccountID] as? Int, 4_712)
  }

  func testOwnCertificateThatIsNotValidYetIsRenewedWithTheSameKey() throws {
    try makeForLater()
    try FileManager.default.moveItem(atPath: "\(folder)/later.pem", toPath: "\(folder)/certificate.pem")
    try FileManager.default.moveItem(atPath: "\(folder)/later.key", toPath: "\(folder)/key.pem")
    let pin = "pkey -in key.pem -pubout -outform der | openssl dgst -sha256"
    let before = try openssl(pin)
    let paths = try OwnCertificate.prepare(in: folder, name: "127.0.0.1")
    XCTAssertNoThrow(try Certificate(certificate: paths.certificate, key: paths.key))
    XCTAssertEqual(try openssl(pin), before)
  }

  private func makeForLater() throws {
    try openssl("genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-256 -out later.key")
    try openssl("req -new -key later.key -out later.csr -subj /CN=later")
    try restrict("later.key")
    try """
    [ca]
    default_ca = own
    [own]
    database = index
    new_certs_dir = .
    rand_serial = yes
    default_md = sha256
    policy = names
    [names]
    commonName = supplied
    """.write(toFile: folder + "/ca", atomically: true, encoding: .utf8)
    try "".write(toFile: folder + "/index", atomically: true, encoding: .utf8)
    try openssl(
      "ca -batch -config ca -selfsign -keyfile later.key -in later.csr -startdate 20900101000000Z -enddate 20950101000000Z -notext -out later.pem"
    )
  }

  func testACertificateForLaterIsRefused() throws {
    try makeForLater()
    assertFails(
      "later.pem: the certificate is not valid yet; use one that is, or correct the clock if it is behind",
      "later.pem", "later.key")
  }

  func testAnExpiredCertificateIsRefused() throws {
    try openssl("genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-256 -out old.key")
    try restrict("old.key")
    try openssl("req -new -key old.key -subj /CN=old -out old.csr")
    try openssl("x509 -req -in old.csr -signkey old.key -days 0 -out old.pem")
    assertFails(
      "old.pem: the certificate has expired; renew it, or correct the clock if it is ahead", "old.pem", "old.key")
  }

  func testTheKeeperTakesWhatWasReplacedAndKeepsWhatWorked() throws {
    try make("one")
    try make("two")
    let keeper = try CertificateKeeper(certificate: "\(folder)/one.pem", key: "\(folder)/one.key")
    let first = keeper.certificate.fingerprint
    XCTAssertFalse(try keeper.reloadIfChanged())
    try replace("one.pem", with: "two.pem")
    XCTAssertThrowsError(try keeper.reloadIfChanged(), "the certificate without its key")
    XCTAssertEqual(keeper.certificate.fingerprint, first)
    XCTAssertNotNil(keeper.problem)
    XCTAssertThrowsError(try keeper.reloadIfChanged(), "nothing changed since")
    try replace("one.key", with: "two.key")
    XCTAssertTrue(try keeper.reloadIfChanged())
    XCTAssertNotEqual(keeper.certificate.fingerprint, first)
    XCTAssertNil(keeper.problem)
  }

  /// Changing its mode is not a write.
  func testTheKeeperReadsAgainWhenTheKeyWasRestrictedAsItSays() throws {
    try make("one")
    try make("two")
    let keeper = try CertificateKeeper(certificate: "\(folder)/one.pem", key: "\(folder)/one.key")
    let first = keeper.certificate.fingerprint
    try replace("one.pem", with: "two.pem")
    try replace("one.key", with: "two.key")
    try restrict("one.key", to: 0o644)
    XCTAssertThrowsError(try keeper.reloadIfChanged())
    XCTAssertEqual(keeper.problem?.hasSuffix("run: chmod 600 \(folder)/one.key"), true)
    XCTAssertThrowsError(try keeper.reloadIfChanged())
    try restrict("one.key")
    XCTAssertTrue(try keeper.reloadIfChanged())
    XCTAssertNotEqual(keeper.certificate.fingerprint, first)
    XCTAssertNil(keeper.problem)
    XCTAssertFalse(try keeper.reloadIfChanged())
  }

  private func replace(_ name: String, with other: String) throws {
    try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    try FileManager.default.copyItem(atPath: "\(folder)/\(other)", toPath: "\(folder)/\(name)")
    if name.hasSuffix(".key") { try restrict(name) }
  }
}
