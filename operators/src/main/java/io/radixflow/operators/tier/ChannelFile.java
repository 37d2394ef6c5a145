package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Set;

/**
 * A file behind a channel. The interruption of a thread closes the channel that it uses, for all
 * others too: those open it again.
 */
final class ChannelFile implements SegmentFile {
  private static final int MAX_GATHERED = 512;

  private final Path path;
  private final Set<? extends OpenOption> options;
  private volatile FileChannel channel;
  private boolean closed;

  ChannelFile(Path path, Set<? extends OpenOption> options) throws IOException {
    this.path = path;
    this.options = options;
    this.channel = FileChannel.open(path, options);
  }

  @Override
  public long size() throws IOException {
    return channel().size();
  }

  @Override
  public int read(ByteBuffer into, long position) throws IOException {
    int start = into.position();
    while (into.hasRemaining()) {
      int read = readOnce(into, position + into.position() - start);
      if (read < 0) {
        break;
      }
    }
    return into.position() - start;
  }

  private int readOnce(ByteBuffer into, long position) throws IOException {
    try {
      return channel().read(into, position);
    } catch (ClosedChannelException e) {
      if (Thread.currentThread().isInterrupted()) {
        throw e;
      }
      return channel().read(into, position);
    }
  }

  @Override
  public synchronized void write(ByteBuffer[] sources, int count, long position)
      throws IOException {
    FileChannel to = channel();
    to.position(position);
    for (int from = 0; from < count; ) {
      if (sources[from].hasRemaining()) {
        to.write(sources, from, Math.min(MAX_GATHERED, count - from));
      } else {
        from++;
      }
    }
  }

  @Override
  public void truncate(long size) throws IOException {
    channel().truncate(size);
  }

  @Override
  public void force() throws IOException {
    channel().force(false);
  }

  private FileChannel channel() throws IOException {
    FileChannel current = channel;
    return current.isOpen() ? current : reopened();
  }

  private synchronized FileChannel reopened() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
    if (!channel.isOpen()) {
      channel = FileChannel.open(path, options);
    }
    return channel;
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    channel.close();
  }
}
