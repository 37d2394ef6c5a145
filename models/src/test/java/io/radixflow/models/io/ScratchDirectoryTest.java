package io.radixflow.models.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class ScratchDirectoryTest {

  @TempDir Path parent;

  @Test
  void onlyItsOwnerCanReadIt() throws IOException {
    try (ScratchDirectory scratch = ScratchDirectory.createIn(parent, "test")) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(scratch.path())))
          .isEqualTo("rwx------");
    }
  }

  @Test
  void closingDeletesItWithAllInIt() throws IOException {
    try (ScratchDirectory scratch = ScratchDirectory.createIn(parent, "test")) {
      Files.createDirectories(scratch.path().resolve("a/b"));
      Files.writeString(scratch.path().resolve("a/b/c"), "x");
    }
    assertThat(parent).isEmptyDirectory();
  }

  @Test
  void aLinkInItIsDeletedAndNotFollowed(@TempDir Path other) throws IOException {
    Path kept = Files.writeString(other.resolve("kept"), "x");
    try (ScratchDirectory scratch = ScratchDirectory.createIn(parent, "test")) {
      Files.createSymbolicLink(scratch.path().resolve("link"), other);
    }
    assertThat(kept).exists();
  }

  @Test
  void aDirectoryOfAKilledProcessIsDeletedByTheNextOne() throws Exception {
    Process killed = start("waits");
    try (ScratchDirectory beside = ScratchDirectory.createIn(parent, "beside")) {
      assertThat(entries()).as("the other process lives").isEqualTo(4);
    } finally {
      killed.destroyForcibly().waitFor();
    }
    assertThat(entries()).isEqualTo(2);
    try (ScratchDirectory next = ScratchDirectory.createIn(parent, "next")) {
      assertThat(next.path().getParent()).isDirectoryNotContaining("glob:**held*");
    }
  }

  @Test
  void aProcessThatEndsDeletesWhatItDoesNotCloseItself() throws Exception {
    assertThat(start("ends").waitFor()).isZero();
    assertThat(entries()).isZero();
    assertThat(start("ends as the owner").waitFor()).isZero();
    assertThat(entries()).isEqualTo(2);
  }

  @Test
  void directoriesOfThisProcessAreNoLeftovers() throws IOException {
    try (ScratchDirectory first = ScratchDirectory.createIn(parent, "first");
        ScratchDirectory second = ScratchDirectory.createIn(parent, "second");
        ScratchDirectory third = ScratchDirectory.createIn(parent, "third")) {
      assertThat(first.path()).isDirectory();
      assertThat(second.path()).isDirectory();
      assertThat(third.path()).isDirectory();
    }
  }

  @Test
  void otherDirectoriesAreNotTouched() throws IOException {
    Path other = Files.createDirectory(parent.resolve("radixflow-other"));
    ScratchDirectory.createIn(parent, "test").close();
    assertThat(other).isDirectory();
  }

  private long entries() throws IOException {
    try (Stream<Path> files = Files.list(parent)) {
      return files.count();
    }
  }

  /** Starts a process that holds a directory, and waits until it does. */
  private Process start(String what) throws Exception {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                parent.toString(),
                what)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(process.getInputStream().read()).isEqualTo('x');
    return process;
  }

  /** Holds a directory until it ends or is killed. */
  static final class Holder {
    public static void main(String[] arguments) throws Exception {
      ScratchDirectory held = ScratchDirectory.createIn(Path.of(arguments[0]), "held");
      Files.writeString(held.path().resolve("file"), "x");
      System.out.write('x');
      System.out.flush();
      switch (arguments[1]) {
        case "waits" -> Thread.currentThread().join();
        case "ends" -> {}
        default -> held.deleteOnlyOnClose();
      }
    }
  }
}
