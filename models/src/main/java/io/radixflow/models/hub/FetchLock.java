package io.radixflow.models.hub;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets only one fetcher of a model work at a time. Between processes it uses a lock on a file,
 * which the operating system releases when its holder ends. Such a lock does not work between
 * threads of one process, so there is also a lock in memory.
 */
final class FetchLock implements AutoCloseable {
  private static final ConcurrentHashMap<Path, ReentrantLock> THREADS = new ConcurrentHashMap<>();

  private final ReentrantLock thread;
  private final FileChannel channel;

  private FetchLock(ReentrantLock thread, FileChannel channel) {
    this.thread = thread;
    this.channel = channel;
  }

  /** Waits for the lock. {@code waiting} runs once if somebody else has it. */
  static FetchLock acquire(Path file, Runnable waiting) throws IOException, InterruptedException {
    Files.createDirectories(file.getParent());
    ReentrantLock thread =
        THREADS.computeIfAbsent(file.toAbsolutePath().normalize(), f -> new ReentrantLock());
    boolean reported = false;
    if (!thread.tryLock()) {
      waiting.run();
      reported = true;
      thread.lockInterruptibly();
    }
    FileChannel channel = null;
    try {
      channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      if (lock == null) {
        if (!reported) {
          waiting.run();
        }
        channel.lock();
      }
      return new FetchLock(thread, channel);
    } catch (IOException | RuntimeException e) {
      if (channel != null) {
        channel.close();
      }
      thread.unlock();
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      thread.unlock();
    }
  }
}
