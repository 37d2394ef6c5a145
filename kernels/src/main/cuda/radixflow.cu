// All device code of Radixflow, one translation unit.
#include "embedding.cuh"
#include "gemm.cuh"
#include "gemm_hopper.cuh"
#include "sampling.cuh"
