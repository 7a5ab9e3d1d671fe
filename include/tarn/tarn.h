/* Every public header of tarn. */
#ifndef TARN_TARN_H
#define TARN_TARN_H

#include "batch.h"
#include "commit.h"
#include "context.h"
#include "doctor.h"
#include "inspect.h"
#include "op.h"
#include "plan.h"
#include "read.h"
#include "split.h"
#include "status.h"
#include "table.h"
#include "task.h"
#include "timeline.h"
#include "write.h"

#endif
