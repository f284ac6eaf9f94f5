#include "tests/tracer/nccl_run.h"

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace weft::trace::test {

namespace fs = std::filesystem;

NcclRun run_nccl(const std::string& name, const std::string& variables, const std::string& command) {
  NcclRun run;
  run.directory = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(run.directory);
  fs::create_directories(run.directory);
  const std::string programs = fs::absolute("tests/tracer").string();
  const std::string library = fs::absolute("tracer/nccl/libweft_trace_nccl.so").string();
  // It loads the other where NCCL or CUDA's runtime is used.
  const std::string preloaded = fs::absolute("tracer/mpi/libweft_trace_mpi.so").string();
  std::string text = command;
  for (std::size_t at; (at = text.find("PROGRAMS")) != std::string::npos;) text.replace(at, 8, programs);
  for (std::size_t at; (at = text.find("LIBRARY")) != std::string::npos;) text.replace(at, 7, library);
  const std::string line = fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      "LD_LIBRARY_PATH='{}' WEFT_TRACE_DIR='{}' LD_PRELOAD={} {} timeout 120 {} > '{}/output' 2>&1",
      programs, run.directory.string(), preloaded, variables, text, run.directory.string());
  run.status = std::system(line.c_str());
  std::ostringstream output;
  output << std::ifstream(run.directory / "output").rdbuf();
  run.output = output.str();
  return run;
}

}  // namespace weft::trace::test
