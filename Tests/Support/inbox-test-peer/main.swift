// A host whose messages come from an inbox in a file, for tests in which it is killed or frozen.
//
//   inbox-test-peer app|extension STORE INBOX
//
// Reads one line at a time: a command that begins with a slash, or else a push. Answers each with a line, and ends with
// its input.

#if DEBUG
  import PorterEngine
  import PorterInbox
  import PorterPlatform
  import PorterStore

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #endif

  guard CommandLine.arguments.count == 4, let role = Role(rawValue: CommandLine.arguments[1]) else { exit(2) }
  let configuration = Configuration(prefix: CommandLine.arguments[2], role: role, confirmation: .error)
    .receiving(from: Inbox(file: CommandLine.arguments[3]))
  let (result, controller) = Controller.open(configuration)
  guard let controller else {
    print(result)
    exit(1)
  }
  while let line = readLine() {
    let answer =
      line.hasPrefix("/") ? controller.send(line, retry: 0) : controller.receivePush(line, deadline: .seconds(20))
    let bytes = Array((answer + "\n").utf8)
    _ = write(1, bytes, bytes.count)
  }
  controller.stop()
#else
  import PorterEngine

  fatalError("an inbox takes part in debug builds only")
#endif
