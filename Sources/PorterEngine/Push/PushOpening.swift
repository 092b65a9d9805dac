import PorterMachines
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

/// How a push gets the store, or why it does not.
extension PushRunner {
  func openStore(_ run: PushRun) {
    engine.refresh.begin()
    engine.lifecycle.runForPush { [weak self] outcome in
      guard let self else { return }
      switch outcome {
      case .runs: post(.storeOpened, run)
      case .doesNot:
        if let problem = engine.lifecycle.storeProblem, isOthersTime(problem, run) {
          return again(run, in: .openingStore) { $0.openStore(run) }
        }
        post(whyNotOpen(run), run)
      case .runsElsewhere(let app):
        run.obstacle = .busy
        run.noteHeld(by: app)
        post(.storeBusy, run)
      }
    }
  }

  private func whyNotOpen(_ run: PushRun) -> Push.Event {
    guard let error = engine.lifecycle.storeProblem else {
      run.obstacle = .process
      return .storeFailed
    }
    run.obstacle = .store
    note(error, run)
    switch error {
    case .needsMigration, .newerSchema: return .storeWrongSchema
    case .sqlite(let error) where error.kind == .busy || error.kind == .locked:
      run.obstacle = .busy
      return .storeBusy
    case .sqlite(let error) where error.kind == .cannotOpen && Self.isDenied(error.systemError): return .storeLocked
    // Its app provides the key again, as after the first unlock.
    case .seal(.keyForgotten): return .storeLocked
    case .sqlite(let error) where error.kind == .interrupted:
      // The process must rest: nothing is wrong with the store.
      run.obstacle = .process
      return .storeFailed
    case .sqlite, .seal, .foreign, .staleEpoch, .notFound, .duplicate, .damaged: return .storeFailed
    }
  }

  /// Before the first unlock after a boot, a protected file exists but is unreadable (INC-50).
  private static func isDenied(_ systemError: Int32) -> Bool { systemError == EACCES || systemError == EPERM }
}
