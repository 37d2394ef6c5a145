package io.radixflow.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.MemoryStatus;
import io.radixflow.kernels.device.PoolRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A page of 16 tokens has 128 bytes on the simulated device, whose context is 4,096 tokens. */
class PoolSizingTest {
  private static final long PLENTY = 1L << 40;

  private final Backend backend =
      SimModel.open(SimOptions.DEFAULT).openBackend(DeviceOptions.DEFAULT);

  @AfterEach
  void close() {
    backend.close();
  }

  private PoolSizing size(EngineOptions.Builder options, long heap) {
    return PoolSizing.of(backend, options.build(), heap);
  }

  @Test
  void byDefaultFourContextsFitButNoMoreThanAQuarterOfTheMemory() {
    assertThat(size(EngineOptions.builder(), PLENTY)).isEqualTo(new PoolSizing(1024, 0, 16, 4096));
    assertThat(size(EngineOptions.builder(), 4 * 128 * 100))
        .isEqualTo(new PoolSizing(100, 0, 16, 1600));
  }

  @Test
  void byDefaultThePoolFitsTheModel() {
    long mb = 1 << 20;
    long page = 720 << 10; // 16 tokens of SmolLM2-135M, whose window has 512 pages
    assertThat(PoolSizing.defaultPages(page, 512, 98 * mb, PLENTY))
        .as("four times the weights, not four windows of 360 MB")
        .isEqualTo(4 * 98 * mb / page);
    assertThat(PoolSizing.defaultPages(page, 512, 10 * mb, PLENTY)).as("one window").isEqualTo(512);
    assertThat(PoolSizing.defaultPages(page, 512, 4096 * mb, PLENTY)).isEqualTo(4 * 512);
    assertThat(PoolSizing.defaultPages(page, 512, 98 * mb, 288 * mb))
        .as("a quarter of the memory")
        .isEqualTo(102);
  }

  @Test
  void aConfiguredPoolSizeIsUsed() {
    assertThat(size(EngineOptions.builder().kvBytes(1300), PLENTY))
        .isEqualTo(new PoolSizing(10, 0, 16, 160));
    assertThat(size(EngineOptions.builder().kvPages(300).contextLength(50), PLENTY))
        .isEqualTo(new PoolSizing(300, 0, 16, 50));
  }

  @Test
  void thePageSizeIsTheNearestThatTheBackendHas() {
    assertThat(size(EngineOptions.builder().pageTokens(24), PLENTY).pageTokens()).isEqualTo(16);
    assertThat(size(EngineOptions.builder().pageTokens(1000), PLENTY).pageTokens()).isEqualTo(128);
  }

  @Test
  void tooLittleMemoryIsRefusedWithTheNumbers() {
    assertThatThrownBy(() -> size(EngineOptions.builder().kvBytes(100), PLENTY))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("100 bytes")
        .hasMessageContaining("128 bytes");
  }

  /** Half of a page's 256 bytes are its window part. */
  @Test
  void aPoolHasWindowPartsForAShareOfItsPages() {
    try (Backend windowed =
        SimModel.open(SimOptions.DEFAULT.withWindow(64)).openBackend(DeviceOptions.DEFAULT)) {
      EngineOptions.Builder options = EngineOptions.builder().stepRows(32).maxRunning(8);
      EngineOptions half = options.kvBytes(192 * 100).build();
      assertThat(PoolSizing.of(windowed, half, PLENTY))
          .isEqualTo(new PoolSizing(100, 50, 16, 1600));
      EngineOptions few =
          options.kvBytes(0).kvPages(400).cache(half.cache().withWindowShare(0.01)).build();
      assertThat(PoolSizing.of(windowed, few, PLENTY).parts())
          .as("3 pages of the window, twice 2 for rows, and 2 filled in part")
          .isEqualTo(9);
      EngineOptions tiers = options.tiers(TierOptions.NONE.withHostBytes(1 << 20)).build();
      assertThat(PoolSizing.of(windowed, tiers, PLENTY).parts()).isEqualTo(9);
    }
  }

  /** A page has 256 bytes, 128 of them in its window part; a request needs 9 parts. */
  @Test
  void pagesAndWindowPartsTogetherFitTheMemoryHoweverSmallItIs() {
    try (Backend windowed =
        SimModel.open(SimOptions.DEFAULT.withWindow(64)).openBackend(DeviceOptions.DEFAULT)) {
      EngineOptions.Builder options = EngineOptions.builder().stepRows(32).maxRunning(8);
      for (double share : new double[] {0.01, 0.3, 0.5, 1}) {
        options.cache(options.build().cache().withWindowShare(share));
        for (long bytes = 256; bytes < 8000; bytes += 37) {
          PoolSizing size = PoolSizing.of(windowed, options.kvBytes(bytes).build(), PLENTY);
          assertThat((size.pages() + size.parts()) * 128L).isLessThanOrEqualTo(bytes);
          int more = size.pages() + 1;
          long parts = Math.min(more, Math.max(9, (long) Math.ceil(share * more)));
          assertThat((more + parts) * 128).as("one more page").isGreaterThan(bytes);
          assertThat(size.parts()).isBetween(Math.min(9, size.pages()), size.pages());
        }
      }
    }
  }

  @Test
  void aPoolWithoutASizeTakesAtMostThreeQuartersOfWhatTheHeapHasLeft() {
    long gb = 1L << 30;
    MemoryStatus empty = new MemoryStatus(64 * gb, 0, 32 * gb, 8 * gb, 2 * gb, gb);
    MemoryStatus full = new MemoryStatus(64 * gb, 0, 32 * gb, 8 * gb, 7 * gb, 7 * gb);

    assertThat(PoolSizing.memory(backend, () -> empty)).isEqualTo(8 * gb);
    assertThat(PoolSizing.memory(backend, () -> full)).as("four times the pool").isEqualTo(3 * gb);
  }

  @Test
  void whatOptionsSayOfThePoolIsKnownBeforeTheModelIsLoaded() {
    EngineOptions options = EngineOptions.builder().kvPages(7).kvBytes(9).build();

    assertThat(PoolSizing.request(options)).isEqualTo(new PoolRequest(7, 9, 0.5, 0));
  }
}
