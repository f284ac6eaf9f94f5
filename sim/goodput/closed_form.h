// What a long run comes to on paper.
#pragma once

#include "sim/goodput/long_run.h"

namespace weft::goodput {

// The time between failures of which each leads to a restart; infinite where there are none.
double mean_time_between_restarts(const LongRun& run);

// How long to compute between two checkpoints that take `checkpoint_s`, with so long between failures.
// Sources: J. W. Young, CACM 17(9), 1974, to the first order; J. T. Daly, FGCS 22(3), 2006, the higher order.
double young_interval(double checkpoint_s, double between_failures_s);
double daly_interval(double checkpoint_s, double between_failures_s);

// The expected runtime of so much work, a checkpoint behind each interval of it; failures are exponential and
// strike checkpoints and restarts, too (Daly 2006). May be infinite.
double daly_runtime(double work_s, double between_failures_s, double restart_s, double interval_s,
                    double checkpoint_s);

// The expected share of the time that makes progress, of a run that is long beside its checkpoints. Daly's,
// exact for failures with blocking checkpoints. All else to the first order: steps are as much longer as they
// are in the mean, and writing behind computing is lost with each failure as if restarts took longer by that.
double expected_goodput(const LongRun& run);
// Are there only failures, blocking checkpoints, restarts and stragglers, of which it is exact?
bool is_exact(const LongRun& run);

}  // namespace weft::goodput
