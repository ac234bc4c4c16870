#!/bin/sh
# Assembles classes.s: needs clang-22 and ld.lld of LLVM 22.
set -eu
cd "$(dirname "$0")"
for cpu in gfx90a gfx942; do
  clang-22 -x assembler --target=amdgcn-amd-amdhsa -mcpu=$cpu -mcode-object-version=5 -nostdlib classes.s -o classes.$cpu.hsaco
done
