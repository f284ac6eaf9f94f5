// How far the clocks of the hosts are apart, by messages between the first rank of each and rank 0.
//
// Each CLOCK_MONOTONIC counts from its own machine's start. As in F. Cristian, "Probabilistic clock
// synchronization" (1989): a reading that comes back after a round trip of r ns tells the other clock within
// r / 2, so the shortest of some round trips is taken.
#pragma once

#include <cstdint>

#include "tracer/mpi/facts.h"

namespace weft::trace {

// When clocks are looked at.
enum class ClockMoment : std::uint8_t { kBegin, kEnd };

// To be called by all ranks, once MPI_Init has done its work: finds out whether they are on several hosts,
// and if so measures. Nothing is sent where the launcher says that all ranks are on this host, or where it
// may be that not all ranks have the tracer (WEFT_TRACE_CLOCKS in tracer/README.md).
void measure_clocks_at_begin(const char* host);
// Before MPI_Finalize. A rank that does not come is waited for no longer than some seconds.
void measure_clocks_at_end();
// What was measured, if anything.
void tell_clocks(ClockMoment moment, FactSink sink, void* context);

// For tests: WEFT_TRACE_TEST_CLOCK "NAME,NANOSECONDS" makes this process's host one of that name whose clock
// is ahead by so much.
extern std::uint64_t clock_ahead_ns;
void read_test_clock();
// The host's name, or the test's.
void get_host(char* host, std::uint64_t bytes);

}  // namespace weft::trace
