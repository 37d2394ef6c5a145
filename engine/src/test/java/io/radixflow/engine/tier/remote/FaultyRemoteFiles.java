package io.radixflow.engine.tier.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Remote files that hang or fail when a test says so. */
final class FaultyRemoteFiles implements RemoteFiles {
  private final RemoteFiles files;
  private final AtomicInteger calls = new AtomicInteger();
  private final AtomicInteger deletions = new AtomicInteger();

  /** The latch that operations wait for, deaf to interrupts; null for nothing. */
  private volatile CountDownLatch gate;

  private volatile boolean failing;

  FaultyRemoteFiles(RemoteFiles files) {
    this.files = files;
  }

  /** Operations hang until the latch is counted down. */
  CountDownLatch hang() {
    gate = new CountDownLatch(1);
    return gate;
  }

  void stopHanging() {
    CountDownLatch before = gate;
    gate = null;
    before.countDown();
  }

  void fail(boolean on) {
    failing = on;
  }

  /** Returns how many operations there have been. */
  int calls() {
    return calls.get();
  }

  /** Returns how many deletions have succeeded. */
  int deletions() {
    return deletions.get();
  }

  private void pass() throws IOException {
    calls.incrementAndGet();
    CountDownLatch waited = gate;
    boolean interrupted = false;
    while (waited != null && waited.getCount() > 0) {
      try {
        waited.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (failing) {
      throw new IOException("injected");
    }
  }

  @Override
  public boolean exists(String name) throws IOException {
    pass();
    return files.exists(name);
  }

  @Override
  public int read(String name, ByteBuffer into) throws IOException {
    pass();
    return files.read(name, into);
  }

  @Override
  public void create(String name, ByteBuffer bytes) throws IOException {
    pass();
    files.create(name, bytes);
  }

  @Override
  public void delete(String name) throws IOException {
    files.delete(name);
    deletions.incrementAndGet();
  }

  @Override
  public List<RemoteObject> list(String folder) throws IOException {
    pass();
    return files.list(folder);
  }

  @Override
  public void deleteFolder(String folder) throws IOException {
    files.deleteFolder(folder);
  }

  @Override
  public void close() throws IOException {
    files.close();
  }
}
