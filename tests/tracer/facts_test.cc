// Facts from a folder that stands for the system's, so that they can be known.
#include "tracer/mpi/facts.h"

#include <sched.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "tracer/mpi/core_time.h"

namespace weft::trace {
namespace {

namespace fs = std::filesystem;
using Facts = std::map<std::string, std::string>;

void collect(void* facts, const char* name, const char* value) {
  (*static_cast<Facts*>(facts))[name] = value;
}

class Root {
 public:
  explicit Root(const std::string& name) {
    const char* base = std::getenv("TEST_TMPDIR");
    path_ = fs::path(base != nullptr ? base : "/tmp") / name;
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Root& file(const std::string& name, const std::string& text) {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return *this;
  }
  std::string path() const { return path_.string() + "/"; }
  Facts machine() const {
    Facts facts;
    tell_machine(path().c_str(), &collect, &facts);
    return facts;
  }

 private:
  fs::path path_;
};

// The folder of the core that this test stays on.
std::string frequency_folder() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  REQUIRE(sched_setaffinity(0, sizeof here, &here) == 0);
  return "sys/devices/system/cpu/cpu" + std::to_string(sched_getcpu()) + "/cpufreq/";
}

}  // namespace

TEST_CASE("what the system has files for is told") {
  const std::string folder = frequency_folder();
  Root root("whole");
  root.file(folder + "scaling_governor", "powersave\n")
      .file(folder + "scaling_cur_freq", "2100500\n")
      .file(folder + "cpuinfo_max_freq", "3600000\n")
      .file("sys/devices/system/cpu/smt/active", "1\n")
      .file("sys/fs/cgroup/cpu.max", "150000 100000\n");
  Facts facts = root.machine();
  CHECK(facts["governor"] == "powersave");
  CHECK(facts["mhz"] == "2100");
  CHECK(facts["max_mhz"] == "3600");
  CHECK(facts["smt"] == "1");
  CHECK(facts["cpu_quota"] == "1.50");
  CHECK(facts["cores"] == std::to_string(sched_getcpu()));
}

TEST_CASE("what it has none for is left out") {
  const Facts facts = Root("empty").machine();
  for (const char* name : {"governor", "mhz", "max_mhz", "smt", "cpu_quota"}) CHECK(facts.count(name) == 0);
  CHECK(facts.count("cores") == 1);
  CHECK(Root("no_limit").file("sys/fs/cgroup/cpu.max", "max 100000\n").machine().count("cpu_quota") == 0);
  Root old("version_1");
  old.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(old.machine().at("cpu_quota") == "0.50");
}

TEST_CASE("sums are since a moment") {
  Root root("sums");
  // user nice system idle iowait irq softirq steal, in hundredths of a second
  root.file("proc/stat", "cpu  100 10 20 5000 7 1 2 30 0 0\ncpu0 1 1 1 1\n")
      .file("proc/self/status", "Name:\tx\nThreads:\t3\nMore:\t4\n");
  const Usage begin = usage_now(root.path().c_str());
  CHECK(begin.host_busy_ns == 1'330'000'000);
  CHECK(begin.host_stolen_ns == 300'000'000);
  root.file("proc/stat", "cpu  110 10 20 5000 7 1 2 35 0 0\n");
  // Another thread works for 20 ms of its processor time.
  std::thread([] {
    while (thread_cpu_ns() < 20'000'000) {
    }
  }).join();
  Facts facts;
  tell_usage(root.path().c_str(), begin, &collect, &facts);
  CHECK(facts["host_busy_ns"] == "100000000");
  CHECK(facts["host_stolen_ns"] == "50000000");
  CHECK(facts["threads"] == "3");
  CHECK(std::stoull(facts["process_cpu_ns"]) >= std::stoull(facts["cpu_ns"]) + 19'000'000);
}

}  // namespace weft::trace
