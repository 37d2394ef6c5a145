package io.radixflow.engine.tier.remote;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies pages of one store to another store below it, each page some time after it was written.
 * Pages of conversations that end sooner are never copied. The copies run on a separate thread, so
 * no caller waits for them.
 *
 * <p>A page that cannot be copied is tried again. While the lower store does not answer, pages
 * wait. Only their descriptions are queued, so up to {@link #MOST} pages can wait. Further pages
 * are dropped, and so are all waiting pages when the process dies. A dropped page is offered again
 * when it is next used.
 */
public final class Uploads implements AutoCloseable {
  static final int MOST = 200_000;

  private static final Logger LOG = LoggerFactory.getLogger(Uploads.class);
  private static final int MOST_PAGES = 64;
  private static final int MOST_BYTES = 16 << 20;
  private static final int ATTEMPTS = 10;
  private static final long RETRY_MILLIS = 1_000;
  private static final long CLOSE_MILLIS = 5_000;

  /** A page in the queue. */
  private record Waiting(TierPage page, long due, int attempts) {}

  private final PageStore from;
  private final PageStore to;
  private final BooleanSupplier ready;
  private final PageSizes sizes;
  private final int batchPages;
  private final long delayMillis;
  private final Thread thread;
  private final List<ByteBuffer> buffers = new ArrayList<>();

  private final Map<PageId, Waiting> queue = new LinkedHashMap<>();

  /** Pages that must not be in the batch in flight. */
  private final List<Predicate<TierPage>> removed = new ArrayList<>();

  /** Completes when the batch in flight has ended; null if there is none. */
  private CompletableFuture<Void> batchEnd;

  private volatile Runnable changed = () -> {};
  private volatile int size;
  private volatile long dropped;
  private long closeAt = Long.MAX_VALUE;

  /**
   * @param ready whether the lower store is believed to answer
   * @param sizes bytes of a page
   * @param delayMillis time that a page waits before its copy
   */
  public Uploads(
      PageStore from, PageStore to, BooleanSupplier ready, PageSizes sizes, long delayMillis) {
    this.from = from;
    this.to = to;
    this.ready = ready;
    this.sizes = sizes;
    this.batchPages = Math.max(1, Math.min(MOST_PAGES, MOST_BYTES / sizes.largest()));
    this.delayMillis = delayMillis;
    this.thread = new Thread(this::run, "remote-tier-upload");
    thread.setDaemon(true);
    thread.start();
  }

  private static long now() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** Returns how many pages wait or are being copied; never blocks. */
  int queued() {
    return size;
  }

  /** Returns how many pages were not copied; never blocks. */
  long dropped() {
    return dropped;
  }

  /** Sets the task that runs after each batch. */
  void whenChanged(Runnable task) {
    changed = task;
  }

  /** Adds the pages that are not yet in the queue. */
  synchronized void offer(TierPage[] pages, int count) {
    long due = now() + delayMillis;
    for (int i = 0; i < count; i++) {
      if (queue.size() < MOST) {
        queue.putIfAbsent(pages[i].id(), new Waiting(pages[i], due, 0));
      } else {
        dropped++;
      }
    }
    count();
  }

  private void count() {
    size = queue.size() + (batchEnd == null ? 0 : 1);
    notifyAll();
  }

  /**
   * Removes pages from the queue. A page that is being copied is removed from the lower store after
   * its copy.
   */
  synchronized void remove(Predicate<TierPage> test) {
    queue.values().removeIf(waiting -> test.test(waiting.page()));
    if (batchEnd != null) {
      removed.add(test);
    }
    count();
  }

  /** Completes when the batch that is in flight has ended. */
  synchronized CompletableFuture<Void> batchEnded() {
    return batchEnd == null ? CompletableFuture.completedFuture(null) : batchEnd;
  }

  private void run() {
    for (List<Waiting> batch = take(); !batch.isEmpty(); batch = take()) {
      boolean failed = true;
      try {
        failed = copy(batch) > 0;
      } catch (RuntimeException | Error e) { // without this thread no more pages are copied
        LOG.warn("A batch of {} pages was not copied to the remote tier", batch.size(), e);
      }
      end(batch, failed);
    }
  }

  /** Waits for pages that are due and returns them; returns an empty list after {@link #close}. */
  private synchronized List<Waiting> take() {
    List<Waiting> batch = new ArrayList<>();
    try {
      while (now() < closeAt && batch.isEmpty()) {
        boolean possible = !queue.isEmpty() && ready.getAsBoolean();
        if (possible && isDue(queue.values().iterator().next())) {
          Iterator<Waiting> waiting = queue.values().iterator();
          while (waiting.hasNext() && batch.size() < batchPages) {
            Waiting next = waiting.next();
            if (!isDue(next)) {
              break;
            }
            batch.add(next);
            waiting.remove();
          }
          batchEnd = new CompletableFuture<>();
          count();
        } else if (isClosing()) {
          break;
        } else {
          wait(pauseMillis());
        }
      }
    } catch (InterruptedException e) { // ends the thread
      LOG.debug("Uploads to the remote tier are interrupted", e);
    }
    return batch;
  }

  private boolean isClosing() {
    return closeAt < Long.MAX_VALUE;
  }

  private boolean isDue(Waiting waiting) {
    return isClosing() || waiting.due() <= now();
  }

  private long pauseMillis() {
    if (queue.isEmpty()) {
      return 0;
    }
    long untilDue = queue.values().iterator().next().due() - now();
    return untilDue > 0 ? untilDue : RETRY_MILLIS;
  }

  /** Returns how many pages could not be written. */
  private int copy(List<Waiting> batch) {
    TierPage[] pages = new TierPage[batch.size()];
    ByteBuffer[] bytes = new ByteBuffer[batch.size()];
    int count = 0;
    for (Waiting waiting : batch) {
      ByteBuffer buffer = buffer(count);
      if (from.copy(waiting.page(), buffer) && !isRemoved(waiting.page())) {
        pages[count] = waiting.page();
        bytes[count++] = buffer.slice(0, sizes.of(waiting.page()));
      }
    }
    return count == 0 ? 0 : to.write(pages, bytes, count);
  }

  private ByteBuffer buffer(int i) {
    if (i == buffers.size()) {
      buffers.add(ByteBuffer.allocate(sizes.largest()));
    }
    return buffers.get(i).clear();
  }

  private synchronized boolean isRemoved(TierPage page) {
    return removed.stream().anyMatch(test -> test.test(page));
  }

  /** Ends a batch. Pages that were removed while it was written are removed once more. */
  private void end(List<Waiting> batch, boolean again) {
    List<PageId> late = new ArrayList<>();
    synchronized (this) {
      for (Waiting waiting : batch) {
        if (isRemoved(waiting.page())) {
          late.add(waiting.page().id());
        } else if (again) {
          retry(waiting);
        }
      }
    }
    if (!late.isEmpty()) {
      to.remove(late.toArray(PageId[]::new), late.size());
    }
    CompletableFuture<Void> ended;
    synchronized (this) {
      ended = batchEnd;
      batchEnd = null;
      removed.clear();
      count();
    }
    ended.complete(null);
    changed.run();
  }

  private void retry(Waiting waiting) {
    if (waiting.attempts() + 1 == ATTEMPTS) {
      dropped++;
    } else {
      Waiting later = new Waiting(waiting.page(), now() + RETRY_MILLIS, waiting.attempts() + 1);
      queue.putIfAbsent(waiting.page().id(), later);
    }
  }

  /** Copies as many pages of the queue as possible in a few seconds, and ends. */
  @Override
  public void close() {
    synchronized (this) {
      closeAt = now() + CLOSE_MILLIS;
      count();
    }
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (size > 0) {
      LOG.info("{} pages were not copied to the remote tier in time", size);
    }
  }
}
