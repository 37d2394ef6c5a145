package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What an engine has on a disk of its host: a home, and in it the page directory. Closed after the
 * store that uses the directory.
 */
public record LocalTiers(TierHome home, DirectoryGenerations generations) implements AutoCloseable {

  /**
   * Claims a home and opens the page directory in it. A home that had no part in the restored
   * checkpoint, while others had, is emptied: it was away, and may have pages of what was erased
   * meanwhile.
   *
   * @param root where the homes of a TaskManager are
   * @param kind tells which engines can use each other's pages
   * @param restored what the restored checkpoint remembers, of any engines
   */
  public static LocalTiers open(Path root, String kind, List<GenerationRef> restored)
      throws IOException {
    TierHome home = TierHome.claim(root, kind);
    try {
      if (!restored.isEmpty()
          && restored.stream().noneMatch(ref -> ref.engine().equals(home.engine()))) {
        home.empty();
      }
      return new LocalTiers(
          home, DirectoryGenerations.open(home.directory(), home.engine(), restored));
    } catch (IOException | RuntimeException | Error e) {
      home.close();
      throw e;
    }
  }

  @Override
  public void close() {
    generations.close();
    home.close();
  }
}
