// Everything that a kernel source needs when a host compiler reads it; device.cuh includes this file.
#pragma once
#include "instructions.h"
