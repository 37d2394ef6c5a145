// All device code of Radixflow, one translation unit.
#include "attention.cuh"
#include "embedding.cuh"
#include "gemm.cuh"
#include "gemm_hopper.cuh"
#include "sampling.cuh"
