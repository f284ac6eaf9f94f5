// The seam for formats of timelines: what a trace is made of, and who writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sim/results/output_file.h"
#include "sim/units/quantity.h"

namespace weft::tools {

// A figure that is shown with a slice.
struct TraceArgument {
  const char* name;
  std::uint64_t value = 0;
};

// An arrow from slice to slice, by the number that they have in common.
struct TraceArrow {
  enum class Part : std::uint8_t { kNone, kFirst, kMiddle, kLast };
  Part part = Part::kNone;
  std::uint64_t number = 0;
};

struct TraceSlice {
  Time start, end;
  std::string_view name;  // one of few
  TraceArrow arrow;
  std::span<const TraceArgument> arguments;
};

// Groups have tracks, and each track has slices that don't overlap, in the order of time, or a counter.
// Numbers of groups and tracks are from 0, each announced before it is used. Throws InputError if the file
// can't be written.
class TraceWriter {
 public:
  // Several tracks may have one name, for slices that overlap, as messages do.
  enum class Track : std::uint8_t { kCpu, kMessages, kBytes, kPercent, kCount };

  virtual ~TraceWriter() = default;
  virtual void group(std::uint32_t number, const std::string& name) = 0;
  virtual void track(std::uint32_t number, std::uint32_t group, Track kind, const std::string& name) = 0;
  virtual void slice(std::uint32_t track, const TraceSlice& slice) = 0;
  virtual void counter(std::uint32_t track, Time time, double value) = 0;
  // After the last.
  virtual void finish() = 0;
};

// Perfetto's protobuf format, in the subset of perfetto.proto. Times are cut to whole nanoseconds.
std::unique_ptr<TraceWriter> make_perfetto_writer(const std::string& path);

// The JSON that Chrome's about:tracing and Perfetto read: "Trace Event Format", Google, 2016.
std::unique_ptr<TraceWriter> make_chrome_writer(const std::string& path);

}  // namespace weft::tools
