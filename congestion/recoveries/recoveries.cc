#include "congestion/recoveries/recoveries.h"

#include <array>

#include "congestion/recoveries/erasure_coding.h"
#include "congestion/recoveries/go_back_n.h"
#include "congestion/recoveries/irn.h"
#include "congestion/recoveries/rack.h"
#include "congestion/recoveries/selective_repeat.h"
#include "congestion/recoveries/sleek.h"
#include "congestion/recoveries/trim_nack.h"

namespace weft::congestion {

// The default first, the others by name.
std::span<const RecoveryKind> recoveries() {
  static const std::array list{rack(),  erasure_coding(), go_back_n(), irn(), selective_repeat(),
                               sleek(), trim_nack()};
  return list;
}

}  // namespace weft::congestion
