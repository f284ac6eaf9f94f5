// A scenario file in memory, with the place where each field was given.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "sim/scenario/draft.h"
#include "sim/scenario/schema.h"

namespace weft::sim {

// All members throw InputError with the place at fault.
class Document {
 public:
  // `schema` must outlive it.
  explicit Document(const Schema& schema) : schema_(schema), message_(schema.new_scenario()) {}

  // Reads text format into an empty document. `file` is for messages.
  void parse(std::string_view text, const std::string& file);
  void apply(const Setting& setting);

  const google::protobuf::Message& message() const { return *message_; }
  google::protobuf::Message& message() { return *message_; }
  // Where the field with this dotted path ("topology.fat_tree.k", "job[1].goal") was given.
  SourceLocation location(const std::string& path) const;

 private:
  // `path` is that of the seam's message: "topology", "job[0].traffic".
  void keep_choice(const google::protobuf::Message& seam_message,
                   const google::protobuf::FieldDescriptor& field, const std::string& seam_path,
                   const Setting& setting) const;
  void apply_short_form(google::protobuf::Message& seam_message, const std::string& path,
                        const Setting& setting);
  void add_fault(const Setting& setting);
  // Adds one to the repeated field, or to that of a message ("job", "job_list.model").
  void add_to(const std::string& list, const Setting& setting);
  // Sets the field at the dotted path `rest` in `message`, whose own path is `path`, to the setting's value.
  void apply_in(google::protobuf::Message& message, std::string path, std::string_view rest,
                const Setting& setting);
  // `prefix`: the path of the message with a dot behind it, or "". A topology's `endpoints` becomes its
  // sizes.
  void set_fields(google::protobuf::Message& message, const std::string& prefix, const SourceLocation& where,
                  std::map<std::string, std::string> values);
  // Puts a topology's sizes in the place of `endpoints`, if the file gives that.
  void size_topology();

  const Schema& schema_;
  std::unique_ptr<google::protobuf::Message> message_;
  std::map<std::string, SourceLocation> locations_;
};

// One value as text, as users write it; the field's default if it isn't set.
std::string field_text(const google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field);
// Sets a field that is no message from text. Throws InputError at `location` naming what was expected.
void set_field(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
               const std::string& text, const SourceLocation& location);

}  // namespace weft::sim
