package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongPredicate;

/** A directory of segments in memory, with the faults of disks. */
final class MemoryFiles implements SegmentFiles {
  final Map<Long, byte[]> content = new TreeMap<>();
  boolean readOnly;

  /** Bytes that can be written until the disk is full, or, if {@link #dies}, the process dead. */
  long writable = Long.MAX_VALUE;

  /** Whether nothing more changes once that many bytes were written. */
  boolean dies;

  /** Bytes of the file system. */
  long capacity = Long.MAX_VALUE;

  /** Bytes read so far. */
  long read;

  /** Tells which segments cannot be read. */
  volatile LongPredicate unreadable = number -> false;

  /** Whether files cannot be cut. */
  volatile boolean uncut;

  /** What was given to the last write. */
  ByteBuffer[] sources;

  /** Called before each read. */
  Runnable slow = () -> {};

  /** What a process finds that is started after this one died. */
  synchronized MemoryFiles afterwards() {
    MemoryFiles left = new MemoryFiles();
    content.forEach((number, bytes) -> left.content.put(number, bytes.clone()));
    return left;
  }

  /** Flips a bit of a segment; false if it is gone. */
  synchronized boolean flip(long number, int bit) {
    byte[] bytes = content.get(number);
    if (bytes != null) {
      bytes[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
    }
    return bytes != null;
  }

  synchronized long bytes() {
    return content.values().stream().mapToLong(bytes -> bytes.length).sum();
  }

  @Override
  public synchronized List<Long> list() {
    return new ArrayList<>(content.keySet());
  }

  @Override
  public synchronized SegmentFile open(long number) throws IOException {
    if (!content.containsKey(number)) {
      throw new NoSuchFileException("segment " + number);
    }
    return new MemoryFile(number);
  }

  @Override
  public synchronized SegmentFile create(SegmentHeader header) throws IOException {
    mayChange();
    ByteBuffer bytes = header.encode();
    if (spend(SegmentHeader.BYTES) < SegmentHeader.BYTES) {
      throw new IOException("No space left on device");
    }
    content.put(header.number(), bytes.array());
    return new MemoryFile(header.number());
  }

  @Override
  public synchronized void delete(long number) throws IOException {
    mayChange();
    content.remove(number);
  }

  @Override
  public synchronized long usableBytes() {
    return capacity - bytes();
  }

  @Override
  public void close() {}

  private void mayChange() throws IOException {
    if (readOnly || dies && writable == 0) {
      throw new IOException("Read-only file system");
    }
  }

  private int spend(int bytes) {
    int spent = (int) Math.min(bytes, writable);
    writable -= spent;
    return spent;
  }

  private final class MemoryFile implements SegmentFile {
    private final long number;

    MemoryFile(long number) {
      this.number = number;
    }

    private byte[] bytes() throws IOException {
      byte[] bytes = content.get(number);
      if (bytes == null) {
        throw new NoSuchFileException("segment " + number);
      }
      return bytes;
    }

    @Override
    public long size() throws IOException {
      synchronized (MemoryFiles.this) {
        return bytes().length;
      }
    }

    @Override
    public int read(ByteBuffer into, long position) throws IOException {
      slow.run();
      if (unreadable.test(number)) {
        throw new IOException("Input/output error");
      }
      synchronized (MemoryFiles.this) {
        int count = (int) Math.max(0, Math.min(into.remaining(), bytes().length - position));
        into.put(bytes(), (int) position, count);
        read += count;
        return count;
      }
    }

    @Override
    public void write(ByteBuffer[] sources, int count, long position) throws IOException {
      synchronized (MemoryFiles.this) {
        mayChange();
        MemoryFiles.this.sources = sources;
        long at = position;
        for (int i = 0; i < count; i++) {
          int bytes = sources[i].remaining();
          int spent = spend(bytes);
          byte[] to = bytes();
          if (to.length < at + spent) {
            to = Arrays.copyOf(to, (int) at + spent);
            content.put(number, to);
          }
          sources[i].get(to, (int) at, spent);
          at += spent;
          if (spent < bytes) {
            throw new IOException("No space left on device");
          }
        }
      }
    }

    @Override
    public void truncate(long size) throws IOException {
      synchronized (MemoryFiles.this) {
        mayChange();
        if (uncut) {
          throw new IOException("Operation not permitted");
        }
        if (size < bytes().length) {
          content.put(number, Arrays.copyOf(bytes(), (int) size));
        }
      }
    }

    @Override
    public void force() throws IOException {
      synchronized (MemoryFiles.this) {
        mayChange();
      }
    }

    @Override
    public void close() {}
  }
}
