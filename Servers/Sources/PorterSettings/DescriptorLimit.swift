#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Each connection needs a descriptor: allows as many as the system grants this process.
public func raiseDescriptorLimit() {
  var limit = rlimit()
  #if canImport(Glibc)
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    let kind = RLIMIT_NOFILE
  #endif
  guard getrlimit(kind, &limit) == 0 else { return }
  limit.rlim_cur = limit.rlim_max
  _ = setrlimit(kind, &limit)
}
