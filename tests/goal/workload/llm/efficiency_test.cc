// What whole steps reach of their operators' times, unless said otherwise.
#include <fmt/core.h>

#include "goal/workload/compute/device.h"
#include "goal/workload/workload.h"
#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Nanoseconds that all ranks compute.
double computed(const std::string& text) {
  const Graph graph = traffic(text, 2);
  double sum = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kCalc) sum += static_cast<double>(rank.value(i));
    }
  }
  return sum;
}

std::string told(const std::string& text) {
  const Workload& workload = find_module(workloads(), parse_module_choice("llm"), "traffic pattern");
  std::string all;
  for (const std::string& sentence :
       workload.remarks(Parameters(workload.info, parse_module_choice(text)), 2))
    all += sentence + "\n";
  return all;
}

}  // namespace

TEST_CASE("efficiency: by default that of published steps on the device, and 1 is the operators alone") {
  for (const std::string device : {"a100", "h100", "b200"}) {
    CAPTURE(device);
    const std::string text = "llm:model=llama3_8b,seq=8192,tp=2,device=" + device;
    const double share = find_device(device).spec().step_efficiency, alone = computed(text + ",efficiency=1");
    CHECK(share > 0.8);
    CHECK(share < 1);
    CHECK(computed(text) == Approx(alone / share).epsilon(1e-6));
    CHECK(computed(text + ",efficiency=0.5") == Approx(2 * alone).epsilon(1e-6));
  }
}

TEST_CASE("efficiency: that another device's stands in is told, unless the user gives one") {
  CHECK(told("llm:model=llama3_8b,device=h100").find("whole steps") == std::string::npos);
  CHECK(told("llm:model=llama3_8b,device=b200").find("those published of h100") != std::string::npos);
  CHECK(told("llm:model=llama3_8b,device=b200,efficiency=0.8").find("whole steps") == std::string::npos);
}
