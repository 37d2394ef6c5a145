package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Segments in a directory of a local file system: {@code 000000000000002a.pages} is number 42. A
 * file {@code lock} is held while the directory is in use.
 */
final class LocalFiles implements SegmentFiles {
  private static final String SUFFIX = ".pages";
  private static final String TEMPORARY = ".new";
  private static final String LOCK = "lock";
  private static final int HEX = 16;
  private static final Set<OpenOption> READ = Set.of(StandardOpenOption.READ);
  private static final Set<OpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  private final Path directory;
  private final LockFile lock;

  private LocalFiles(Path directory, LockFile lock) {
    this.directory = directory;
    this.lock = lock;
  }

  /**
   * Takes a directory into use, made if need be. One that cannot be written is used for reading,
   * without a lock.
   *
   * @throws IOException if another process or store uses it
   */
  static LocalFiles open(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      Files.createDirectories(directory);
    }
    LockFile lock;
    try {
      lock = LockFile.tryLock(directory.resolve(LOCK));
    } catch (FileSystemException e) {
      return new LocalFiles(directory, null);
    }
    if (lock == null) {
      throw new IOException(
          directory + " is another engine's; give each engine of a host a directory of its own");
    }
    try {
      LocalFiles files = new LocalFiles(directory, lock);
      files.deleteTemporary();
      return files;
    } catch (IOException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  private void deleteTemporary() throws IOException {
    try (DirectoryStream<Path> left = Files.newDirectoryStream(directory, "*" + TEMPORARY)) {
      for (Path file : left) {
        Files.deleteIfExists(file);
      }
    }
  }

  @Override
  public List<Long> list() throws IOException {
    List<Long> numbers = new ArrayList<>();
    try (DirectoryStream<Path> segments = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
      for (Path segment : segments) {
        String name = segment.getFileName().toString();
        try {
          String digits = name.substring(0, name.length() - SUFFIX.length());
          long number = Long.parseUnsignedLong(digits, HEX);
          if (number >= 0 && name.equals(name(number))) {
            numbers.add(number);
          }
        } catch (NumberFormatException e) {
          // no segment of ours
        }
      }
    }
    numbers.sort(null);
    return numbers;
  }

  private static String name(long number) {
    return String.format("%016x%s", number, SUFFIX);
  }

  private Path path(long number) {
    return directory.resolve(name(number));
  }

  @Override
  public SegmentFile open(long number) throws IOException {
    try {
      return new ChannelFile(path(number), READ_WRITE);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (AccessDeniedException e) {
      return new ChannelFile(path(number), READ);
    } catch (FileSystemException e) {
      // a file system that is mounted read-only says so with another error
      return new ChannelFile(path(number), READ);
    }
  }

  @Override
  public SegmentFile create(SegmentHeader header) throws IOException {
    Path target = path(header.number());
    Path temporary = target.resolveSibling(target.getFileName() + TEMPORARY);
    Files.deleteIfExists(temporary);
    try (FileChannel file =
        FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = header.encode();
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
      file.force(true);
    } catch (IOException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
    Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    return new ChannelFile(target, READ_WRITE);
  }

  @Override
  public void delete(long number) throws IOException {
    Files.deleteIfExists(path(number));
  }

  @Override
  public long usableBytes() throws IOException {
    return Files.getFileStore(directory).getUsableSpace();
  }

  @Override
  public void close() throws IOException {
    if (lock != null) {
      lock.close();
    }
  }
}
