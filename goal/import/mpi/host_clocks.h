// The clocks of the hosts of a traced run, brought onto that of rank 0's host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::goal {

// What a host's clock lacks to rank 0's, as measured at one moment (tracer/format/README.md, `clock_begin`).
struct ClockReading {
  std::int64_t offset_ns = 0;       // to be added to this host's clock
  std::uint64_t round_trip_ns = 0;  // the offset is right within half of it
  std::uint64_t at_ns = 0;          // on this host's clock
};

class HostClocks {
 public:
  // The facts of a rank's trace in `file`; those of ranks that measured nothing add their host's name only.
  // Throws InputError for readings that make no sense.
  void add(const std::string& file, const std::string& host, const std::map<std::string, std::string>& facts);

  struct Host {
    std::string name;
    std::vector<ClockReading> readings;  // at MPI_Init and, if it came to that, at MPI_Finalize
    // How much faster rank 0's clock runs, as a fraction; 0 with one reading.
    double drift() const;
    // The drift is right within so much: readings soon after each other tell little.
    double drift_uncertainty() const;
  };
  const std::map<std::string, Host>& hosts() const { return hosts_; }

  // Can times of all hosts be compared? One host's always can.
  bool comparable() const;
  // A time of `host` on rank 0's clock, along the line between its readings; before and behind them the
  // offset of the nearest. REQUIRES: comparable().
  std::int64_t reference_ns(const std::string& host, std::uint64_t ns) const;
  // The farthest that two hosts' clocks were apart when measured, and half the longest round trip.
  std::uint64_t apart_ns() const;
  std::uint64_t uncertainty_ns() const;

 private:
  std::map<std::string, Host> hosts_;
};

}  // namespace weft::goal
