#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
/* Before `main`, Swift's runtime looks for its program that prints backtraces, in each process and with a dozen system
 * calls, unless all of its settings are given. These are what it would find: on Linux nothing is printed unless
 * requested, and the settings of such a request stay. Constructors with a priority run before the runtime's. */
__attribute__((constructor(101))) static void set_backtraces(int count, char **words) {
  if (count > 1 && strcmp(words[1], "extension") == 0)
    setenv("SWIFT_BACKTRACE", "enable=no,color=no,interactive=no,swift-backtrace=/", 0);
}
#endif
