// How long the GPU takes for what was put on a stream, by a pair of CUDA events around it.
//
// Only where CUDA's runtime is loaded as a library of its own; else every function here does nothing. Nothing
// waits for the GPU: times are picked up when they are there, at later calls. WEFT_TRACE_GPU_TIMES=0 switches
// it off.
#pragma once

#include <cstdint>

#include "tracer/nccl/abi.h"

namespace weft::trace::nccl {

// The current device; -1 if CUDA's runtime is not there to tell.
int current_device();
// Is that stream being captured into a graph? Then nothing on it runs yet, and nothing can be timed.
bool is_capturing(Stream stream);

// A measurement that has begun; 0 for none.
using Measurement = std::uint32_t;
// `device`: where the stream is; it must be the current one for a measurement.
Measurement begin_measurement(Stream stream, int device);
// `operation`: its number in the file. 0: the measurement is given up.
void end_measurement(Measurement measurement, Stream stream, std::uint64_t operation);
// Writes the times that are there by now into the trace. Needs the tracer's lock.
void write_gpu_times();

}  // namespace weft::trace::nccl
