package io.radixflow.models.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateDirectoriesTest {

  @TempDir Path dir;

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void newDirectoriesAndTheirNewParentsCanBeReadByTheirOwnerAlone() throws IOException {
    Path made = PrivateDirectories.create(dir.resolve("a/b"));
    assertThat(permissions(made)).isEqualTo("rwx------");
    assertThat(permissions(made.getParent())).isEqualTo("rwx------");
  }

  @Test
  void aDirectoryThatExistsKeepsItsPermissions() throws IOException {
    Path open = Files.createDirectory(dir.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(permissions(PrivateDirectories.create(open))).isEqualTo("rwxr-xr-x");
  }
}
