// clang's kernel stubs need this declared in host code
struct ihipStream_t;
struct dim3 { unsigned x, y, z; };
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, struct ihipStream_t *);
#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))
extern "C" DEVICE int step = 3;
extern "C" DEVICE int *where = &step;
extern "C" __attribute__((managed)) long total = 7;
extern "C" GLOBAL void add(int *out, const int *in, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n)
    out[i] = in[i] + *where + (int)total;
}
#ifdef SECOND
extern "C" GLOBAL void twice(short *p, char c) { *p = *p * 2 + c; }
#endif
