/* Runs scripts of calls: from a file, or line by line as they come, as the remote control of a host process. */
#ifndef PORTER_SCRIPT_H
#define PORTER_SCRIPT_H

/*
 * `porter-harness script [FILE|-]`. Returns an exit status: 0, 1 when an expectation failed, 2 when the script is at
 * fault.
 */
int script_main(int argument_count, char **arguments);

extern const char script_usage[];

#endif
