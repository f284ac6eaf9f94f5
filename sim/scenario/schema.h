// scenario.proto with the modules of a set of registries filled in.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/scenario/registries.h"
#include "sim/scenario/seams.h"

namespace weft::sim {

// The default of a whole number that may be "auto", which is told by leaving it out; of a real one it is NaN.
inline constexpr std::int64_t kAutomaticInteger = INT64_MIN;

// Messages made from a schema must not outlive it, nor it the registries.
class Schema {
 public:
  explicit Schema(const Registries& registries);
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

  std::unique_ptr<google::protobuf::Message> new_scenario() const;
  // The topology whose parameters `type` holds, if `endpoints` is one of its fields; else null.
  const RegisteredTopology* sized_module(const google::protobuf::Descriptor& type) const;
  // By full name; null if there is none.
  const google::protobuf::Descriptor* find(const std::string& full_name) const {
    return pool_->FindMessageTypeByName(full_name);
  }

 private:
  const Registries& registries_;
  const std::unique_ptr<const google::protobuf::DescriptorPool> pool_;
  mutable google::protobuf::DynamicMessageFactory factory_;
};

// The seam whose modules `type` holds; null if it is another message.
const Seam* seam_of(const google::protobuf::Descriptor& type);
// "'fat_tre' is not a topology; did you mean 'fat_tree'? (known: …)" for a name that `type` has no field of.
[[noreturn]] void fail_unknown_field(const google::protobuf::Descriptor& type, std::string_view name,
                                     const SourceLocation& location);

}  // namespace weft::sim
