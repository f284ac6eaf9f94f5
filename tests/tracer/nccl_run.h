// Running programs that use the stand-ins for NCCL and CUDA under the tracer.
#pragma once

#include <filesystem>
#include <string>

namespace weft::trace::test {

struct NcclRun {
  int status = 0;
  std::string output;
  std::filesystem::path directory;  // with the traces
};

// Runs the command, in which PROGRAMS stands for the folder of the test programs and LIBRARY for the NCCL
// tracer, with both tracers preloaded; the variables are put before it. `name` is the folder's.
NcclRun run_nccl(const std::string& name, const std::string& variables, const std::string& command);

}  // namespace weft::trace::test
