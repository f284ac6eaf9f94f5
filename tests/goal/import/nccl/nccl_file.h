// Writes the trace file of one process that uses NCCL, record by record, with the format's own encoders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "tracer/format/device.h"
#include "tracer/format/format.h"

namespace weft::goal {

class NcclTraceFile {
 public:
  using F = trace::DeviceFunction;

  explicit NcclTraceFile(int process, std::uint32_t rank = 0, std::uint32_t size = 1) : process_(process) {
    number(header_, rank);
    number(header_, size);
    for (const char* text : {"NCCL 2.23.4", "node1", "app", "CLOCK_MONOTONIC"}) {
      number(header_, std::string(text).size());
      header_.insert(header_.end(), text, text + std::string(text).size());
    }
    number(header_, 0);
    number(header_, 0);
    for (const std::uint64_t value : {0, 0, 1}) number(payload_, value);
  }

  // A call of so many nanoseconds, so many after the one before.
  NcclTraceFile& call(F function, std::uint64_t gap_ns, std::uint64_t inside_ns,
                      std::initializer_list<std::int64_t> fields, int error = 0) {
    payload_.push_back(static_cast<std::uint8_t>(trace::Function::kDevice) |
                       (error != 0 ? trace::kFailed : 0));
    number(payload_, trace::zigzag(static_cast<std::int64_t>(gap_ns)));
    number(payload_, inside_ns);
    if (error != 0) number(payload_, trace::zigzag(error));
    payload_.push_back(static_cast<std::uint8_t>(function));
    for (const std::int64_t field : fields) number(payload_, trace::zigzag(field));
    return *this;
  }
  NcclTraceFile& note(F function, std::initializer_list<std::int64_t> fields) {
    return call(function, 0, 0, fields);
  }
  NcclTraceFile& comm(std::int64_t number, std::int64_t key, std::int64_t rank, std::int64_t size,
                      std::int64_t device = 0) {
    return note(F::define_communicator, {number, key, 0, rank, size, device});
  }
  NcclTraceFile& stream(std::int64_t number, trace::StreamKind kind, std::int64_t device = 0) {
    return note(F::define_stream, {number, device, static_cast<std::int64_t>(kind)});
  }
  NcclTraceFile& thread(std::uint64_t which) {
    payload_.push_back(static_cast<std::uint8_t>(trace::Meta::kThread));
    number(payload_, which);
    return *this;
  }
  NcclTraceFile& end() {
    payload_.push_back(static_cast<std::uint8_t>(trace::Meta::kEnd));
    payload_.push_back(static_cast<std::uint8_t>(trace::End::kExit));
    return *this;
  }

  void write(const std::filesystem::path& directory) const {
    std::filesystem::create_directories(directory);
    std::string bytes(trace::kMagic, sizeof trace::kMagic);
    const auto u32 = [&](std::uint32_t value) {
      std::uint8_t raw[4];
      trace::put_u32(raw, value);
      bytes.append(reinterpret_cast<const char*>(raw), 4);
    };
    u32(1);  // the version: any reader knows it
    u32(static_cast<std::uint32_t>(header_.size()));
    bytes.append(header_.begin(), header_.end());
    u32(trace::checksum(header_.data(), header_.size()));
    u32(trace::kChunkMagic);
    u32(static_cast<std::uint32_t>(payload_.size()));
    u32(trace::checksum(payload_.data(), payload_.size()));
    u32(0);
    bytes.append(payload_.begin(), payload_.end());
    std::ofstream(directory / ("nccl-node1-" + std::to_string(process_) + ".wtrc"), std::ios::binary)
        << bytes;
  }

 private:
  using Bytes = std::vector<std::uint8_t>;
  static void number(Bytes& out, std::uint64_t value) {
    std::uint8_t raw[trace::kMaxVarintBytes];
    out.insert(out.end(), raw, trace::put_varint(raw, value));
  }
  int process_;
  Bytes header_, payload_;
};

}  // namespace weft::goal
