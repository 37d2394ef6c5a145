package io.radixflow.engine.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.device.HeapPages;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that host memory is owned by one side while it gets another size. */
@Timeout(180)
class HostResizeTest {
  private static final int PAGE_BYTES = 8;
  private static final int BEFORE = 4;
  private static final int AFTER = 6;

  /** Numbers of the tasks that a resize has the engine run. */
  private static final int PLAN = 3;

  private static final int FINISH = 4;

  private final Memory pool = new Memory();
  private final Late engine = new Late();
  private final HiRadixCache cache =
      new HiRadixCache(
          pool,
          TierOptions.NONE.withHostBytes(BEFORE * PAGE_BYTES),
          null,
          engine,
          System::nanoTime);

  @AfterEach
  void close() {
    cache.close();
    assertThat(pool.opened).allMatch(each -> each.closes == 1);
  }

  /** An engine that runs the task of one number only when it gets the next. */
  private static final class Late implements Executor {
    private int late;
    private int calls;
    private Runnable left;

    @Override
    public void execute(Runnable task) {
      if (++calls == late) {
        left = task;
        return;
      }
      if (left != null) {
        left.run();
        left = null;
      }
      task.run();
    }
  }

  private TierSwitches switches(int late) {
    engine.late = late;
    cache.switches().patience(1);
    return cache.switches();
  }

  @Test
  void memoryInUseStaysOpenIfTheEngineAnswersTooLate() {
    assertThatThrownBy(() -> switches(FINISH).resizeHost(AFTER * PAGE_BYTES, true))
        .isInstanceOf(TimeoutException.class);

    assertThat(cache.stats().hostPages()).isEqualTo(AFTER);
    assertThat(pool.opened).extracting(each -> each.closes).containsExactly(1, 0);
    assertThat(cache.switches().isHostHeld()).isTrue();
  }

  @Test
  void newMemoryIsClosedIfTheMoveTimesOut() {
    assertThatThrownBy(() -> switches(PLAN).resizeHost(AFTER * PAGE_BYTES, true))
        .isInstanceOf(TimeoutException.class);

    assertThat(cache.stats().hostPages()).isEqualTo(BEFORE);
    assertThat(pool.opened).extracting(each -> each.closes).containsExactly(0, 1);
    assertThat(cache.switches().isHostHeld()).isFalse();
  }

  @Test
  void theNewMemoryReplacesTheOld() throws Exception {
    switches(-1).resizeHost(AFTER * PAGE_BYTES, false);

    assertThat(cache.stats().hostPages()).isEqualTo(AFTER);
    assertThat(pool.opened).extracting(each -> each.closes).containsExactly(1, 0);
  }

  /** A pool that only has memory for host pages, and counts how often each is closed. */
  private static final class Memory implements KvPool {
    final List<Counted> opened = new ArrayList<>();

    @Override
    public int pages() {
      return 2;
    }

    @Override
    public int pageTokens() {
      return 1;
    }

    @Override
    public long pageBytes() {
      return PAGE_BYTES;
    }

    @Override
    public HostPages openHostPages(int pages) {
      Counted made = new Counted(new HeapPages(pages, PAGE_BYTES));
      opened.add(made);
      return made;
    }

    @Override
    public void close() {}
  }

  private static final class Counted implements HostPages {
    private final HostPages pages;
    private int closes;

    Counted(HostPages pages) {
      this.pages = pages;
    }

    @Override
    public int pages() {
      return pages.pages();
    }

    @Override
    public long pageBytes() {
      return pages.pageBytes();
    }

    @Override
    public ByteBuffer buffer(int page) {
      return pages.buffer(page);
    }

    @Override
    public void close() {
      closes++;
    }
  }
}
