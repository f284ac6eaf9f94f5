// The end of the program where memory is refused and nobody can say so.
#pragma once

namespace weft::cli {

// To be called first in main(). std::bad_alloc is thrown and caught as ever; but some libraries abort when
// memory is refused to them, or when that exception comes through them. From then on that ends the program
// with kLimit and one line on standard error. Nothing is unwound: a results folder keeps its marker; parts of
// files are removed.
void watch_for_refused_memory();

}  // namespace weft::cli
