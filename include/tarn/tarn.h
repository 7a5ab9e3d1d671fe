/* Every public header of tarn. */
#ifndef TARN_TARN_H
#define TARN_TARN_H

#include "batch.h"
#include "context.h"
#include "read.h"
#include "status.h"

#endif
