// How SQLite writes a file of results: with the system's reason for whatever fails, also when the file is
// closed.
#pragma once

namespace weft::results {

// The name of the VFS (sqlite3_vfs), registered at the first call. For one file that is there, and that
// nobody else has open, without journal and temporary files: it knows no locks and never waits for the disk.
// Source: "The SQLite OS Interface or VFS", sqlite.org/vfs.html. Throws std::bad_alloc.
const char* sqlite_vfs();

// errno of the last call that failed in this thread; 0: none since the last time that it was asked for.
int take_sqlite_error();

}  // namespace weft::results
