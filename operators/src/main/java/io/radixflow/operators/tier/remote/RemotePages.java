package io.radixflow.operators.tier.remote;

import io.radixflow.operators.tier.page.MissReason;
import io.radixflow.operators.tier.page.PageId;
import io.radixflow.operators.tier.page.TierPage;
import io.radixflow.operators.tier.store.PageCodec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongPredicate;

/** Pages as objects, each in the format of {@link PageCodec}. Safe for several threads. */
final class RemotePages {
  private static final int LISTED = 4 * Long.BYTES;
  private static final int MAX_LIST = 1 << 20;

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
    } catch (RemoteTimeoutException e) {
      mine = false;
      throw e;
    } finally {
      giveBack(object, mine);
    }
  }

  /**
   * Reads and verifies page {@code i} of a chain.
   *
   * @param gone tenants whose pages are as if they were not there
   * @param into gets the page from position 0 on
   * @return why it was not read; null if it was
   */
  MissReason read(PageId[] chain, int i, String namespace, LongPredicate gone, ByteBuffer into) {
    ByteBuffer object = take();
    boolean mine = true;
    try {
      files.read(names.page(chain[i]), object);
      return verify(chain, i, namespace, gone, object.flip(), into);
    } catch (IOException e) {
      mine = !(e instanceof RemoteTimeoutException);
      return reason(e);
    } finally {
      giveBack(object, mine);
    }
  }

  /** A buffer that an operation may still use is left to it. */
  private void giveBack(ByteBuffer object, boolean mine) {
    if (mine) {
      buffers.add(object);
    }
  }

  /** What a failure makes of the page that was asked for. */
  static MissReason reason(IOException failure) {
    if (failure instanceof NoSuchFileException) {
      return MissReason.ABSENT;
    }
    if (failure instanceof RemoteTimeoutException) {
      return MissReason.TIMEOUT;
    }
    return failure instanceof RemoteUnreachableException ? MissReason.UNREACHABLE : MissReason.IO;
  }

  private MissReason verify(
      PageId[] chain,
      int i,
      String namespace,
      LongPredicate gone,
      ByteBuffer object,
      ByteBuffer into) {
    boolean isGone =
        object.limit() >= PageCodec.HEADER_BYTES && gone.test(PageCodec.page(object).tenant());
    return isGone ? MissReason.ABSENT : codec.decode(object, chain, i, namespace, into);
  }

  /**
   * Writes down which pages a tenant is about to have, so that they are found to be erased.
   *
   * @return the names of the lists
   */
  List<String> list(long tenant, List<TierPage> pages) throws IOException {
    List<String> lists = new ArrayList<>();
    for (int from = 0; from < pages.size(); from += MAX_LIST / LISTED) {
      List<TierPage> part = pages.subList(from, Math.min(pages.size(), from + MAX_LIST / LISTED));
      ByteBuffer ids = ByteBuffer.allocate(part.size() * LISTED);
      for (TierPage page : part) {
        PageId id = page.id();
        ids.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d());
      }
      String name = names.newList(tenant);
      files.create(name, ids.flip());
      lists.add(name);
    }
    return lists;
  }

  /** Whether lists are there still: their pages, which are written by now, can be erased. */
  boolean areThere(List<String> lists) throws IOException {
    for (String list : lists) {
      if (!files.exists(list)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Deletes a tenant's pages, and then the lists of them. Another engine may write pages of a list
   * meanwhile: it looks for the list afterwards. What it wrote before that was gone goes here.
   *
   * @param now milliseconds of the day
   */
  void deleteTenant(long tenant, long now) throws IOException {
    String folder = names.tenant(tenant);
    for (RemoteObject list : files.list(folder)) {
      List<PageId> ids = listed(folder + "/" + list.name());
      deleteAll(ids);
      files.delete(folder + "/" + list.name());
      if (now - list.modified() < RemoteSweep.LIST_MILLIS) {
        deleteAll(ids);
      }
    }
  }

  private void deleteAll(List<PageId> ids) throws IOException {
    for (PageId id : ids) {
      delete(id);
    }
  }

  private List<PageId> listed(String name) throws IOException {
    ByteBuffer ids = ByteBuffer.allocate(MAX_LIST);
    List<PageId> pages = new ArrayList<>();
    try {
      files.read(name, ids);
    } catch (NoSuchFileException e) {
      // another engine erases, too
      return pages;
    }
    ids.flip();
    while (ids.remaining() >= LISTED) {
      pages.add(new PageId(ids.getLong(), ids.getLong(), ids.getLong(), ids.getLong()));
    }
    return pages;
  }

  /** Deletes all of the epoch. */
  void clear() throws IOException {
    files.deleteFolder(names.epoch());
  }
}
