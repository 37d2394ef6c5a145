package io.radixflow.engine.tier.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Remote files in a directory of this machine. */
public final class LocalRemoteFiles implements RemoteFiles {
  private final Path root;

  /**
   * @param root created with the first object
   */
  public LocalRemoteFiles(Path root) {
    this.root = root;
  }

  @Override
  public boolean exists(String name) {
    return Files.exists(root.resolve(name));
  }

  @Override
  public int read(String name, ByteBuffer into) throws IOException {
    int start = into.position();
    try (SeekableByteChannel in = Files.newByteChannel(root.resolve(name))) {
      while (into.hasRemaining() && in.read(into) >= 0) {}
    }
    return into.position() - start;
  }

  @Override
  public void create(String name, ByteBuffer bytes) throws IOException {
    byte[] content = new byte[bytes.remaining()];
    bytes.duplicate().get(content);
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Path part = Files.createTempFile(file.getParent(), "part", null);
    Files.write(part, content);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void delete(String name) throws IOException {
    Files.deleteIfExists(root.resolve(name));
  }

  @Override
  public List<RemoteObject> list(String folder) throws IOException {
    List<RemoteObject> objects = new ArrayList<>();
    if (Files.isDirectory(root.resolve(folder))) {
      try (Stream<Path> files = Files.list(root.resolve(folder))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          objects.add(
              new RemoteObject(
                  file.getFileName().toString(),
                  Files.size(file),
                  Files.getLastModifiedTime(file).toMillis()));
        }
      }
    }
    return objects;
  }

  @Override
  public void deleteFolder(String folder) throws IOException {
    if (Files.exists(root.resolve(folder))) {
      try (Stream<Path> files = Files.walk(root.resolve(folder))) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  @Override
  public void close() {}
}
