package io.radixflow.models.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A locked file. Only one holder at a time, among all processes and all class loaders of this
 * process, can have it.
 *
 * <p>On Linux a process loses its lock on a file as soon as it closes any channel of that file. So
 * this process must never open a file again while it is locked. The holder adds the path to the
 * system properties, which all class loaders share, before it opens the file, and removes the path
 * after it has closed the file.
 */
public final class LockFile implements AutoCloseable {
  private static final String HELD = "radixflow.locked:";

  private final String name;
  private final Path path;
  private final FileChannel channel;

  private LockFile(String name, Path path, FileChannel channel) {
    this.name = name;
    this.path = path;
    this.channel = channel;
  }

  /**
   * Locks a file in an existing directory. The file is created if it is missing.
   *
   * @return null if it is already locked
   * @throws java.nio.file.FileSystemException if the directory is missing, or the file cannot be
   *     opened for writing
   */
  public static LockFile tryLock(Path path) throws IOException {
    Path real = path.toAbsolutePath().getParent().toRealPath().resolve(path.getFileName());
    String name = HELD + real;
    if (System.getProperties().putIfAbsent(name, "") != null) {
      return null;
    }
    LockFile held = null;
    try {
      held = open(name, real);
    } finally {
      if (held == null) {
        System.getProperties().remove(name);
      }
    }
    return held;
  }

  private static LockFile open(String name, Path path) throws IOException {
    FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean locked = false;
    try {
      locked = channel.tryLock() != null;
    } finally {
      if (!locked) {
        channel.close();
      }
    }
    return locked ? new LockFile(name, path, channel) : null;
  }

  /** Returns whether the file, and so its directory, still exists. */
  public boolean exists() {
    return Files.exists(path);
  }

  @Override
  public void close() throws IOException {
    if (channel.isOpen()) {
      channel.close();
      System.getProperties().remove(name);
    }
  }
}
