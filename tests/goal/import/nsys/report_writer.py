"""Writes reports as `nsys export --type=sqlite` does, for tests: the documented tables, with made-up content."""

import sqlite3

KERNELS = {"AllReduce": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)",
           "Broadcast": "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096>)",
           "ReduceScatter": "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)",
           "AllGather": "ncclKernel_AllGather_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
           "SendRecv": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)",
           "gemm": "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_nn_align4>(T1::Params)"}


class Report:
    def __init__(self, path, texts_by_id=False):
        self.connection = sqlite3.connect(path)
        self.texts_by_id = texts_by_id
        self.strings = {}
        run = self.connection.execute
        run("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
        run("CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER,"
            " endGlobalTid INTEGER, textId INTEGER, domainId INTEGER)")
        run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
            " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
            " demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL)")

    def string(self, text):
        number = self.strings.setdefault(text, len(self.strings) + 1)
        self.connection.execute("INSERT OR IGNORE INTO StringIds VALUES (?, ?)", (number, text))
        return number

    def range(self, pid, start, end, text):
        by_id = self.texts_by_id
        self.connection.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL, ?, 0)",
                                (start, end, None if by_id else text, (1 << 48) + (pid << 24) + 7, self.string(text) if by_id else None))

    def kernel(self, pid, stream, start, end, kind):
        name = self.string(KERNELS[kind])
        self.connection.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, 0, ?, ?, ?)",
                                (start, end, stream, (1 << 48) + (pid << 24), name, name))

    def made(self, pid, comm, rank, ranks):
        self.range(pid, 1, 2, f"commHash {comm:#x} commId {comm:#x} rank {rank} nranks {ranks} pid {pid}")

    def call(self, pid, start, name, comm, stream, size, rest="", type_size=4):
        self.range(pid, start, start + 100, f"nccl{name}(): commHash {comm:#x}, stream {stream}, data_size {size}, type_size {type_size}{rest}, pid {pid}")

    def close(self):
        self.connection.commit()
        self.connection.close()
