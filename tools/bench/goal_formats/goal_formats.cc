// How large graphs are in each format, how fast they load, how fast they are checked. README.md tells more.
#include <zstd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "goal/binary/binary.h"
#include "goal/check/check.h"
#include "goal/file.h"
#include "goal/pack/pack.h"
#include "goal/read_graph.h"
#include "goal/text/text.h"
#include "tools/bench/goal_formats/chakra.h"
#include "tools/bench/goal_formats/workloads.h"

namespace weft::goal::bench {
namespace {

// Seconds of processor time: all of this is one thread's work, and others may be using the machine.
template <typename Work>
double seconds(const Work& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double size_with_zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  return static_cast<double>(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
}

class Measurement {
 public:
  Measurement(const Graph& graph, std::filesystem::path folder) : graph_(graph), folder_(std::move(folder)) {}

  bool run() {
    std::printf("%u ranks, %.3f million operations, %.3f million edges, %.1f bytes an operation in memory\n",
                graph_.ranks(), ops() / 1e6, static_cast<double>(graph_.edges()) / 1e6,
                static_cast<double>(graph_.memory_bytes()) / ops());
    std::printf("  %-8s %9s %9s %9s %13s %13s\n", "format", "write s", "load s", "MB", "bytes an op",
                "with zstd -3");
    format("text", ".goal", [&](const std::string& path) { write_text_file(graph_, path); });
    if (binary_holds()) {
      format("binary", ".bin", [&](const std::string& path) { write_binary_file(graph_, path); });
    } else {
      std::printf("  %-8s can't hold this graph\n", "binary");
    }
    chakra();
    format("packed", ".weft", [&](const std::string& path) { write_pack_file(graph_, {}, path); });
    std::printf("  %-8s %9.2f\n", "check", seconds([&] { right_ = check(graph_).clean() && right_; }));
    return right_;
  }

 private:
  double ops() const { return static_cast<double>(graph_.ops()); }

  bool binary_holds() const {
    if (!graph_.collectives().empty() || graph_.max_cpu() > 255) return false;
    return graph_.communicators().size() == 1;
  }

  template <typename Write>
  void format(const char* name, const std::string& ending, const Write& write) {
    const std::string path = folder_ / ("weft_goal_formats" + ending);
    const double writing = seconds([&] { write(path); });
    double loading = 0;
    {
      Graph loaded;
      loading = seconds([&] { loaded = read_graph(path); });
      right_ = right_ && loaded == graph_;
    }
    const FileView file(path);
    const auto size = static_cast<double>(file.bytes().size());
    std::printf("  %-8s %9.2f %9.2f %9.3f %13.5f %13.5f\n", name, writing, loading, size / 1e6, size / ops(),
                size_with_zstd(file.bytes()) / ops());
    std::filesystem::remove(path);
  }

  void chakra() const {
    double size = 0, packed = 0;
    to_chakra(graph_, [&](std::string_view rank) {
      size += static_cast<double>(rank.size());
      packed += size_with_zstd(rank);
    });
    std::printf("  %-8s %9s %9s %9.3f %13.5f %13.5f\n", "Chakra", "", "", size / 1e6, size / ops(),
                packed / ops());
  }

  const Graph& graph_;
  std::filesystem::path folder_;
  bool right_ = true;
};

int run(int argc, char** argv) {
  double millions = 10;
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  std::vector<std::string> names, files;
  CLI::App app("Size and speed of the formats of GOAL graphs");
  app.add_option("--millions", millions, "Operations of each generated graph, in millions")
      ->capture_default_str();
  app.add_option("--folder", folder, "Where files are written for a moment")->capture_default_str();
  app.add_option("--workload", names, "Only these of the generated graphs");
  app.add_option("FILE", files, "Graphs to measure instead of generated ones");
  CLI11_PARSE(app, argc, argv);
  bool right = true;
  for (const std::string& file : files) {
    std::printf("%s: ", file.c_str());
    const Graph graph = read_graph(file);
    right = Measurement(graph, folder).run() && right;
  }
  for (const Workload& workload : workloads()) {
    if (!files.empty() ||
        (!names.empty() && std::find(names.begin(), names.end(), workload.name) == names.end())) {
      continue;
    }
    std::printf("%s (%s): ", workload.name, workload.what);
    const Graph graph = workload.make(static_cast<std::uint64_t>(millions * 1e6));
    right = Measurement(graph, folder).run() && right;
  }
  if (!right) std::fprintf(stderr, "a format did not give the same graph back, or a check found something\n");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace weft::goal::bench

int main(int argc, char** argv) {
  try {
    return weft::goal::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "goal_formats: %s\n", error.what());
    return 1;
  }
}
