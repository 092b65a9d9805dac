#ifndef NIGHTPORTER_H
#define NIGHTPORTER_H
#endif
