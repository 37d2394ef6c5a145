package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.StepTicket;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * Window parts of a pool, as few as sequences need: each moves along with its window, and the part
 * that was given back last is the next one to be used.
 */
final class MovingWindow {
  private final KvPool pool;
  private final int window;
  private final int[] partOf;
  private final Deque<Integer> free = new ArrayDeque<>();
  private int used;

  MovingWindow(KvPool pool, int window) {
    this.pool = pool;
    this.window = window;
    partOf = new int[pool.pages()];
    Arrays.fill(partOf, -1);
    for (int part = 0; part < pool.parts(); part++) {
      free.push(part);
    }
  }

  /** Parts that a sequence needs in chunks of so many rows. */
  static int parts(Backend backend, int chunk, int pageTokens) {
    return (backend.partedWindow() + chunk) / pageTokens + 2;
  }

  /** Gives the pages of positions {@code from .. to-1} and of their window parts, no others. */
  void move(int[] pages, int from, int to) {
    int first = Math.max(0, from - window + 1) / pool.pageTokens();
    for (int i = 0; i < first; i++) {
      map(pages[i], false);
    }
    for (int i = first; i <= (to - 1) / pool.pageTokens(); i++) {
      map(pages[i], true);
    }
  }

  private void map(int page, boolean has) {
    if (has == partOf[page] >= 0) {
      return;
    }
    if (has) {
      partOf[page] = free.pop();
      used++;
    } else {
      free.push(partOf[page]);
      partOf[page] = -1;
    }
    pool.mapWindow(page, partOf[page]);
  }

  /** How often a page has got a part. */
  int used() {
    return used;
  }

  /** The logits after each token, prefilled in chunks. */
  float[][] logits(Backend backend, int[] tokens, int chunk, int[] pages)
      throws InterruptedException {
    float[][] logits = new float[tokens.length][backend.model().vocabSize()];
    Batch batch = new Batch();
    for (int from = 0; from < tokens.length; from += chunk) {
      int to = Math.min(tokens.length, from + chunk);
      move(pages, from, to);
      batch.clear();
      batch.beginChunk(pages, pages.length, from);
      for (int i = from; i < to; i++) {
        batch.token(tokens[i]);
        batch.output(null, Batch.LOGITS);
      }
      StepTicket ticket = Sequences.run(backend, batch);
      for (int i = from; i < to; i++) {
        ticket.logits(i - from, logits[i]);
      }
    }
    return logits;
  }
}
