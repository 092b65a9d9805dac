import PorterAPNs
import PorterServer
import PorterSettings
import PorterTelemetry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

func put(_ text: String, to descriptor: Int32) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return }
  }
}

func serve(_ settings: Settings) throws {
  let signals = SignalWaiter()
  // What it makes is for this user alone.
  umask(0o077)
  let level = LogWriter.Level.allCases.first { $0.name == settings.text("log-level") } ?? .info
  let form = LogWriter.Form(rawValue: settings.text("log-form") ?? "") ?? .logfmt
  let writer = LogWriter(minimum: level, form: form)
  let log: @Sendable (String, String) -> Void = { name, line in
    writer.line(LogWriter.Level.allCases.first { $0.name == name } ?? .error, line)
  }
  let provider = try APNsProvider(APNsOptions(settings), log: log)
  var options = PushService.Options(relay: try settings.require("relay"), state: try settings.require("state"))
  options.locals = settings.text("local-socket").map { ["apns_test": $0] } ?? [:]
  let name = PushSettings.environment(settings).provider
  let service = try PushService(options, senders: [name: provider], log: log)
  put("\(service.link)\n", to: 1)
  try service.run { while signals.next() == .reload {} }
  try provider.close()
}

do {
  switch try PushSettings.table.request() {
  case .help: put(PushSettings.table.help, to: 1)
  case .printing(let settings): put(settings.listing, to: 1)
  case .command("serve", let settings): try serve(settings)
  case .command(_, let settings):
    try APNsProvider(APNsOptions(settings)).close()
    put("ok\n", to: 1)
  }
} catch {
  put("porter-push: \(error)\n", to: 2)
  exit(1)
}
