struct S { int v; __attribute__((noinline)) S(int x) : v(x) {} ~S() { v = 0; } };
S s(42);
