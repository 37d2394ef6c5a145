// All device code of Radixflow, one translation unit.
#include "attention.cuh"
#include "embedding.cuh"
#include "gemm.cuh"
#include "gemm_hopper.cuh"
#include "norm.cuh"
#include "rope_store.cuh"
#include "sampling.cuh"
#include "transfer.cuh"
