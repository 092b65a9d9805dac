/* The receiving end of the local provider alone: prints the pushes that a notification server delivers. */
#ifndef PORTER_PUSHES_H
#define PORTER_PUSHES_H

/* `porter-harness pushes SOCKET`: one push a line, until standard input ends. */
int pushes_main(int argument_count, char **arguments);

extern const char pushes_usage[];

#endif
