package io.radixflow.operators.tier.disk;

import io.radixflow.operators.tier.store.KeyFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Keys in a directory of a local file system that one process has, made if need be. */
public record LocalKeyFiles(Path directory) implements KeyFiles {

  @Override
  public List<byte[]> read(String name) throws IOException {
    try {
      return List.of(Files.readAllBytes(directory.resolve(name)));
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  @Override
  public void write(String name, byte[] bytes) throws IOException {
    Files.createDirectories(directory);
    Path temporary = directory.resolve(name + ".new");
    ByteBuffer left = ByteBuffer.wrap(bytes);
    try (FileChannel file =
        FileChannel.open(
            temporary,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      while (left.hasRemaining()) {
        file.write(left);
      }
      file.force(true);
    }
    Files.move(
        temporary,
        directory.resolve(name),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  /** Zeros in its place, forced to the device, then no file. */
  @Override
  public void destroy(String name) throws IOException {
    Path path = directory.resolve(name);
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocate(Math.toIntExact(file.size()));
      while (zeros.hasRemaining()) {
        file.write(zeros, zeros.position());
      }
      file.force(true);
    } catch (NoSuchFileException e) {
      return;
    }
    Files.deleteIfExists(path);
  }
}
