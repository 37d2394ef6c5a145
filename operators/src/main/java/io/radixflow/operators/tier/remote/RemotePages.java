package io.radixflow.operators.tier.remote;

import io.radixflow.operators.tier.page.MissReason;
import io.radixflow.operators.tier.page.PageId;
import io.radixflow.operators.tier.page.TierPage;
import io.radixflow.operators.tier.store.PageCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Reads and writes pages as objects, each in the format of {@link PageCodec}. Safe for several
 * threads.
 */
final class RemotePages {
  private final RemoteFiles files;
  private final RemoteNames names;
  private final PageCodec codec;
  private final ConcurrentLinkedQueue<ByteBuffer> buffers = new ConcurrentLinkedQueue<>();

  RemotePages(RemoteFiles files, RemoteNames names, PageCodec codec) {
    this.files = files;
    this.names = names;
    this.codec = codec;
  }

  boolean exists(PageId id) throws IOException {
    return files.exists(names.page(id));
  }

  void delete(PageId id) throws IOException {
    files.delete(names.page(id));
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
      files.create(names.page(page.id()), object);
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
   * @param into gets the page from position 0 on
   * @return why it was not read; null if it was
   */
  MissReason read(PageId[] chain, int i, String namespace, ByteBuffer into) {
    ByteBuffer object = take();
    boolean mine = true;
    try {
      files.read(names.page(chain[i]), object);
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

  /** Returns why a page is missed whose operation failed. */
  static MissReason reason(IOException failure) {
    if (failure instanceof NoSuchFileException) {
      return MissReason.ABSENT;
    }
    return failure instanceof RemoteMissException miss ? miss.reason() : MissReason.IO;
  }

  /** Deletes all objects of the epoch. */
  void clear() throws IOException {
    files.deleteFolder(names.epoch());
  }
}
