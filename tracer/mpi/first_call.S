/* The first call of any MPI function comes here with its number pushed. All argument registers are kept while
   weft_trace_resolve(number) finds out where the call belongs; then it goes on there as if nothing had been. */
#if !defined(__x86_64__)
#error "the tracer's entry points are written for x86-64 only"
#endif
  .text
  .globl weft_trace_first_call
  .hidden weft_trace_first_call
  .type weft_trace_first_call, @function
weft_trace_first_call:
  /* Here the stack is 16-byte aligned: the caller's return address and the number. */
  subq $192, %rsp
  movq %rax, 0(%rsp)
  movq %rdi, 8(%rsp)
  movq %rsi, 16(%rsp)
  movq %rdx, 24(%rsp)
  movq %rcx, 32(%rsp)
  movq %r8, 40(%rsp)
  movq %r9, 48(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  movq 192(%rsp), %rdi
  call weft_trace_resolve
  movq %rax, %r11
  movq 0(%rsp), %rax
  movq 8(%rsp), %rdi
  movq 16(%rsp), %rsi
  movq 24(%rsp), %rdx
  movq 32(%rsp), %rcx
  movq 40(%rsp), %r8
  movq 48(%rsp), %r9
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  addq $200, %rsp
  jmp *%r11
  .size weft_trace_first_call, .-weft_trace_first_call

/* dlsym(handle, name). The system's own tells who asks by the address it returns to, so it is jumped to. */
  .globl dlsym
  .type dlsym, @function
dlsym:
  subq $24, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  call weft_trace_by_name
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  addq $24, %rsp
  testq %rax, %rax
  jne .Lfound
  movq weft_trace_dlsym(%rip), %rax
  jmp *%rax
.Lfound:
  ret
  .size dlsym, .-dlsym
  .section .note.GNU-stack,"",@progbits
