package io.radixflow.kernels.cuda.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.cuda.driver.PinnedMemory;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PageMovesTest extends KernelTest {

  private static final int POOL_PAGES = 7;
  private static final int[] POOL_ORDER = {5, 0, 6};
  private static final int[] HOST_ORDER = {3, 1, 2};

  private int layers;
  private int runBytes;
  private DeviceMemory pool;
  private PinnedPages host;
  private PageMoves moves;

  private void make(int newLayers, int newRunBytes) {
    layers = newLayers;
    runBytes = newRunBytes;
    pool = allocate(2L * layers * POOL_PAGES * runBytes);
    // slabs of two pages, so that pages lie in several
    host =
        closing(new PinnedPages(context, 4, 2L * layers * runBytes, null, 4L * layers * runBytes));
    PageMoves.Band band = new PageMoves.Band(pool, 0, 0, layers, 2, runBytes);
    moves = closing(new PageMoves(context, module, List.of(band), POOL_PAGES, 3));
    for (int i = 0; i < POOL_ORDER.length; i++) {
      moves.add(host.address(HOST_ORDER[i]), POOL_ORDER[i]);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "2, 6144", "3, 1040", "2, 32768", "5, 4112"})
  void hostPagesAreCopiedIntoThePoolLayerByLayer(int newLayers, int newRunBytes) {
    make(newLayers, newRunBytes);
    byte[][] pages = randomHost();
    pool.fillAsync((byte) 0x55, stream);
    for (int layer = 0; layer < layers; layer++) {
      moves.in(stream, layer, 1);
      byte[] got = pool();
      for (int i = 0; i < POOL_ORDER.length; i++) {
        for (int plane = 0; plane < 2 * layers; plane++) {
          for (int b = 0; b < runBytes; b += 5) {
            byte want = plane < 2 * (layer + 1) ? pages[i][plane * runBytes + b] : 0x55;
            assertThat(got[(plane * POOL_PAGES + POOL_ORDER[i]) * runBytes + b]).isEqualTo(want);
          }
        }
      }
    }
    byte[] got = pool();
    for (int page : new int[] {1, 2, 3, 4}) {
      for (int plane = 0; plane < 2 * layers; plane++) {
        int run = (plane * POOL_PAGES + page) * runBytes;
        assertThat(got[run]).as("a page not named").isEqualTo((byte) 0x55);
        assertThat(got[run + runBytes - 1]).isEqualTo((byte) 0x55);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "2, 6144", "3, 1040", "2, 32768"})
  void wholePagesReturnUnchanged(int newLayers, int newRunBytes) {
    make(newLayers, newRunBytes);
    byte[][] pages = randomHost();
    moves.in(stream, 0, layers);
    stream.synchronize();
    for (int page : HOST_ORDER) {
      ByteBuffer buffer = host.buffer(page);
      for (int i = 0; i < buffer.capacity(); i++) {
        buffer.put(i, (byte) 0);
      }
    }
    moves.out(stream, 0, layers);
    stream.synchronize();
    for (int i = 0; i < HOST_ORDER.length; i++) {
      byte[] got = new byte[(int) host.pageBytes()];
      host.buffer(HOST_ORDER[i]).get(0, got);
      assertThat(got).isEqualTo(pages[i]);
    }
  }

  @Test
  void aPageIsGatheredOnTheDeviceForOneCopy() {
    make(3, 1040);
    byte[][] pages = randomHost();
    moves.in(stream, 0, layers);
    stream.synchronize();
    DeviceMemory staging = allocate(host.pageBytes());
    moves.clear();
    moves.add(staging.address(), POOL_ORDER[1]);
    moves.out(stream, 0, layers);
    PinnedMemory target = host.page(0);
    staging.readAsync(target, host.pageBytes(), stream);
    stream.synchronize();
    byte[] got = new byte[(int) host.pageBytes()];
    target.buffer().get(0, got);
    assertThat(got).isEqualTo(pages[1]);
  }

  @Test
  void anEmptyListMovesNothing() {
    make(1, 16);
    moves.clear();
    pool.fillAsync((byte) 0x55, stream);
    moves.in(stream, 0, 1);
    assertThat(pool()).containsOnly(0x55);
  }

  @Test
  void aListRefusesMorePagesThanItsCapacity() {
    make(1, 16);
    long address = host.address(0);
    assertThatThrownBy(() -> moves.add(address, 1)).isInstanceOf(IllegalStateException.class);
    moves.clear();
    assertThatThrownBy(() -> moves.add(address, POOL_PAGES))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> moves.add(address + 8, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> host.address(4)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  private byte[][] randomHost() {
    Random random = new Random(runBytes);
    byte[][] pages = new byte[HOST_ORDER.length][(int) host.pageBytes()];
    for (int i = 0; i < pages.length; i++) {
      random.nextBytes(pages[i]);
      host.buffer(HOST_ORDER[i]).put(0, pages[i]);
    }
    return pages;
  }

  private byte[] pool() {
    short[] pairs = shorts(pool, (int) (pool.bytes() / 2));
    byte[] bytes = new byte[pairs.length * 2];
    for (int i = 0; i < pairs.length; i++) {
      bytes[2 * i] = (byte) pairs[i];
      bytes[2 * i + 1] = (byte) (pairs[i] >> 8);
    }
    return bytes;
  }
}
