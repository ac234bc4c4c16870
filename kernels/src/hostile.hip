// GK: nohost arch=gfx90a,gfx942
// Device code that breaks the rules of hostcall, one wrong at a time. It speaks the protocol itself (ROCm device
// libraries, hostcall_impl.cl), never rings the doorbell, and gives up waiting after a while.
#include "gk.h"
struct control { u64 headers, payloads, doorbell, free, ready, mask, host; };
struct header { u64 next, activemask; u32 service, control; };
GKD control *ctl() { return *(control *const GK_AS4 *)(gk_implicit() + 80); }
GKD header *head(u64 entry) { return (header *)(ctl()->headers + 24 * (entry & ctl()->mask)); }
GKD u64 *slot(u64 entry) { return (u64 *)(ctl()->payloads + 4096 * (entry & ctl()->mask)); }
GKD u64 take() { u64 e = gk_load(&ctl()->free); gk_store(&ctl()->free, head(e)->next); return e; }
GKD void fill(u64 e, u32 service, u64 mask, u32 ctrl, u64 a, u64 b, u64 c, u64 d) {
  u64 *s = slot(e); s[0] = a; s[1] = b; s[2] = c; s[3] = d;
  header *h = head(e); h->service = service; h->activemask = mask; gk_store(&h->control, ctrl);
}
GKD void push(u64 e) { control *c = ctl(); u64 old = gk_load(&c->ready); for (;;) { head(e)->next = old; u64 was = atomicCAS(&c->ready, old, e); if (was == old) return; old = was; } }
GKD u32 await(u64 e) { for (u32 i = 0; i < 20000; i++) { if (!(gk_load(&head(e)->control) & 1)) return 1; __builtin_amdgcn_s_sleep(8); } return 0; }
GKD void give(u64 e) { e += ctl()->mask + 1; head(e)->next = gk_load(&ctl()->free); gk_store(&ctl()->free, e); }
GKD u64 call(u32 service, u64 a, u64 b, u64 c, u64 d) { u64 e = take(); fill(e, service, 1, 1, a, b, c, d); push(e); await(e); u64 r = slot(e)[0]; give(e); return r; }
GKD u64 text(const char *t) { u64 v = 0; for (u32 i = 0; i < 8 && t[i]; i++) v |= (u64)(u8)t[i] << 8 * i; return v; }

GK_KERNEL hostile(u64 *out, u32 mode, u64 n) {
  control *c = ctl(); u64 e, f;
  switch (mode) {
  case 0: c->ready = c->mask; break;                                                       // packet index beyond the packets
  case 1: e = take(); fill(e, 2, 1, 1, 0, 0, 0, 0); push(e); head(e)->next = e; break;     // a cycle of one
  case 2: e = take(); f = take(); fill(e, 1, 1, 1, 0, 0, 0, 0); fill(f, 1, 1, 1, 0, 0, 0, 0);
          head(e)->next = f; head(f)->next = e; gk_store(&c->ready, e); break;             // a cycle of two
  case 3: e = take(); fill(e, 2, 1, 0, 0, 0, 0, 0); push(e); break;                        // never READY
  case 4: e = take(); fill(e, 2, 1, ~0u, 0, 0, 0, 0); push(e); break;                      // reserved control bits
  case 5: e = take(); fill(e, 77, 1, 1, 0, 0, 0, 0); push(e); await(e); break;             // no such service
  case 6: e = take(); fill(e, 2, 1, 1, 3 | 3 << 5, 0, text("fine\n"), 0);                  // everything the host must not read again
          { u64 m = c->mask, h = c->headers, p = c->payloads; (void)h; (void)p; header *hd = head(e); hd->next = 0;
            u64 *s = slot(e); c->headers = 0; c->payloads = ~0ull; c->doorbell = 1; c->mask = ~0ull; c->host = 0; gk_store(&c->ready, e & m | (m + 1));
            for (u32 i = 0; i < 20000 && (gk_load(&hd->control) & 1); i++) __builtin_amdgcn_s_sleep(8); out[1] = s[0]; } break;
  case 7: for (u32 i = 0; i < n; i++) call(2, 1, 0, 0, 0); break;                          // messages begun, never ended
  case 8: e = call(2, 1 | 7 << 5, 0, text("%s"), ~0ull);                                   // one message without end
          for (u32 i = 0; i < n; i++) call(2, (e & ~0xffull) | 7 << 5, ~0ull, ~0ull, ~0ull); out[1] = call(2, e & ~0xffull | 2, 0, 0, 0); break;
  case 9: out[1] = call(2, 3 | 4 << 5, 0, text("%99999999"), 0x64); out[2] = call(2, 3 | 2 << 5, 0, text("%*d"), 0); break;
  case 10: out[1] = call(2, 0xabcdef00 | 2, 0, 0, 0); out[2] = call(2, 1 << 2 | 2, 0, 0, 0); break; // unknown message, reserved descriptor bits
  case 11: out[1] = call(3, 0, 1ull << 63, 0, 0); out[2] = call(3, 0xdead000, 0, 0, 0); out[3] = call(3, 0, ~0ull, 0, 0); break; // memory
  case 12: out[1] = call(1, 0xbad, 0, 0, 0); break;                                        // no such function
  case 13: e = take(); fill(e, 4, ~0ull, 1, ~0ull, ~0ull, ~0ull, ~0ull); push(e); await(e); break; // a report of all lanes, most never written
  case 14: e = take(); fill(e, 2, 0, 1, 0, 0, 0, 0); push(e); out[1] = await(e); break;    // no lanes
  case 15: for (u64 *p = (u64 *)c->headers, i = 0; i < n; i++) p[i] = i * 0x9e3779b97f4a7c15ull; c->ready = 1; break; // all headers
  case 16: e = take(); fill(e, 2, 1, 1, 3 | 3 << 5, 0, text("left\n"), 0); push(e); break; // nobody waits for the answer
  case 17: e = take(); fill(e, 2, ~0ull, 1, 3 | 3 << 5, 0, text("mask\n"), 0); push(e); await(e); break; // lanes that are not there
  }
  out[0] = mode + 100;
}
// Writes n words of noise over the header of the heap, from word at on.
GK_KERNEL hostile_heap(u64 *out, u32 at, u32 n, u64 seed) {
  u64 *h = *(u64 *const GK_AS4 *)(gk_implicit() + 96);
  for (u32 i = 0; i < n; i++) { seed = seed * 6364136223846793005ull + 1442695040888963407ull; h[at + i] = seed >> (i & 32); }
  out[0] = 1;
}
