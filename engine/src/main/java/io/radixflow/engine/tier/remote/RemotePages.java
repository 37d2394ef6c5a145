package io.radixflow.engine.tier.remote;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

/**
 * Reads and writes pages as objects, each in the format of {@link PageCodec}. Thread-safe. All
 * objects are in the folder of the numerics epoch:
 *
 * <pre>
 * EPOCH/pages/DD/D…      a page, by the hexadecimal digits of its digest
 * EPOCH/swept            written by each {@link RemoteSweep}: its age is the age of the last sweep
 * </pre>
 */
final class RemotePages implements AutoCloseable {
  private static final String SWEPT = "swept";
  private static final int FOLDERS = 256;
  private static final int SHARD = 2;
  private static final HexFormat HEX = HexFormat.of();

  private final GuardedFiles files;
  private final String epoch;
  private final PageCodec codec;
  private final ConcurrentLinkedQueue<ByteBuffer> buffers = new ConcurrentLinkedQueue<>();

  RemotePages(GuardedFiles files, String epoch, PageCodec codec) {
    this.files = files;
    this.epoch = epoch;
    this.codec = codec;
  }

  /** Returns whether the file system probably answers. */
  boolean isReady() {
    return files.isReady();
  }

  /** Returns the name of a page's object. */
  String name(PageId id) {
    ByteBuffer digest = ByteBuffer.allocate(4 * Long.BYTES);
    digest.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d());
    String digits = HEX.formatHex(digest.array());
    return epoch + "/pages/" + digits.substring(0, SHARD) + "/" + digits.substring(SHARD);
  }

  /** Returns the folders that contain pages. */
  List<String> folders() {
    return IntStream.range(0, FOLDERS)
        .mapToObj(i -> epoch + "/pages/" + HEX.toHexDigits((byte) i))
        .toList();
  }

  /** Lists the objects of a folder of pages. */
  List<RemoteObject> list(String folder) throws IOException {
    return files.list(folder);
  }

  /** Returns when the last sweep began, in milliseconds of the file system's clock; 0 if never. */
  long lastSweep() throws IOException {
    return files.list(epoch).stream()
        .filter(object -> object.name().equals(SWEPT))
        .mapToLong(RemoteObject::modified)
        .findFirst()
        .orElse(0);
  }

  /** Records that a sweep begins now. */
  void beginSweep() throws IOException {
    files.create(epoch + "/" + SWEPT, ByteBuffer.allocate(1));
  }

  boolean exists(PageId id) throws IOException {
    return files.exists(name(id));
  }

  /** Deletes an object if it exists. */
  void delete(String name) throws IOException {
    files.delete(name);
  }

  private ByteBuffer take() {
    ByteBuffer free = buffers.poll();
    return free == null ? ByteBuffer.allocate(codec.maxBytes()) : free.clear();
  }

  void write(TierPage page, ByteBuffer bytes, long now) throws IOException {
    ByteBuffer object = take();
    boolean mine = true;
    try {
      codec.encode(page, bytes, now, object);
      files.create(name(page.id()), object);
    } catch (RemoteMissException e) {
      mine = e.reason() != MissReason.TIMEOUT;
      throw e;
    } finally {
      giveBack(object, mine);
    }
  }

  /**
   * Reads and verifies page {@code i} of a chain.
   *
   * @param into receives the page from position 0 on
   * @return why the page was not read; null if it was read
   */
  MissReason read(PageId[] chain, int i, String namespace, ByteBuffer into) {
    ByteBuffer object = take();
    boolean mine = true;
    try {
      files.read(name(chain[i]), object);
      return codec.decode(object.flip(), chain, i, namespace, into);
    } catch (IOException e) {
      MissReason reason = reason(e);
      mine = reason != MissReason.TIMEOUT;
      return reason;
    } finally {
      giveBack(object, mine);
    }
  }

  /** Keeps a buffer for later, unless an operation may still use it. */
  private void giveBack(ByteBuffer object, boolean mine) {
    if (mine) {
      buffers.add(object);
    }
  }

  /** Returns the reason for a missed page after its operation has failed. */
  static MissReason reason(IOException failure) {
    if (failure instanceof NoSuchFileException) {
      return MissReason.ABSENT;
    }
    return failure instanceof RemoteMissException miss ? miss.reason() : MissReason.IO;
  }

  /** Deletes all objects of the epoch. */
  void clear() throws IOException {
    files.deleteFolder(epoch);
  }

  /** Interrupts operations in flight and closes the files. */
  @Override
  public void close() throws IOException {
    files.close();
  }
}
