// results.sqlite as an entry in the list of sinks.
#pragma once

#include "sim/run/sink.h"

namespace weft::results {

sim::Sink sqlite_sink();

}  // namespace weft::results
