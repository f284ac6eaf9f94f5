#include "goal/collectives/steps.h"

namespace weft::goal {

void Group::add(const Step& step, Part part, bool without_data) {
  if (keep_parts_) {
    parts_begin_.push_back(parts_.size());
    if (!without_data) parts_.push_back(part);
  }
  steps_.push_back(step);
}

void Group::add_several(const Step& step) {
  if (step.count == 0) return;
  if (keep_parts_) parts_begin_.push_back(parts_.size());
  steps_.push_back(step);
}

}  // namespace weft::goal
