/* The interface is Include/nightporter_net.h. SwiftPM wants a folder of headers in each C target. */
#include "../../../Include/nightporter_net.h"
