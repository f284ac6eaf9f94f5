// Trace files byte by byte, written out by hand from the specification.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "goal/import/mpi/trace_reader.h"
#include "sim/units/input_error.h"

namespace weft::trace::test {

using Bytes = std::vector<std::uint8_t>;

inline std::string store(const Bytes& bytes) {
  const char* directory = std::getenv("TEST_TMPDIR");
  const std::filesystem::path path =
      std::filesystem::path(directory != nullptr ? directory : "/tmp") / "bytes.wtrc";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path.string();
}

inline void append(Bytes& to, const Bytes& more) {
  for (const std::uint8_t byte : more) to.push_back(byte);
}

// Adler-32 straight from its definition.
inline Bytes checksum(const Bytes& data) {
  std::uint64_t a = 1, b = 0;
  for (const std::uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(a >> 8), static_cast<std::uint8_t>(b),
          static_cast<std::uint8_t>(b >> 8)};
}

// Rank 1 of 2, library "M", host "h", program "p", clock "c" at 100 ns, epoch 200 ns.
inline Bytes header() {
  const Bytes payload = {1, 2, 1, 'M', 1, 'h', 1, 'p', 1, 'c', 100, 0xC8, 1};
  Bytes file = {'W', 'E', 'F', 'T', 'T', 'R', 'C', '\n', 1, 0, 0, 0, 13, 0, 0, 0};
  append(file, payload);
  append(file, checksum(payload));
  return file;
}

inline Bytes chunk(const Bytes& payload) {
  Bytes bytes = {'W', 'T', 'C', 'K', static_cast<std::uint8_t>(payload.size()), 0, 0, 0};
  append(bytes, checksum(payload));
  append(bytes, {0, 0, 0, 0});
  append(bytes, payload);
  return bytes;
}

// Last leave at 100 ns, thread 0, next request 1; MPI_COMM_WORLD (key 9) of ranks 0 and 1.
inline const Bytes kStart = {100, 0, 1, 121, 0, 9, 0, 0, 2, 2, 0, 2};
// MPI_Irecv, 5 ns after, for 3 ns: communicator 0 (plus one), peer any (-1), tag 7, 300 elements of 4 bytes.
inline const Bytes kIrecv = {14, 10, 3, 1, 1, 14, 0xAC, 2, 4};
// MPI_Wait, 1 ns after, for 2 ns: flag, one request given, one done: the last one made, with a message from
// rank 0, tag 7, 12 bytes.
inline const Bytes kWait = {32, 2, 2, 1, 1, 1, 1, 1, 0, 14, 12};
inline const Bytes kEnd = {124, 1};

inline Bytes payload(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) append(all, part);
  return all;
}

inline std::string error_of(const Bytes& file) {
  const std::string path = store(file);
  try {
    goal::TraceReader reader(path);
    for (goal::TraceRecord record; reader.next(record);) {
    }
  } catch (const InputError& e) {
    return std::string(e.what()).substr(path.size());
  }
  return "no error";
}

// Gives header() as version 2 has it: process 42 is behind it; 34 bytes and 6 to the next multiple of 8.
inline Bytes header_2() {
  const Bytes payload = {1, 2, 1, 'M', 1, 'h', 1, 'p', 1, 'c', 100, 0xC8, 1, 42};
  Bytes file = {'W', 'E', 'F', 'T', 'T', 'R', 'C', '\n', 2, 0, 0, 0, 14, 0, 0, 0};
  append(file, payload);
  append(file, checksum(payload));
  file.resize(40);
  return file;
}

}  // namespace weft::trace::test
