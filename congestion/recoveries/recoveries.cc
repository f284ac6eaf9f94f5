#include "congestion/recoveries/recoveries.h"

#include <array>

#include "congestion/recoveries/rack.h"

namespace weft::congestion {

std::span<const RecoveryKind> recoveries() {
  static const std::array list{rack()};
  return list;
}

}  // namespace weft::congestion
