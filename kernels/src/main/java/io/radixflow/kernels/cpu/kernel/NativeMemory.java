package io.radixflow.kernels.cpu.kernel;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Memory outside Java's heap: pages of zeros, or a file that is mapped for reading. It needs the
 * native kernels. A mapped file has a shared lock, which {@link #lock} respects.
 *
 * <p>If a mapped file is truncated, or the disk fails, its pages read as zeros instead of ending
 * the process. {@link #isIntact} then returns false.
 *
 * <p>Safe for many threads, but no thread may use an address or buffer after {@link #close}.
 */
public final class NativeMemory implements AutoCloseable {

  private static final int NO_FILE = -1;
  private static final int ENOENT = 2;

  private final long address;
  private final long bytes;

  /** Descriptor of the mapped file. */
  private volatile int file;

  /** Size and last change of the file when it was opened. */
  private long[] state;

  private boolean closed;

  private NativeMemory(long address, long bytes, int file, long[] state) {
    this.address = address;
    this.bytes = bytes;
    this.state = state;
    this.file = file;
  }

  /**
   * Allocates zeros. The system provides each page when it is first touched.
   *
   * @throws OutOfMemoryError if the system has no memory left
   */
  public static NativeMemory allocate(long bytes) {
    long size = Math.max(1, bytes);
    long address = allocatePages(size);
    if (address == 0) {
      throw new OutOfMemoryError("the system has no " + bytes + " bytes of memory left");
    }
    return new NativeMemory(address, size, NO_FILE, null);
  }

  /**
   * Maps a whole file. Notes the time of this use as the file's last access.
   *
   * @throws NoSuchFileException if there is no file
   * @throws IOException if another process has locked the file, or another user can write it
   */
  public static NativeMemory map(Path path) throws IOException {
    int file = open(path, false);
    long[] state = new long[2];
    long address = 0;
    try {
      if (!state(file, state) || state[0] == 0) {
        throw new FileSystemException(
            path.toString(), null, "it is empty, or other users can write it");
      }
      address = mapFile(0, state[0], file, 0);
      if (address == 0) {
        throw new FileSystemException(path.toString(), null, "it cannot be mapped");
      }
    } finally {
      if (address == 0) {
        closeFile(file);
      }
    }
    touch(file);
    return new NativeMemory(address, state[0], file, state);
  }

  private static int open(Path path, boolean exclusive) throws IOException {
    String name = path.toAbsolutePath().toString();
    int file = openLocked(name.getBytes(Charset.defaultCharset()), exclusive);
    if (file == -ENOENT) {
      throw new NoSuchFileException(name);
    }
    if (file < 0) {
      throw new FileSystemException(name, null, "system error " + -file);
    }
    return file;
  }

  /**
   * Runs an action while no process maps a file or can map it.
   *
   * @return false if a process maps the file, or there is no file
   */
  public static boolean lock(Path path, FileAction action) throws IOException {
    int file;
    try {
      file = open(path, true);
    } catch (FileSystemException e) {
      return false;
    }
    try {
      action.run(path);
      return true;
    } finally {
      closeFile(file);
    }
  }

  /** See {@link #lock}. */
  @FunctionalInterface
  public interface FileAction {

    /** Uses the file. */
    void run(Path path) throws IOException;
  }

  /**
   * Maps the same bytes from a file in the place of this memory, and takes over the file. Threads
   * may read meanwhile.
   *
   * @param mapped the whole file; closed unless this fails
   * @param offset where the contents begin in the file, a multiple of the page size
   * @return whether the system allowed it
   */
  public boolean replace(NativeMemory mapped, long offset) {
    Objects.checkFromIndexSize(offset, bytes, mapped.bytes);
    if (mapFile(address, bytes, mapped.file, offset) == 0) {
      return false;
    }
    state = mapped.state;
    file = mapped.file;
    mapped.file = NO_FILE;
    mapped.close();
    return true;
  }

  /**
   * Returns whether a mapped file was readable at each access, and was not changed since it was
   * opened. Always true without a file.
   */
  public boolean isIntact() {
    int mapped = file;
    if (mapped == NO_FILE) {
      return true;
    }
    long[] now = new long[2];
    return !isBroken(address) && state(mapped, now) && now[0] == state[0] && now[1] == state[1];
  }

  /**
   * Returns the address of a part.
   *
   * @throws IndexOutOfBoundsException if the part is not inside this memory
   */
  public long address(long offset, long length) {
    return address + Objects.checkFromIndexSize(offset, length, bytes);
  }

  /** Size in bytes. */
  public long bytes() {
    return bytes;
  }

  /** Returns a part of at most 2^31 - 1 bytes, in native byte order. */
  public ByteBuffer buffer(long offset, int length) {
    return OffHeap.buffer(address(offset, length), length).order(ByteOrder.nativeOrder());
  }

  /**
   * Returns a checksum of a part. A change within eight bytes always changes the sum. The length is
   * a multiple of 32.
   */
  public long checksum(long offset, long length) {
    if (length % 32 != 0) {
      throw new IllegalArgumentException(length + " bytes");
    }
    return checksum0(address(offset, length), length);
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      unmap(address, bytes);
      if (file != NO_FILE) {
        closeFile(file);
      }
    }
  }

  private static native long allocatePages(long bytes);

  private static native void unmap(long address, long bytes);

  private static native int openLocked(byte[] path, boolean exclusive);

  private static native void closeFile(int file);

  private static native boolean state(int file, long[] out);

  private static native void touch(int file);

  private static native long mapFile(long address, long bytes, int file, long offset);

  private static native boolean isBroken(long address);

  private static native long checksum0(long address, long bytes);
}
