/* Replaces the Swift runtime's functions of these names, which pull in code that looks for the program's arguments at
 * each start: on Linux it reads /proc/self/maps, as a library has no other way. The arguments are main's, and no Swift
 * code in this program asks for them. */
char **_swift_stdlib_getUnsafeArgvArgc(int *count);
void _swift_stdlib_overrideUnsafeArgvArgc(char **words, int count);

static char *none;
static char **given = &none;
static int given_count;

char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
  *count = given_count;
  return given;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **words, int count) {
  given = words;
  given_count = count;
}
