#pragma once

#include "sim/jobs/scheduler.h"

namespace weft::jobs {

SchedulerEntry fcfs();
SchedulerEntry easy();
SchedulerEntry conservative();

}  // namespace weft::jobs
