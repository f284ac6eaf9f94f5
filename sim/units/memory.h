// Memory that is about to be taken: told and refused before it is.
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <utility>

namespace weft {

// What something would take is not there; thrown before any of it is taken.
class NotEnoughMemory : public std::bad_alloc {
 public:
  explicit NotEnoughMemory(std::string what) : what_(std::move(what)) {}
  // "not enough memory for a graph of 10 operations: about 3.6 GB, with 1.2 GB available".
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// Bytes that this process may still take: the least of what the machine has (free, given back on demand, and
// swap), what its control groups (version 2) leave, and what its limit on data leaves (RLIMIT_DATA).
std::uint64_t available_memory();

// Bytes that this process has in memory now.
std::uint64_t held_memory();

// To be called before about so many bytes are taken for `what`, "a graph of 10 operations". Throws
// NotEnoughMemory if so many are not available. Of a gigabyte and more, who listens is told first. `held`:
// bytes of it that have been taken already.
void expect_memory(double bytes, const std::string& what, double held = 0);

// Whom to tell: of "a graph of 100,000,000 operations takes about 3.6 GB of memory". None by default.
void listen_for_memory(std::function<void(const std::string&)> listener);

}  // namespace weft
