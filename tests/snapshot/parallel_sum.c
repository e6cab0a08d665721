// What a numerical library does: it computes on the threads of GCC's OpenMP, which stay for the next time.

// The sum of 0..n-1; negative when it did not run on `threads` of them.
long parallel_sum(long n, int threads) {
  long sum = 0;
  int present = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum, present)
  {
    present += 1;
#pragma omp for
    for (long i = 0; i < n; ++i) sum += i;
  }
  return present == threads ? sum : -present;
}
