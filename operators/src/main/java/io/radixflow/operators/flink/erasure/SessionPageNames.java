package io.radixflow.operators.flink.erasure;

import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.cache.key.RadixKey;
import io.radixflow.operators.prompt.SharedSystemPrompt;
import io.radixflow.operators.tier.page.PageChain;
import io.radixflow.operators.tier.page.PageId;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.FutureTask;

/**
 * Names the pages of a session's texts, as the engine that made them did; those before its own
 * namespace's are left out, as nobody's. Immutable; any thread.
 *
 * @param namespace of the session
 * @param sharedSystem the system prompt that has public pages; null for none
 * @param texts token ids of each
 * @param kept token ids of texts whose pages stay
 */
public record SessionPageNames(
    String namespace, String sharedSystem, List<int[]> texts, List<int[]> kept) {

  /** How many pages there are at most. */
  public int most(int pageTokens) {
    long tokens = texts.stream().mapToLong(ids -> ids.length).sum();
    return (int) Math.min(tokens / pageTokens, Integer.MAX_VALUE);
  }

  /** Makes the digests in a row, once it is run. */
  public FutureTask<byte[]> task(ServedModel model, int pageTokens) {
    return new FutureTask<>(() -> names(model, pageTokens));
  }

  private byte[] names(ServedModel model, int pageTokens) {
    Set<PageId> names = new LinkedHashSet<>();
    for (int[] ids : texts) {
      int own =
          sharedSystem == null
              ? 0
              : SharedSystemPrompt.commonTokens(model.chatTemplate(), sharedSystem, ids);
      PageChain chain = PageChain.of(new RadixKey(namespace, ids, ids.length, own), pageTokens, 0);
      int first = chain.sharedPages();
      for (int[] other : kept) {
        int differs = Arrays.mismatch(ids, other);
        first = Math.max(first, (differs < 0 ? ids.length : differs) / pageTokens);
      }
      names.addAll(List.of(chain.from(first)));
    }
    return PageId.bytes(names);
  }
}
