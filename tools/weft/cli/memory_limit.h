// The limit on this process's memory: what would pass it is not given, and std::bad_alloc thrown instead.
// Kept by the system (RLIMIT_DATA), so for all of a run, whatever takes the memory.
#pragma once

#include <cstdint>
#include <new>
#include <string>

namespace weft::cli {

// As much as is available now: a process that takes more would be killed without a word.
void limit_memory_to_available();
// So many bytes in all, if that is less.
void limit_memory(std::uint64_t bytes);
// For what is to be done when it was passed, and for what a process starts.
void lift_memory_limit();
// Bytes; 0: none.
std::uint64_t memory_limit();

// A line for the user about an error at that limit, which came while `during`, "building the network" (empty:
// it is not known).
std::string about_memory(const std::bad_alloc& error, const std::string& during);

}  // namespace weft::cli
