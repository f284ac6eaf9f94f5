// fit_gemm FILE: fits the model of matrix multiplications to each device's measurements, and says how far off
// rows are that it was not fitted to. The fits in goal/workload/compute/devices.cc are the lines "all" of
//   bazel run //tools/measure:fit_gemm -- $PWD/tests/data/gemm/operators.csv
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "goal/file.h"
#include "goal/workload/compute/device.h"
#include "goal/workload/compute/fit.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr int kSteps = 1500;
constexpr std::uint64_t kSeed = 1;

using Rows = std::vector<GemmMeasurement>;

std::string errors(const Rows& rows, const GemmProblem& peaks, const GemmFit& fit) {
  if (rows.empty()) return fmt::format("{:>5}  {:>6}  {:>6}", "-", "-", "-");
  return fmt::format("{:>5}  {:>5.1f}%  {:>5.1f}%", rows.size(), 100 * gemm_error(rows, peaks, fit, 0.5),
                     100 * gemm_error(rows, peaks, fit, 0.9));
}

// Keeps the rows of one model apart; of "all", none.
GemmFit print_fold(const std::string& device, const std::string& apart, const Rows& all) {
  Rows fitted, kept;
  for (const GemmMeasurement& row : all) (row.model == apart ? kept : fitted).push_back(row);
  const GemmProblem peaks = problem_of(find_device(device).spec());
  const GemmFit fit = fit_gemm(fitted, peaks, kSteps, kSeed);
  fmt::print("{:<7} {:<18} {}    {}\n", device, apart, errors(fitted, peaks, fit), errors(kept, peaks, fit));
  return fit;
}

void print_device(const std::string& device, const Rows& all) {
  std::set<std::string> models;
  for (const GemmMeasurement& row : all) models.insert(row.model);
  if (models.size() > 1) {
    for (const std::string& model : models) print_fold(device, model, all);
  }
  const GemmFit fit = print_fold(device, "all", all);
  fmt::print("  {{{:.4g}, {:.4g}, {:.4g}, {:.4g}, {:.4g}, {{{:.3f}}}}}\n", fit.floor_us, fit.memory_share,
             fit.fill, fit.wave_hardness, fit.split_us, fmt::join(fit.tile_share, ", "));
}

void print_file(const std::string& path) {
  std::map<std::string, Rows> devices;
  for (const GemmMeasurement& row : read_gemm_measurements(FileView(path).bytes(), path)) {
    devices[row.device].push_back(row);
  }
  fmt::print("device  rows kept apart    fitted  median   90%    apart  median   90%\n");
  for (const auto& [device, rows] : devices) print_device(device, rows);
}

}  // namespace
}  // namespace weft::goal

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw weft::InputError("usage: fit_gemm FILE (gpu,model,op,m,n,k,tp,median_ms)");
    weft::goal::print_file(argv[1]);
    return 0;
  } catch (const weft::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
