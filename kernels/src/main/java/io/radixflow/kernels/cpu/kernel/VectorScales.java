package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Widens the scales and minima of part of a panel. */
final class VectorScales {

  private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
  private static final int L = F.length();

  private VectorScales() {}

  private static void put(FloatVector scale, float offset, float[] out, int at) {
    scale.intoArray(out, at);
    scale.mul(offset).intoArray(out, at + PANEL);
  }

  static void ofFloats(float[] source, int so, int blocks, float offset, float[] out) {
    for (int i = 0; i < PANEL; i += L) {
      floatColumn(source, so + i, blocks, offset, out, i);
    }
  }

  private static void floatColumn(
      float[] source, int so, int blocks, float offset, float[] out, int oo) {
    for (int b = 0; b < blocks; b++) {
      put(FloatVector.fromArray(F, source, so + b * PANEL), offset, out, oo + b * 2 * PANEL);
    }
  }

  static void ofHalves(short[] source, int so, int blocks, float offset, float[] out) {
    for (int i = 0; i < PANEL; i += L) {
      halfColumn(source, so + i, blocks, offset, out, i);
    }
  }

  private static void halfColumn(
      short[] source, int so, int blocks, float offset, float[] out, int oo) {
    for (int b = 0; b < blocks; b++) {
      put(VectorHalves.half(source, so + b * PANEL), offset, out, oo + b * 2 * PANEL);
    }
  }

  static void ofFactors(
      byte[] factors, int fo, float[] units, int uo, int blocks, float offset, float[] out) {
    for (int i = 0; i < PANEL; i += L) {
      factorColumn(factors, fo + i, units, uo + i, blocks, offset, out, i);
    }
  }

  private static void factorColumn(
      byte[] factors,
      int fo,
      float[] units,
      int uo,
      int blocks,
      float offset,
      float[] out,
      int oo) {
    FloatVector unit = FloatVector.fromArray(F, units, uo);
    for (int b = 0; b < blocks; b++) {
      put(VectorBytes.code(factors, fo + b * PANEL).mul(unit), offset, out, oo + b * 2 * PANEL);
    }
  }

  static void andMinimaOfFactors(
      byte[] factors, int fo, float[] units, int uo, int blocks, float[] out) {
    for (int i = 0; i < 2 * PANEL; i += 2 * L) {
      productColumn(factors, fo + i, units, uo + i, blocks, out, i);
    }
  }

  private static void productColumn(
      byte[] factors, int fo, float[] units, int uo, int blocks, float[] out, int oo) {
    FloatVector unit0 = FloatVector.fromArray(F, units, uo);
    FloatVector unit1 = FloatVector.fromArray(F, units, uo + L);
    for (int b = 0; b < blocks; b++) {
      int at = b * 2 * PANEL;
      VectorBytes.code(factors, fo + at).mul(unit0).intoArray(out, oo + at);
      VectorBytes.code(factors, fo + at + L).mul(unit1).intoArray(out, oo + at + L);
    }
  }
}
