package io.radixflow.engine.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AgeScaleTest {

  @Test
  void anAgeIsInTheLastBucketThatHasBegun() {
    int last = AgeScale.buckets() - 1;
    for (int bucket = 0; bucket < last; bucket++) {
      long start = (long) AgeScale.start(bucket);
      long next = (long) AgeScale.start(bucket + 1);
      assertThat(AgeScale.bucket(start)).isEqualTo(bucket);
      assertThat(AgeScale.bucket(next - 1)).isEqualTo(bucket);
    }
    assertThat(AgeScale.bucket((long) AgeScale.start(last))).isEqualTo(last);
    assertThat(AgeScale.bucket(Long.MAX_VALUE)).isEqualTo(last);
    assertThat(AgeScale.bucket(0)).isZero();
    assertThat(AgeScale.bucket(-1)).isZero();
  }
}
