#include "sim/results/critical_path.h"

#include <algorithm>
#include <array>

namespace weft::results {
namespace {

struct Part {
  std::string_view name;
  Time CriticalPath::*time;
};
constexpr std::array<Part, kPathParts> kParts = {{{"compute", &CriticalPath::compute},
                                                  {"overhead", &CriticalPath::overhead},
                                                  {"latency", &CriticalPath::latency},
                                                  {"bandwidth", &CriticalPath::bandwidth},
                                                  {"queueing", &CriticalPath::queueing},
                                                  {"matching", &CriticalPath::matching}}};

}  // namespace

CriticalPath& CriticalPath::operator+=(const CriticalPath& other) {
  for (const Part& part : kParts) this->*part.time += other.*part.time;
  return *this;
}

std::string_view path_part_name(int part) { return kParts[static_cast<std::size_t>(part)].name; }

Time path_part(const CriticalPath& path, int part) {
  return path.*kParts[static_cast<std::size_t>(part)].time;
}

std::string_view bound_by(const CriticalPath& path) {
  struct Cause {
    std::string_view name;
    Time time;
  };
  const std::array<Cause, 4> causes = {
      {{"compute", path.compute},
       {"overhead", path.overhead},
       {path.latency >= path.matching ? "latency" : "matching", path.latency + path.matching},
       {path.bandwidth >= path.queueing ? "bandwidth" : "queueing", path.bandwidth + path.queueing}}};
  const Cause& most = *std::ranges::max_element(causes, {}, &Cause::time);
  return most.time > Time() ? most.name : "nothing";
}

}  // namespace weft::results
