#!/bin/sh
# Rebuilds the objects of this folder with LLVM 22 (clang, lld, llvm-mc,
# llvm-strip, clang-offload-bundler). Run it in this folder.
set -e
C=${CLANG:-clang-22}
HIP="$C -x hip -nogpuinc -nogpulib -nostdinc++ -O2 -fuse-cuid=none"
DEV="$HIP --offload-device-only --no-gpu-bundle-output"

for v in 4 5 6; do
	$DEV --offload-arch=gfx90a -mcode-object-version=$v tiny.hip -o v$v.hsaco
done
$DEV --offload-arch=gfx11-generic tiny.hip -o generic.hsaco
$DEV --offload-arch=gfx90a:sramecc+:xnack- tiny.hip -o features.hsaco
$DEV --offload-arch=gfx942 -DSECOND -mllvm -amdgpu-kernarg-preload-count=8 tiny.hip -o preload.hsaco
$DEV --offload-arch=gfx1250 tiny.hip -o gfx1250.hsaco
# no section headers, and .gnu.hash alone to count the symbols
llvm-strip-22 --strip-sections v6.hsaco -o stripped.hsaco
$DEV --offload-arch=gfx90a -Xoffload-linker --hash-style=gnu tiny.hip -o gnuhash.hsaco
llvm-strip-22 --strip-sections gnuhash.hsaco -o gnuhash-stripped.hsaco
# source lines: plain, zlib, zstd, DWARF 4
D="-g -fdebug-compilation-dir=/src"
$DEV --offload-arch=gfx90a $D lines.hip -o lines.hsaco
$DEV --offload-arch=gfx90a $D -gdwarf-4 lines.hip -o lines4.hsaco
for z in zlib zstd; do
	$DEV --offload-arch=gfx90a $D -Xoffload-linker --compress-debug-sections=$z lines.hip -o lines-$z.hsaco
done
# undefined symbols: linked by hand, as clang passes --no-undefined
$C -x cl -cl-std=CL2.0 -O1 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -fvisibility=default -Xclang -fapply-global-visibility-to-externs -c extern.cl -o extern.o
ld.lld-22 -shared extern.o -o extern.hsaco
# constructor and destructor kernels
$C -x c++ -O1 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -nostdlib -ffreestanding -fno-exceptions ctor.cpp -c -o ctor.o
ld.lld-22 -shared ctor.o -o ctor.hsaco
# assembler: no metadata
llvm-mc-22 --triple=amdgcn-amd-amdhsa -mcpu=gfx90a -filetype=obj bare.s -o bare.o
ld.lld-22 -shared bare.o -o bare.hsaco
rm -f extern.o ctor.o bare.o
# bundles
B="$HIP --offload-device-only --gpu-bundle-output --offload-arch=gfx90a --offload-arch=gfx11-generic --offload-arch=gfx1100"
$B tiny.hip -o plain.hipfb
COMPRESSED_BUNDLE_FORMAT_VERSION=2 $B --offload-compress tiny.hip -o ccob2.hipfb
COMPRESSED_BUNDLE_FORMAT_VERSION=3 $B --offload-compress tiny.hip -o ccob3.hipfb
clang-offload-bundler-22 -type=o -bundle-align=4096 \
	-targets=host-x86_64-unknown-linux-gnu-,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack- \
	-input=/dev/null -input=v6.hsaco -input=features.hsaco -output=features.hipfb
# host files: an object, and a shared object of two translation units, the
# second compressed
H="$HIP --offload-arch=gfx90a --offload-arch=gfx1100 -fPIC"
$H -c tiny.hip -o host.o
$H -c -DSECOND --offload-compress tiny.hip -o second.o
ld.lld-22 -shared --strip-all --allow-multiple-definition host.o second.o -o host.so
rm -f second.o
