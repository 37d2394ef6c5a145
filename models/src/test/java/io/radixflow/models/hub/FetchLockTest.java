package io.radixflow.models.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FetchLockTest {
  @TempDir Path directory;

  /** A process that holds a lock until its standard input ends. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws Exception {
      FetchLock lock = FetchLock.acquire(Path.of(arguments[0]), () -> {});
      System.out.println("locked");
      while (System.in.read() >= 0) {
        continue;
      }
      lock.close();
    }
  }

  @Test
  void anotherProcessIsWaitedForAndItsEndReleasesTheLock() throws Exception {
    Path file = directory.resolve("models/.a.lock");
    Process holder =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Holder.class.getName(),
                    file.toString()))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertThat(holder.inputReader().readLine()).isEqualTo("locked");
      CountDownLatch waiting = new CountDownLatch(1);
      CompletableFuture<Void> acquired =
          CompletableFuture.runAsync(() -> acquireAndRelease(file, waiting));
      waiting.await();
      assertThat(acquired).isNotDone();
      holder.destroyForcibly();
      acquired.get();
    } finally {
      holder.destroyForcibly();
    }
  }

  @Test
  void aFreeLockIsTakenWithoutAWord() throws Exception {
    CountDownLatch waiting = new CountDownLatch(1);
    Path file = directory.resolve(".b.lock");
    acquireAndRelease(file, waiting);
    acquireAndRelease(file, waiting);
    assertThat(waiting.getCount()).isEqualTo(1);
  }

  private static void acquireAndRelease(Path file, CountDownLatch waiting) {
    try {
      FetchLock.acquire(file, waiting::countDown).close();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
