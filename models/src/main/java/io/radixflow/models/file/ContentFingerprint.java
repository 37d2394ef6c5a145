package io.radixflow.models.file;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Sha256;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Identifies a model by all of its bytes. The fingerprint is the first 16 hexadecimal digits of a
 * SHA-256 over each file's size and the SHA-256 of each 8 MiB chunk. Chunks are hashed in parallel.
 *
 * <p>The result is stored in {@code fingerprints/} of Radixflow's home, one small file per model,
 * and reused while the size, change time and identity of each file are the same. It is not stored
 * if a file changed in the last two seconds, because another change might leave the same time.
 */
final class ContentFingerprint implements Supplier<String> {
  private static final Logger LOG = LoggerFactory.getLogger(ContentFingerprint.class);
  private static final int CHUNK = 8 << 20;
  private static final Duration SETTLED = Duration.ofSeconds(2);

  private final List<Path> files;
  private final Path store;
  private final Clock clock;
  private String known;

  /**
   * @param files the model's files, in an order that depends only on their names
   * @param home Radixflow's home
   */
  ContentFingerprint(List<Path> files, Path home, Clock clock) {
    this.files = files;
    this.store = home.resolve("fingerprints");
    this.clock = clock;
  }

  @Override
  public synchronized String get() {
    if (known == null) {
      try {
        known = find();
      } catch (IOException e) {
        throw new ModelFormatException(files.get(0) + ": cannot be read: " + e.getMessage(), e);
      }
    }
    return known;
  }

  private String find() throws IOException {
    String stamp = stamp();
    Path entry = store.resolve(Sha256.digits(files.toString()));
    String remembered = remembered(entry, stamp);
    if (remembered != null) {
      return remembered;
    }
    String fingerprint = compute();
    if (stamp.equals(stamp()) && settled()) {
      remember(entry, stamp, fingerprint);
    }
    return fingerprint;
  }

  private String compute() throws IOException {
    MessageDigest all = Sha256.digest();
    for (Path file : files) {
      try (FileChannel channel = FileChannel.open(file)) {
        long size = channel.size();
        int chunks = Math.toIntExact((size + CHUNK - 1) / CHUNK);
        byte[][] digests = new byte[chunks][];
        IntStream.range(0, chunks).parallel().forEach(i -> digests[i] = chunk(channel, i));
        all.update(ByteBuffer.allocate(Long.BYTES).putLong(size).flip());
        for (byte[] digest : digests) {
          all.update(digest);
        }
      } catch (UncheckedIOException e) {
        throw e.getCause();
      }
    }
    return Sha256.digits(all.digest());
  }

  private static byte[] chunk(FileChannel channel, int index) {
    MessageDigest digest = Sha256.digest();
    ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
    long position = (long) index * CHUNK;
    long end = position + CHUNK;
    try {
      while (position < end) {
        buffer.clear().limit((int) Math.min(buffer.capacity(), end - position));
        int read = channel.read(buffer, position);
        if (read < 0) {
          break;
        }
        digest.update(buffer.flip());
        position += read;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return digest.digest();
  }

  private String stamp() throws IOException {
    StringBuilder stamp = new StringBuilder("1");
    for (Path file : files) {
      BasicFileAttributes is = Files.readAttributes(file, BasicFileAttributes.class);
      stamp.append(' ').append(is.size()).append(' ').append(changed(file));
      stamp.append(' ').append(is.lastModifiedTime()).append(' ').append(is.fileKey());
    }
    return stamp.toString();
  }

  /** Uses the inode's change time if there is one, because it is not set back by accident. */
  private static FileTime changed(Path file) throws IOException {
    if (file.getFileSystem().supportedFileAttributeViews().contains("unix")) {
      return (FileTime) Files.getAttribute(file, "unix:ctime");
    }
    return Files.getLastModifiedTime(file);
  }

  private boolean settled() throws IOException {
    FileTime limit = FileTime.from(clock.instant().minus(SETTLED));
    for (Path file : files) {
      if (changed(file).compareTo(limit) > 0) {
        return false;
      }
    }
    return true;
  }

  private static String remembered(Path entry, String stamp) throws IOException {
    if (!Files.isRegularFile(entry) || Files.size(entry) > 1 << 20) {
      return null;
    }
    List<String> lines = Files.readAllLines(entry, StandardCharsets.UTF_8);
    boolean same = lines.size() == 2 && lines.get(0).equals(stamp);
    return same && lines.get(1).matches("[0-9a-f]{16}") ? lines.get(1) : null;
  }

  private void remember(Path entry, String stamp, String fingerprint) {
    try {
      Files.createDirectories(store);
      Path temporary = Files.createTempFile(store, "new", ".tmp");
      Files.write(temporary, List.of(stamp, fingerprint), StandardCharsets.UTF_8);
      Files.move(temporary, entry, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      LOG.debug("Cannot remember the fingerprint of {} in {}", files.get(0), store, e);
    }
  }
}
