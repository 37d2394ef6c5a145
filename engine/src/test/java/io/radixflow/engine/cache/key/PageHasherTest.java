package io.radixflow.engine.cache.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Golden values are SGLang's: the ids of its BlockStored events. */
class PageHasherTest {
  private static final String NAMESPACE = NamespaceKey.of("k").namespace("tenant", "", "");

  @ParameterizedTest
  @CsvSource({
    "4, 1 2 3 4, -3488128144981237669",
    "4, 1 2 3 4 5, -3488128144981237669 -3787494577174227566",
    "4, 1 2 3 4 5 6 7 8, -3488128144981237669 5674439469042975057",
    "4, 1 2 3 4 1 2 3 4, -3488128144981237669 9163096264030462659",
    "2, 10 20 30 40 50 60 70 80, 978178666101069530 -895308556211281782"
        + " -8033692805846017938 835415944263129316",
    "2, 10 20, 978178666101069530",
    "4, '', ''",
  })
  void aPublicPageHasSglangsName(int pageTokens, String tokens, String blocks) {
    assertThat(blocks(pageTokens, ints(tokens))).isEqualTo(longs(blocks));
  }

  @Test
  void aPageSizeOfZeroTokensIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new PageHasher(0));
  }

  @Test
  void theBlockIdIsTheFirstEightBytesBigEndianSigned() {
    byte[] digest = new byte[PageHasher.BYTES];
    assertThat(PageHasher.blockId(digest, 0)).isZero();
    Arrays.fill(digest, 8, digest.length, (byte) 7);
    assertThat(PageHasher.blockId(digest, 0)).as("later bytes do not count").isZero();
    Arrays.fill(digest, 0, 8, (byte) 0xFF);
    assertThat(PageHasher.blockId(digest, 0)).isEqualTo(-1);
    digest[7] = 1;
    assertThat(PageHasher.blockId(digest, 0)).isEqualTo(-255);
  }

  @Test
  void idsAreUnsigned32BitIntegers() {
    // Python: sha256(b"\xff\xff\xff\xff").digest()[:8]
    assertThat(blocks(1, -1)).containsExactly(-5938819523699828288L);
  }

  @Test
  void aChainContinuesFromAnyPage() {
    PageHasher hasher = new PageHasher(3);
    int[] tokens = IntStream.range(0, 12).toArray();
    byte[] whole = hasher.chain(null, tokens, 12);
    byte[] second = new byte[PageHasher.BYTES];
    hasher.hash(whole, 0, tokens, 3, 3, second, 0);
    assertThat(second).isEqualTo(Arrays.copyOfRange(whole, 32, 64));
    byte[] rest =
        hasher.chain(Arrays.copyOfRange(whole, 32, 64), Arrays.copyOfRange(tokens, 6, 12), 6);
    assertThat(rest).isEqualTo(Arrays.copyOfRange(whole, 64, 128));
  }

  @Test
  void namespacesNameEqualPagesDifferentlyAndOnlyThePublicOneHasNoSeed() {
    PageHasher hasher = new PageHasher(2);
    int[] tokens = {1, 2, 3, 4};
    byte[] own = hasher.chain(PageHasher.seed(NAMESPACE), tokens, 4);
    byte[] other = hasher.chain(PageHasher.seed("other"), tokens, 4);
    byte[] open = hasher.chain(PageHasher.seed(NamespaceKey.PUBLIC), tokens, 4);
    assertThat(open).isEqualTo(hasher.chain(null, tokens, 4));
    assertThat(
            LongStream.of(
                PageHasher.blockId(own, 0),
                PageHasher.blockId(own, 32),
                PageHasher.blockId(other, 0),
                PageHasher.blockId(other, 32),
                PageHasher.blockId(open, 0),
                PageHasher.blockId(open, 32)))
        .doesNotHaveDuplicates();
  }

  @Test
  void thePublishedNameRevealsNeitherNamespaceNorSeed() {
    String name = PageHasher.publishedName(NAMESPACE);
    assertThat(name).hasSize(32).isNotEqualTo(PageHasher.publishedName("other"));
    assertThat(NAMESPACE).doesNotContain(name);
    assertThat(PageHasher.publishedName(NamespaceKey.PUBLIC)).isEmpty();
    String seed = HexFormat.of().formatHex(PageHasher.seed(NAMESPACE));
    assertThat(seed).doesNotContain(name);
  }

  private static long[] blocks(int pageTokens, int... tokens) {
    byte[] digests = new PageHasher(pageTokens).chain(null, tokens, tokens.length);
    return IntStream.range(0, digests.length / PageHasher.BYTES)
        .mapToLong(i -> PageHasher.blockId(digests, i * PageHasher.BYTES))
        .toArray();
  }

  private static int[] ints(String text) {
    return text.isEmpty()
        ? new int[0]
        : Arrays.stream(text.split(" ")).mapToInt(Integer::parseInt).toArray();
  }

  private static long[] longs(String text) {
    return text.isEmpty()
        ? new long[0]
        : Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray();
  }
}
