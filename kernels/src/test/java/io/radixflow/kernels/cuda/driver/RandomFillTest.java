package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RandomFillTest extends KernelTest {

  @Test
  void memoryIsFilledWithManyFiniteValuesOfBothSigns() {
    DeviceMemory memory = allocate(20_000 * Short.BYTES);
    module.fillRandom(memory, 5, stream);
    Set<Float> values = new HashSet<>();
    double sum = 0;
    for (short bits : shorts(memory, 20_000)) {
      float value = Float.intBitsToFloat(bits << 16);
      assertThat(Math.abs(value)).isBetween(1f / 128, 2f);
      values.add(value);
      sum += value;
    }
    assertThat(values).hasSizeGreaterThan(1800);
    assertThat(sum / 20_000).isBetween(-0.02, 0.02);
  }

  @Test
  void anotherSeedGivesOtherValues() {
    DeviceMemory memory = allocate(64);
    module.fillRandom(memory, 1, stream);
    short[] first = shorts(memory, 32);
    module.fillRandom(memory, 2, stream);
    assertThat(shorts(memory, 32)).isNotEqualTo(first);
  }
}
