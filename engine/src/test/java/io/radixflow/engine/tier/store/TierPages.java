package io.radixflow.engine.tier.store;

import io.radixflow.engine.cache.key.PageHasher;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Made-up pages for tests of stores: the bytes of a page follow from its digest. */
public final class TierPages {
  public static final String EPOCH = "0123456789abcdef";
  public static final int PAGE_BYTES = 1000;
  public static final int WINDOW_BYTES = 500;
  public static final PageSizes WITH_WINDOWS = new PageSizes(PAGE_BYTES, WINDOW_BYTES);
  private static final int PAGE_TOKENS = 4;

  /** Keys that other processes have, too, of pages that belong to no tenant. */
  public static final TenantKeys KEYS = keys();

  private static TenantKeys keys() {
    TenantKeys keys = new TenantKeys();
    keys.add(new TenantKeys.Key(1, 0, new byte[32]));
    return keys;
  }

  private TierPages() {}

  /** The pages of a conversation. */
  public record Chain(TierPage[] pages, PageId[] ids, String[] namespaces) {
    public int length() {
      return pages.length;
    }

    public ByteBuffer[] bytes() {
      ByteBuffer[] bytes = new ByteBuffer[pages.length];
      for (int i = 0; i < pages.length; i++) {
        bytes[i] = content(ids[i], PAGE_BYTES);
      }
      return bytes;
    }
  }

  public static Chain chain(int seed, int length) {
    return chain(seed, length, "", 0);
  }

  public static Chain chain(int seed, int length, String namespace, long tenant) {
    int[] tokens = new Random(seed).ints((long) length * PAGE_TOKENS, 0, 50_000).toArray();
    byte[] previous = namespace.isEmpty() ? null : PageHasher.seed(namespace);
    byte[] digests = new PageHasher(PAGE_TOKENS).chain(previous, tokens, tokens.length);
    TierPage[] pages = new TierPage[length];
    PageId[] ids = new PageId[length];
    String[] namespaces = new String[length];
    String name = PageHasher.publishedName(namespace);
    for (int i = 0; i < length; i++) {
      ids[i] = PageId.of(digests, i * PageHasher.BYTES);
      namespaces[i] = name;
      pages[i] = new TierPage(ids[i], i == 0 ? null : ids[i - 1], name, tenant);
    }
    return new Chain(pages, ids, namespaces);
  }

  /** The window parts of the pages of a conversation. */
  public static Chain windows(Chain chain) {
    TierPage[] pages = Arrays.stream(chain.pages).map(TierPage::window).toArray(TierPage[]::new);
    PageId[] ids = Arrays.stream(pages).map(TierPage::id).toArray(PageId[]::new);
    return new Chain(pages, ids, chain.namespaces);
  }

  /** Writes the window parts of the pages of a conversation, of half the size of pages. */
  public static void writeWindows(PageStore store, Chain chain) {
    Chain windows = windows(chain);
    ByteBuffer[] bytes = new ByteBuffer[chain.length()];
    Arrays.setAll(bytes, i -> content(windows.ids[i], WINDOW_BYTES));
    store.write(windows.pages, bytes, chain.length());
  }

  /** Returns which pages of a conversation have a window part that can be read. */
  public static List<Integer> readWindows(PageStore store, Chain chain) {
    Chain windows = windows(chain);
    List<Integer> found = new ArrayList<>();
    for (int i = 0; i < chain.length(); i++) {
      ByteBuffer[] into = new ByteBuffer[chain.length()];
      into[i] = ByteBuffer.allocate(WINDOW_BYTES);
      if (store.read(windows.ids, windows.namespaces, i, i + 1, into) == 1) {
        if (!into[i].clear().equals(content(windows.ids[i], WINDOW_BYTES))) {
          throw new AssertionError("the window part of page " + i + " has other bytes");
        }
        found.add(i);
      }
    }
    return found;
  }

  public static ByteBuffer content(PageId id, int size) {
    byte[] bytes = new byte[size];
    new Random(id.c()).nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }

  public static ByteBuffer[] buffers(int count) {
    ByteBuffer[] buffers = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      buffers[i] = ByteBuffer.allocate(PAGE_BYTES);
    }
    return buffers;
  }

  public static void write(PageStore store, Chain chain) {
    store.write(chain.pages(), chain.bytes(), chain.length());
  }

  /**
   * Reads a chain.
   *
   * @return how many pages of it were served
   * @throws AssertionError if one of them has other bytes than it should
   */
  public static int read(PageStore store, Chain chain) {
    ByteBuffer[] into = buffers(chain.length());
    int read = store.read(chain.ids(), chain.namespaces(), 0, chain.length(), into);
    for (int i = 0; i < read; i++) {
      if (!into[i].clear().equals(content(chain.ids()[i], PAGE_BYTES))) {
        throw new AssertionError("page " + i + " of " + read + " has other bytes");
      }
    }
    return read;
  }

  /** The files below a directory, of which the store may delete some meanwhile. */
  public static List<Path> files(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            files.add(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }

  /** Returns whether any file below a directory holds bytes of a page of the chain. */
  public static boolean holds(Path directory, Chain chain) throws IOException {
    for (Path file : files(directory)) {
      String all = text(file);
      for (PageId id : chain.ids()) {
        byte[] page = content(id, PAGE_BYTES).array();
        if (all.contains(new String(page, 100, 32, StandardCharsets.ISO_8859_1))) {
          return true;
        }
      }
    }
    return false;
  }

  private static String text(Path file) throws IOException {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (NoSuchFileException e) {
      // reclaimed since it was listed
      return "";
    }
  }
}
