/* What test programs use of NCCL and CUDA's runtime, as those declare it (their headers need not be
 * installed). */
#ifndef WEFT_TESTS_TRACER_STANDIN_API_H_
#define WEFT_TESTS_TRACER_STANDIN_API_H_

#include <stddef.h>

typedef struct {
  char internal[128];
} ncclUniqueId;
typedef struct {
  unsigned x, y, z;
} dim3;
typedef void *ncclComm_t, *cudaStream_t, *cudaEvent_t, *cudaGraph_t, *cudaGraphExec_t;
enum { ncclInt32 = 2, ncclFloat32 = 7, ncclFloat64 = 8 };
enum { ncclSum = 0, ncclMax = 2 };

int ncclGetUniqueId(ncclUniqueId*);
int ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int);
int ncclCommSplit(ncclComm_t, int, int, ncclComm_t*, void*);
int ncclCommFinalize(ncclComm_t);
int ncclCommDestroy(ncclComm_t);
int ncclCommRegister(ncclComm_t, void*, size_t, void**);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclReduce(const void*, void*, size_t, int, int, int, ncclComm_t, cudaStream_t);
int ncclBroadcast(const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclReduceScatter(const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclAllGather(const void*, void*, size_t, int, ncclComm_t, cudaStream_t);
int ncclAlltoAll(const void*, void*, size_t, int, ncclComm_t, cudaStream_t);
int ncclGather(const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclScatter(const void*, void*, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclSend(const void*, size_t, int, int, ncclComm_t, cudaStream_t);
int ncclRecv(void*, size_t, int, int, ncclComm_t, cudaStream_t);

int cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
int cudaStreamSynchronize(cudaStream_t);
int cudaDeviceSynchronize(void);
int cudaEventCreate(cudaEvent_t*);
int cudaEventRecord(cudaEvent_t, cudaStream_t);
int cudaEventSynchronize(cudaEvent_t);
int cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
int cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
int cudaMemcpyAsync(void*, const void*, size_t, int, cudaStream_t);
int cudaMemset(void*, int, size_t);
int cudaMemcpyPeerAsync(void*, int, const void*, int, size_t, cudaStream_t);
int cudaMemcpy2DAsync(void*, size_t, const void*, size_t, size_t, size_t, int, cudaStream_t);
int cudaLaunchHostFunc(cudaStream_t, void (*)(void*), void*);
int cudaGraphInstantiateWithParams(cudaGraphExec_t*, cudaGraph_t, void*);
int cudaStreamBeginCapture(cudaStream_t, int);
int cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
int cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
int cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);

#endif
