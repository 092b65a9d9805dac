import PorterMachines
import PorterPush
import PorterSchema
import PorterStore

/// A push with the notification server's code, which proves that pushes to the token arrive here.
extension PushRunner {
  func verifyToken(_ run: PushRun) {
    let left: LeftTokenAttempt?
    do throws(StoreError) { left = try TokenAttempt.left(context.store) } catch {
      run.reason = error.description
      return post(.storeFailed, run)
    }
    guard let left else { return sendCode(run) }
    // The app was cut off, or asks in the background. Ask again under this process's name, so that anything the app
    // still does with the earlier answer is refused (INC-09).
    engine.tokens.finish(left) { [weak self] in
      switch left.attempt {
      case .register: self?.sendCode(run)
      case .replace:
        run.reason = "the token was being replaced; the server sends another code"
        self?.post(.verifyFailed, run)
      }
    }
  }

  private func sendCode(_ run: PushRun) {
    guard case .verification(let nonce, let sealedCode) = run.payload, let token = try? context.store?.token(),
      let secret = token.pushSecret
    else { return post(.verifyFailed, run) }
    do throws(PushError) { _ = try VerificationCode(opening: sealedCode, nonce: nonce, with: secret) } catch {
      run.reason = "the verification push does not open: \(error)"
      return post(.verifyForged, run)
    }
    engine.tokens.verify(token, nonce: nonce, sealedCode: sealedCode) { [weak self] reply in
      switch reply {
      case .result: self?.post(.verifyDone, run)
      case .error:
        run.reason = "the notification server did not take the code"
        self?.post(.verifyFailed, run)
      }
    }
  }
}
