import CSealedVFSScenarios
import XCTest

/// The C scenarios, one test each. A failure names its seed; SEALED_SEED runs it again.
final class ScenarioTests: XCTestCase {
  private func run(_ name: String, file: StaticString = #filePath, line: UInt = #line) {
    let given = ProcessInfo.processInfo.environment["SEALED_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 1...UInt64(UInt32.max))
    var message = [CChar](repeating: 0, count: 8192)
    // In memory where such a folder exists: what syncs promise is tested by losing them, not by waiting for a disk.
    let memory = "/dev/shm"
    let folder = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
    let failed = sealed_scenario_run(name, seed, folder, &message, message.count)
    let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    print(text)
    XCTAssertEqual(failed, 0, text, file: file, line: line)
  }

  func testAnswersAsPlainSQLiteInWAL() { run("workloads-in-wal") }
  func testAnswersAsPlainSQLiteWithJournals() { run("workloads-with-journals") }
  func testAWorkloadThatFailsIsMadeSmaller() { run("workloads-that-shrink") }

  func testRefusesFilesThatAreNotItsOwn() { run("files-that-are-refused") }
  func testKeysAreFoundReplacedAndWiped() { run("keys") }
  func testKeysAreWipedOnceTheDatabaseIsOpen() { run("wiped-secrets") }
  func testKeyIsThereForWhoTookACreationBack() { run("unmade-databases") }
  func testKeysShareGuardedMemory() { run("many-keys") }
  func testKeysThatTakeLongHoldNobodyUp() { run("keys-that-take-long") }
  func testPassphraseMakesTheKeyFromTheFilesSalt() { run("passphrases") }
  func testHeaderStaysPlainAtEveryPageSize() { run("page-sizes") }
  func testVacuumBackupAndAttach() { run("maintenance") }

  func testEveryFlippedBitIsNamedByItsPage() { run("flipped-bits") }
  func testPagesSwappedOrOfAnotherFileAreRefused() { run("moved-pages") }
  func testDamagedLogsEndOrAreRefused() { run("damaged-logs") }
  func testFramesOfEarlierGenerationsAreRefused() { run("logs-edited-in-use") }
  func testDamagedJournalsDoNotRollBackByHalf() { run("damaged-journals") }

  func testNthOperationFails() { run("failing-operations") }
  func testNthOperationOfRecoveryFails() { run("failing-recovery") }
  func testNthAllocationFails() { run("failing-memory") }
  func testPowerIsLost() { run("loss-of-power") }
  func testNoPlaintextInAnyFile() { run("no-plaintext") }

  func testProcessesWriteAtOnce() { run("writing-processes") }
  func testProcessIsKilled() { run("killed-processes") }
  func testCreationByProcessesAtOnceEndsInOneDatabase() { run("creating-processes") }
  func testTwoDatabasesCommitTogether() { run("two-databases") }
  func testTwinsShareNoNonce() { run("twins") }

  func testTemporaryFilesAgreeWithAModel() { run("temporary-files") }
  func testOddCallsAreAnswered() { run("odd-calls") }
  func testFailingCallsSaySo() { run("failing-calls") }
  func testWhatIsNotSealedIsHandedOn() { run("handed-on") }
  func testCallsAtTheEdges() { run("edges") }
  func testPassphraseWithoutItsMemoryIsAnError() { run("too-little-memory") }

  func testMainFileCutBesideALogIsNoticed() { run("cut-beside-log") }
  func testMainFileCutBesideAHotJournalIsNoticed() { run("cut-beside-journal") }
  func testMainFileCutWhileItIsOpenIsNoticed() { run("cut-in-use") }
  func testNothingElseIsTakenForACut() { run("changing-lengths") }
  func testPagesOfAnotherFileAreRefusedWithoutLocks() { run("foreign-pages-without-locks") }
  func testPagesOfAnotherFileAreRefusedWhilePage1IsDamaged() { run("foreign-pages-beside-log") }
  func testLargerPagesInTheSamePlaceOverrunNothing() { run("larger-pages") }
  func testFramesOfTheLastGenerationAreRefused() { run("replayed-generations") }
  func testFlushedFramesAreNotReplaced() { run("replayed-flush") }
  func testHeadersOfEarlierGenerationsAreReported() { run("replayed-headers") }
  func testPlainSQLiteLeavesLogsAlone() { run("logs-looked-at") }
  func testPlainSQLiteLeavesHotJournalsAlone() { run("journals-looked-at") }
  func testPlainSQLiteBesideAProcessInUse() { run("looked-at-in-use") }
  func testFilesOfVersion1AreReadAndWritten() { run("version-1") }
  func testFilesOfACipherThatIsMissingAreRefused() { run("given-ciphers") }
  func testPartsOfARenamedCipherAreRefused() { run("renamed-ciphers") }
  func testCopiesMayHaveAnotherCipher() { run("changed-ciphers") }
  func testPage1IsRestoredThoughItsSaltIsDamaged() { run("damaged-first-pages") }
  func testFramesAreReadThoughPage1IsDamaged() { run("frames-read-first") }
  func testTheSaltsPlaceInPage1MustBeEmpty() { run("filled-first-pages") }
  func testChecksumsThatSQLiteForgetsAreNoDamage() { run("forgotten-checksums") }
  func testAnotherVFSOnTop() { run("stacked") }
  func testConnectionThatExpectedLargerPages() { run("late-page-size") }
  func testLockBytesAreWhereSQLiteHasThem() { run("moved-lock-bytes") }
  func testRecoveredFramesAreNotReadTwice() { run("recovered-frames") }
  func testFramesAreForgottenWithTheirBuffer() { run("held-frames") }
  func testRecordsDoNotContinueAfterAHeader() { run("unfinished-records") }
  func testAnObserverMayReplaceItself() { run("observers") }
  func testIndexIsRemovedAtTheLastClose() { run("removed-index") }
  func testOnlySuperJournalsAreDeletedAfterARollback() { run("named-files") }
  func testWorksWithoutLocks() { run("no-locks") }
  func testLooksForFilesThroughItsOwnBase() { run("other-bases") }
  func testRegistrationIsNeverThereByHalf() { run("registered-by-half") }
  func testTemporaryFilesKeepWhatDidNotFit() { run("full-temporary-files") }

  func testEachScenarioHasItsTest() {
    var names: [String] = []
    while let name = sealed_scenario_name(names.count) { names.append(String(cString: name)) }
    XCTAssertEqual(names.count, 72)
  }

  func testWhatADozingConnectionKeepsIsCurrent() { run("kept-while-dozing") }
  func testChangedFilesAreNoticedWhenWaking() { run("noticed-when-waking") }
  func testAMisusedDozingConnectionChangesNothing() { run("misused-dozing") }
  func testNothingDecryptedStaysInTheBuffersOfADozingConnection() { run("wiped-while-dozing") }
  func testProcessesDozeAmongOthersThatAreKilled() { run("dozing-crowd") }
}
