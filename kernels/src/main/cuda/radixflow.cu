// All device code of Radixflow, one translation unit.
#include "embedding.cuh"
#include "sampling.cuh"
