package io.radixflow.engine.cache.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class NamespaceKeyTest {
  private static final NamespaceKey KEY = NamespaceKey.of("k");

  @Test
  void textsAreFramedSoThatNoTwoOwnersHaveOneName() {
    List<String> names =
        List.of(
            KEY.namespace("ab", "c", ""),
            KEY.namespace("a", "bc", ""),
            KEY.namespace("abc", "", ""),
            KEY.namespace("", "abc", ""),
            KEY.namespace("", "", "abc"),
            KEY.namespace("ab", "", "c"),
            NamespaceKey.of("l").namespace("ab", "c", ""));
    assertThat(names).doesNotHaveDuplicates().allMatch(name -> name.matches("[0-9a-f]{64}"));
  }

  @Test
  void aNamespaceIsPublicOnlyIfTenantSaltAndAdapterAreEmpty() {
    assertThat(KEY.namespace("", "", "")).isEqualTo(NamespaceKey.PUBLIC);
    assertThat(NamespaceKey.random().namespace("", "", "")).isEqualTo(NamespaceKey.PUBLIC);
  }

  @Test
  void namesStayTheSameFromReleaseToRelease() {
    // Python: hmac.new(b"k", frame("radixflow/namespace/1", "ab", "c", ""), "sha256")
    assertThat(KEY.namespace("ab", "c", ""))
        .isEqualTo("c6bf34f218e6d0e76670028c8bbafed99450aa6eee9071dbd6f9576084f50c4b");
  }

  @Test
  void keysThatAreDrawnDifferAndNoKeyShowsItsSecret() {
    assertThat(NamespaceKey.random()).isNotEqualTo(NamespaceKey.random());
    assertThat(NamespaceKey.of("s3cret")).isEqualTo(NamespaceKey.of("s3cret"));
    assertThat(NamespaceKey.of("s3cret").toString()).doesNotContain("s3cret");
    assertThatIllegalArgumentException().isThrownBy(() -> NamespaceKey.of(" "));
  }

  @Test
  void framesAreLengthAndBytes() {
    assertThat(Framing.of("ab", ""))
        .isEqualTo("\0\0\0\2ab\0\0\0\0".getBytes(StandardCharsets.UTF_8));
  }
}
