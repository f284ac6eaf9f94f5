// The logs of single packets, as entries: packets.csv and capture.pcapng.
#pragma once

#include "sim/run/sink.h"

namespace weft::sim::packet {

Sink packet_log_sink();
Sink capture_sink();

}  // namespace weft::sim::packet
