#include <catch2/catch.hpp>

#include "tests/goal/import/mpi/calls.h"

namespace weft::goal {

TEST_CASE("with sessions time counts from the first begin to the last end") {
  CHECK(text_of_rank0(
            {call(Function::kSession_init, 0, 1000), message(Function::kSend, 1100, 1200, 1, 5, 10),
             call(Function::kSession_init, 1300, 1400), message(Function::kSend, 1450, 1500, 1, 5, 10),
             call(Function::kSession_finalize, 1600, 1700), call(Function::kSession_finalize, 1900, 2500)}) ==
        "rank 0 {\n"
        "l1: calc 100\n"
        "l2: send 80b to 1 tag 5\n"
        "l2 requires l1\n"
        "l3: calc 150\n"
        "l3 requires l2\n"
        "l4: send 80b to 1 tag 5\n"
        "l4 requires l3\n"
        "l5: calc 100\n"
        "l5 requires l4\n"
        "l6: calc 200\n"
        "l6 requires l5\n"
        "}\n");
}

}  // namespace weft::goal
