// Uno's congestion control: flows within and between datacenters react equally often.
#pragma once

#include "congestion/congestion.h"

namespace weft::congestion {

// Source: T. Bonato et al., "Uno: a one-stop solution for inter- and intra-data center congestion control and
// reliable connectivity", SC 2025, and its artifact (variant with phantom queues). Its reliability is the
// recovery `erasure_coding`.
const Control& uno();

}  // namespace weft::congestion
