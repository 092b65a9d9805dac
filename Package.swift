// swift-tools-version: 6.2
// Nightporter: the notification core for end-to-end encrypted apps.
// What a module may import is the table of rooms in ARCHITECTURE.md, from its top down; a test compares the two.

import PackageDescription

/// Of a host's own SQLite, if it has one: a pkg-config name, or a folder with include/sqlite3.h and lib/libsqlite3.a (CONTRIBUTING.md).
let sqlite = Context.environment["NIGHTPORTER_SQLITE"] ?? ""
let hasFolder = sqlite.contains("/")

let swift: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "nightporter",
  products: [
    .library(name: "nightporter", type: .dynamic, targets: ["Nightporter"]),
    .library(name: "nightporter-static", type: .static, targets: ["Nightporter"]),
    // A relay on the network for hosts without an HTTP client. Only this product needs libcurl.
    .library(name: "nightporter-net", type: .dynamic, targets: ["CNightporterNet"]),
    .executable(name: "porter-server", targets: ["porter-server"]),
    .executable(name: "porter-harness", targets: ["porter-harness"]),
    .executable(name: "porter-machines", targets: ["porter-machines"]),
    // For Servers/, which is a package of its own: the public part of PorterRelay.
    .library(name: "porter-serving", targets: ["PorterRelay"]),
    // A relay whose mailboxes are kept in a cluster, whatever that is.
    .library(name: "porter-clustering", targets: ["PorterRelayCluster"]),
    // The same of PorterServer, for providers on the network.
    .library(name: "porter-pushing", targets: ["PorterServer"]),
    // The transport to a relay on the network, as a part of a program.
    .library(name: "porter-net", targets: ["CNightporterNet"]),
    // For tests: disks fail in a process that preloads it (LD_PRELOAD).
    .library(name: "faulty-vfs", type: .dynamic, targets: ["CFaultyVFS"]),
  ],
  targets: [
    // The C interface: its header is the source of truth, Sources/Nightporter implements it.
    .systemLibrary(name: "CNightporter", path: "Include"),
    .systemLibrary(
      name: "CSQLite", pkgConfig: hasFolder ? nil : sqlite.isEmpty ? "sqlite3" : sqlite,
      providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CFFI", pkgConfig: "libffi", providers: [.apt(["libffi-dev"])]),

    // Pure.
    .target(name: "PorterMachines", swiftSettings: swift),
    .target(name: "PorterJSON", swiftSettings: swift),

    // The sealed store's file layer, in C.
    .target(name: "CSealedVFS", dependencies: ["CSQLite", "CSodium"], exclude: ["README.md"]),
    // Which syncs of the store's log are carried out, in C.
    .target(name: "CLogSync", dependencies: ["CSQLite"]),

    // Connections that release their locks without being closed, in C.
    .target(name: "CDozingVFS", dependencies: ["CSQLite"], exclude: ["README.md"]),

    // Modules with effects, from the bottom up.
    .target(name: "PorterPlatform", swiftSettings: swift),
    .target(name: "PorterCrypto", dependencies: ["CSodium", "PorterPlatform"], swiftSettings: swift),
    .target(
      name: "PorterStore",
      dependencies: [
        "CSQLite", "CSealedVFS", "CLogSync", "CDozingVFS", "PorterCrypto", "PorterMachines", "PorterPlatform",
      ],
      swiftSettings: swift),
    .target(
      name: "PorterRelay", dependencies: ["PorterStore", "PorterCrypto", "PorterPlatform"], swiftSettings: swift),
    .target(
      name: "PorterRelayCluster", dependencies: ["PorterRelay", "PorterCrypto", "PorterPlatform"], swiftSettings: swift),
    .target(
      name: "PorterPush", dependencies: ["PorterJSON", "PorterCrypto", "PorterPlatform", "PorterSchema"],
      swiftSettings: swift),
    .target(name: "PorterSchema", dependencies: ["PorterJSON", "PorterPlatform"], swiftSettings: swift),
    .target(
      name: "PorterNotifications", dependencies: ["PorterJSON", "PorterPlatform", "PorterSchema"], swiftSettings: swift),
    .target(
      name: "PorterEngine",
      dependencies: [
        "PorterMachines", "PorterJSON", "PorterPlatform", "PorterCrypto", "PorterStore", "PorterRelay", "PorterPush",
        "PorterNotifications", "PorterSchema",
      ], exclude: ["README.md"], swiftSettings: swift),
    .target(
      name: "Nightporter",
      dependencies: [
        "CNightporter", "PorterEngine", "PorterMachines", "PorterJSON", "PorterPlatform", "PorterCrypto", "PorterStore",
        "PorterRelay", "PorterNotifications", "PorterSchema",
      ],
      swiftSettings: swift),

    // The transport to a relay on the network, in C.
    .target(
      name: "CNightporterNet", dependencies: ["CCurl", "CNightporter"],
      cSettings: [.headerSearchPath("../../Include"), .define("_GNU_SOURCE")]),

    // Programs.
    .target(name: "PorterMachineCompiler", swiftSettings: swift),
    .executableTarget(name: "porter-machines", dependencies: ["PorterMachineCompiler"], swiftSettings: swift),
    .target(
      name: "PorterServer",
      dependencies: [
        "PorterMachines", "PorterJSON", "PorterPlatform", "PorterCrypto", "PorterStore", "PorterRelay", "PorterPush",
        "PorterSchema",
      ],
      swiftSettings: swift),
    .executableTarget(
      name: "porter-server", dependencies: ["PorterServer", "PorterRelay", "PorterPlatform"], swiftSettings: swift),
    .executableTarget(
      name: "porter-harness", dependencies: ["Nightporter", "CFFI", "CSQLite"], exclude: ["page.html"],
      cSettings: [
        .headerSearchPath("../../Include"),
        .define("_GNU_SOURCE"),
      ]),

    // Benchmarks: `make bench`.
    .target(
      name: "CSwitchReference", path: "Benchmarks/reference", exclude: ["cold.c", "commit.c", "push.c", "push"],
      sources: ["switch.c"]),
    .executableTarget(
      name: "bench-machine-steps", dependencies: ["PorterMachines", "Nightporter", "CNightporter", "CSwitchReference"],
      path: "Benchmarks/machine-steps", swiftSettings: swift),
    .executableTarget(
      name: "bench-json-porter", dependencies: ["PorterJSON"], path: "Benchmarks/json-porter", swiftSettings: swift),
    .executableTarget(
      name: "bench-commit-latency", dependencies: ["PorterStore", "PorterPlatform", "CSQLite"],
      path: "Benchmarks/commit-latency", swiftSettings: swift),
    .executableTarget(
      name: "bench-server", dependencies: ["PorterServer", "PorterRelay", "PorterPlatform"],
      path: "Benchmarks/server", exclude: ["provider.c"], swiftSettings: swift),
    .executableTarget(name: "bench-json-foundation", path: "Benchmarks/json-foundation", swiftSettings: swift),

    // Tests.
    .target(name: "CFaultyVFS", dependencies: ["CSQLite"], path: "Tests/Support/CFaultyVFS"),
    .target(
      name: "WatchedFiles", dependencies: ["PorterPlatform"], path: "Tests/Support/WatchedFiles", swiftSettings: swift),
    .target(name: "CMemoryScan", path: "Tests/Support/CMemoryScan"),
    // Counts what a process has libsodium compute.
    .target(name: "CCountedCrypto", dependencies: ["CSodium"], path: "Tests/Support/CCountedCrypto"),
    .target(
      name: "RefusedRequests", dependencies: ["PorterRelay", "PorterCrypto", "PorterPlatform"],
      path: "Tests/Support/RefusedRequests", swiftSettings: swift),
    .target(name: "PythonPeer", path: "Tests/Support/PythonPeer", swiftSettings: swift),
    .target(name: "PropertyTesting", path: "Tests/Support/PropertyTesting", swiftSettings: swift),
    .target(
      name: "PorterProcesses", dependencies: ["PorterJSON"], path: "Tests/Support/PorterProcesses", swiftSettings: swift
    ),
    .testTarget(name: "HarnessTests", dependencies: ["PorterProcesses", "PorterJSON"], swiftSettings: swift),
    .target(
      name: "PorterNight", dependencies: ["PorterProcesses", "PorterJSON", "PorterStore"],
      path: "Tests/Support/PorterNight",
      swiftSettings: swift),
    .testTarget(
      name: "Scenarios", dependencies: ["PorterNight", "PorterProcesses", "PorterJSON"], path: "Tests/Scenarios",
      swiftSettings: swift),
    .testTarget(
      name: "Incidents",
      dependencies: [
        "PorterNight", "PorterProcesses", "PorterJSON", "PorterPush", "PorterStore", "PorterCrypto", "PorterPlatform",
        "CSQLite",
      ],
      path: "Tests/Incidents", swiftSettings: swift),
    .testTarget(
      name: "Torture",
      dependencies: ["PorterNight", "PorterProcesses", "PorterJSON", "PorterStore", "PorterPlatform"],
      path: "Tests/Torture", swiftSettings: swift),
    .testTarget(name: "PropertyTestingTests", dependencies: ["PropertyTesting"], swiftSettings: swift),
    .target(
      name: "CSealedVFSScenarios", dependencies: ["CSealedVFS", "CDozingVFS", "CFaultyVFS", "CMemoryScan", "CSQLite"],
      path: "Tests/CSealedVFSTests/Scenarios"),
    .testTarget(
      name: "CSealedVFSTests", dependencies: ["CSealedVFS", "CSealedVFSScenarios", "CSQLite"],
      exclude: ["Scenarios", "Runner", "Makefile"], swiftSettings: swift),
    .testTarget(
      name: "PorterPlatformTests", dependencies: ["PorterPlatform", "PropertyTesting"], swiftSettings: swift),
    .testTarget(name: "PorterJSONTests", dependencies: ["PorterJSON", "PropertyTesting"], swiftSettings: swift),
    .testTarget(
      name: "PorterSchemaTests",
      dependencies: ["PorterSchema", "PorterJSON", "PorterPlatform", "PropertyTesting", "PythonPeer"],
      exclude: ["peers"], swiftSettings: swift),
    .testTarget(
      name: "PorterMachinesTests",
      dependencies: [
        "PorterMachines", "PorterMachineCompiler", "PropertyTesting", "PythonPeer", "CSwitchReference",
        "porter-machines",
      ],
      exclude: ["Peer"],
      swiftSettings: swift),
    .testTarget(
      name: "PorterCryptoTests", dependencies: ["PorterCrypto", "PropertyTesting", "PythonPeer"], exclude: ["Peer"],
      swiftSettings: swift),
    .testTarget(
      name: "PorterStoreTests",
      dependencies: [
        "PorterStore", "PorterCrypto", "PorterPlatform", "PropertyTesting", "CFaultyVFS", "CSealedVFS", "CSQLite",
        "WatchedFiles", "PorterProcesses",
      ],
      swiftSettings: swift),
    .executableTarget(
      name: "net-test-driver", dependencies: ["CNightporterNet"], path: "Tests/Support/net-test-driver",
      cSettings: [.headerSearchPath("../../../Include"), .define("_GNU_SOURCE")]),
    .executableTarget(
      name: "relay-test-peer", dependencies: ["PorterRelay"], path: "Tests/Support/relay-test-peer",
      swiftSettings: swift),
    .testTarget(
      name: "PorterRelayTests",
      dependencies: [
        "PorterRelay", "PropertyTesting", "PorterProcesses", "relay-test-peer", "CCountedCrypto", "RefusedRequests",
      ],
      swiftSettings: swift),
    .testTarget(
      name: "PorterRelayClusterTests",
      dependencies: [
        "PorterRelayCluster", "PorterRelay", "PorterCrypto", "PorterPlatform", "CCountedCrypto", "RefusedRequests",
        "PropertyTesting",
      ],
      swiftSettings: swift),
    .testTarget(
      name: "PorterPushTests", dependencies: ["PorterPush", "PropertyTesting", "PythonPeer"], exclude: ["peers"],
      swiftSettings: swift),
    .testTarget(
      name: "PorterNotificationsTests",
      dependencies: [
        "PorterNotifications", "PorterPlatform", "PorterSchema", "PorterJSON", "PropertyTesting", "PythonPeer",
      ],
      exclude: ["golden"], swiftSettings: swift),
    .testTarget(
      name: "PorterServerTests", dependencies: ["PorterServer", "porter-server", "PropertyTesting", "WatchedFiles"],
      swiftSettings: swift),
    // A source of messages that is no relay, and a host that has it.
    .target(
      name: "PorterInbox",
      dependencies: ["PorterEngine", "PorterMachines", "PorterSchema", "PorterStore", "PorterPlatform", "PorterJSON"],
      path: "Tests/Support/PorterInbox", swiftSettings: swift),
    .executableTarget(
      name: "inbox-test-peer", dependencies: ["PorterEngine", "PorterInbox", "PorterPlatform", "PorterStore"],
      path: "Tests/Support/inbox-test-peer", swiftSettings: swift),
    .testTarget(
      name: "NightporterTests",
      dependencies: [
        "PorterInbox", "PorterProcesses", "inbox-test-peer", "Nightporter", "CNightporter", "PorterEngine",
        "PorterServer", "PorterRelay", "PorterPush", "PorterStore", "PorterCrypto",
        "PorterPlatform", "PorterJSON", "PropertyTesting", "WatchedFiles", "CMemoryScan",
      ], swiftSettings: swift),
    // Two engines, the relay and the server in one thread, on a clock and randomness of the simulation.
    .target(name: "CSystemCalls", dependencies: ["CSodium", "CSQLite"], path: "Tests/Support/CSystemCalls"),
    .testTarget(
      name: "Simulation",
      dependencies: [
        "PorterEngine", "PorterServer", "PorterRelay", "PorterPush", "PorterStore", "PorterPlatform", "PorterJSON",
        "PorterSchema", "PorterInbox", "CSystemCalls",
      ], path: "Tests/Simulation", swiftSettings: swift),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)

// The archive by its path, since the other libraries' folders, which have the system's SQLite too, could come before its own.
if hasFolder {
  for target in package.targets where target.type != .system {
    target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-I\(sqlite)/include"])]
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Xcc", "-I\(sqlite)/include"])]
    let usesIt = target.dependencies.contains { if case .byNameItem("CSQLite", _) = $0 { true } else { false } }
    if usesIt { target.linkerSettings = [.unsafeFlags(["\(sqlite)/lib/libsqlite3.a"])] }
  }
}
