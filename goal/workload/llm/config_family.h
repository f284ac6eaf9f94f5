// What transformers knows of a model by its family, and leaves out of config.json.
#pragma once

#include <string_view>

namespace weft::goal::llm {

struct ConfigFamily {
  std::string_view type;  // model_type
  bool gated = true;      // MLPs of three projections, not two
  bool biases = false;
  bool tied = false;            // unless the file says otherwise
  bool learned = false;         // positions
  bool four_times = false;      // the MLP's width, of the model's, unless the file says otherwise
  bool one_key_head = false;    // of keys and values, unless the file says otherwise
  bool sinks = false;           // of attention
  unsigned shared_experts = 0;  // that no key tells of
};

// Null for one that is not known.
const ConfigFamily* find_config_family(std::string_view type);
// Why no decoder has that type, for a message; "" if one may.
std::string_view why_no_decoder(std::string_view type);
// Can a key of that name change a model's shape? Names of tokens, dropout, rope and the like can't.
bool may_change_shape(std::string_view key);

}  // namespace weft::goal::llm
