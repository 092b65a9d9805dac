/* Runs scripts of calls: from a file, or line by line as they arrive, as the remote control of a host process. */
#ifndef PORTER_SCRIPT_H
#define PORTER_SCRIPT_H

/*
 * `porter-harness script [FILE|-]`. Returns an exit status: 0, 1 if an expectation failed, 2 if the script is wrong.
 */
int script_main(int argument_count, char **arguments);

extern const char script_usage[];

#endif
