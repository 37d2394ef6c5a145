package io.radixflow.jobs.kvevents;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The name of an engine: the host's name and the smallest number that no other engine of the host
 * has. The number is a lock on a file in the directory for temporary files. So no other engine has
 * the name while the engine runs, and a successor can take it as soon as the process ends, even
 * after a crash.
 */
final class EngineName implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(EngineName.class);
  private static final int MOST = 1000;
  private static final int MAX_HOST = 100;

  private final String name;
  private final String property;
  private final FileChannel lock;

  private EngineName(String name, String property, FileChannel lock) {
    this.name = name;
    this.property = property;
    this.lock = lock;
  }

  /** Reserves a free name. */
  static EngineName acquire() {
    return acquire(Path.of(System.getProperty("java.io.tmpdir")), host());
  }

  static EngineName acquire(Path directory, String host) {
    for (int number = 0; number < MOST; number++) {
      EngineName name = tryAcquire(directory, host + "-" + number);
      if (name != null) {
        return name;
      }
    }
    String name = host + "-" + UUID.randomUUID();
    LOG.warn(
        "No engine can lock a file in {}: this one is {}, and after a restart it will be another",
        directory,
        name);
    return new EngineName(name, null, null);
  }

  /**
   * Tries to lock a name. A process loses its lock on a file when it closes another channel on the
   * file. So a system property keeps all engines of the process, in any class loader, from opening
   * the same file.
   */
  private static EngineName tryAcquire(Path directory, String name) {
    Path file = directory.resolve("radixflow-engine-" + name + ".lock").toAbsolutePath();
    String property = "radixflow.engine." + file;
    if (System.getProperties().putIfAbsent(property, name) != null) {
      return null;
    }
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
      if (channel.tryLock() != null) {
        return new EngineName(name, property, channel);
      }
    } catch (IOException e) {
      LOG.debug("{} cannot be locked", file, e);
    }
    System.getProperties().remove(property);
    close(channel);
    return null;
  }

  @Override
  public String toString() {
    return name;
  }

  /** Frees the name for another engine. */
  @Override
  public void close() {
    close(lock);
    if (property != null) {
      System.getProperties().remove(property);
    }
  }

  private static void close(FileChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      LOG.debug("a lock was not closed", e);
    }
  }

  private static String host() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      host = "localhost";
    }
    String plain = host.replaceAll("[^A-Za-z0-9._-]", "_");
    return plain.substring(0, Math.min(plain.length(), MAX_HOST));
  }
}
