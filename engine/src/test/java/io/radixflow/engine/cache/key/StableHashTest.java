package io.radixflow.engine.cache.key;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StableHashTest {

  @Test
  void partsAreFramed() {
    assertThat(StableHash.of64("ab", "c")).isNotEqualTo(StableHash.of64("a", "bc"));
    assertThat(StableHash.hex("ab")).isNotEqualTo(StableHash.hex("ab", ""));
  }

  @Test
  void seedsStayTheSameFromReleaseToRelease() {
    // sha256 of 00000001 's' 00000002 't1' 00000001 '0', computed with Python's hashlib
    assertThat(StableHash.of64("s", "t1", "0")).isEqualTo(-3507488206932975676L);
  }
}
