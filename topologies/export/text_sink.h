// Text on its way to a file, a pipe or a string, in large pieces.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace weft::topologies {

// Gathers what is printed and hands it on in pieces of about 64 kB; finish() hands on the rest. What the
// receiver throws passes through.
class TextSink {
 public:
  using Receiver = std::function<void(std::string_view)>;

  explicit TextSink(Receiver receiver) : receiver_(std::move(receiver)) {}

  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    append(format, fmt::make_format_args(args...));
  }
  void finish() {
    receiver_(buffer_);
    buffer_.clear();
  }

 private:
  void append(fmt::string_view format, fmt::format_args args);

  Receiver receiver_;
  std::string buffer_;
};

}  // namespace weft::topologies
