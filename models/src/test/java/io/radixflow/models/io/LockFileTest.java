package io.radixflow.models.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LockFileTest {
  @TempDir Path directory;

  /** Locks a file in another process, which ends with 0 if it gets the lock, else with 1. */
  static final class OtherProcess {
    public static void main(String[] path) throws IOException {
      try (FileChannel file = FileChannel.open(Path.of(path[0]), StandardOpenOption.WRITE)) {
        System.exit(file.tryLock() == null ? 1 : 0);
      }
    }

    static boolean getsLock(Path path) throws Exception {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  classes(),
                  OtherProcess.class.getName(),
                  path.toString())
              .inheritIO()
              .start();
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).isBetween(0, 1);
      return process.exitValue() == 0;
    }

    private static String classes() throws Exception {
      return Path.of(OtherProcess.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    }
  }

  /** A class loader with classes of its own, as each of a TaskManager's jobs has. */
  private static final class OtherJob extends ClassLoader {
    OtherJob() {
      super(LockFileTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.equals(LockFile.class.getName())) {
        return super.loadClass(name, resolve);
      }
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] code = in.readAllBytes();
        return defineClass(name, code, 0, code.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  @Test
  void aFileCanBeLockedAgainOnceItsHolderReleasesIt() throws Exception {
    Path file = directory.resolve("lock");
    try (LockFile held = LockFile.tryLock(file)) {
      assertThat(held).isNotNull();
      assertThat(OtherProcess.getsLock(file)).isFalse();
    }
    assertThat(OtherProcess.getsLock(file)).isTrue();
    try (LockFile again = LockFile.tryLock(file)) {
      assertThat(again).isNotNull();
    }
  }

  @Test
  void aRefusedLockInTheSameProcessLeavesTheHoldersLock() throws Exception {
    Path file = directory.resolve("lock");
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory).resolve("lock");
    Class<?> others = new OtherJob().loadClass(LockFile.class.getName());
    assertThat(others).isNotSameAs(LockFile.class);
    Method tryLock = others.getDeclaredMethod("tryLock", Path.class);
    tryLock.setAccessible(true);
    try (LockFile held = LockFile.tryLock(file)) {
      assertThat(LockFile.tryLock(file)).isNull();
      assertThat(LockFile.tryLock(link)).isNull();
      assertThat(tryLock.invoke(null, file)).isNull();
      assertThat(held.exists()).isTrue();
      assertThat(OtherProcess.getsLock(file)).isFalse();
    }
  }

  @Test
  void aFileThatCannotBeOpenedDoesNotCountAsLocked() throws IOException {
    Path file = directory.resolve("lock");
    Files.createDirectory(file);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> LockFile.tryLock(file)).isInstanceOf(IOException.class);
    }
  }
}
