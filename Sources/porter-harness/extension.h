/*
 * The notification extension as a separate process: as lean as a host can be, since its memory and its start are
 * measured.
 */
#ifndef PORTER_EXTENSION_H
#define PORTER_EXTENSION_H

/*
 * `porter-harness extension --store PREFIX [--deadline MS] [--expire-after MS] [--log]`: takes one push per line from
 * standard input and answers each with the line that np_receive_push() returned. Exit status 1 with {"migration": …}
 * if the store did not open.
 */
int extension_main(int argument_count, char **arguments);

extern const char extension_usage[];

#endif
