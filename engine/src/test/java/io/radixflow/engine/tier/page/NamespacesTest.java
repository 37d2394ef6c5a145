package io.radixflow.engine.tier.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.NamespaceKey;
import org.junit.jupiter.api.Test;

class NamespacesTest {
  private static final PageId ID = new PageId(1, 2, 3, 4);

  private final Namespaces namespaces = new Namespaces();

  @Test
  void aPageBelongsToTheTenantOfItsNamespace() {
    namespaces.put("a", 7);
    assertThat(namespaces.describe(ID, null, "a").tenant()).isEqualTo(7);
    assertThat(namespaces.describe(ID, null, NamespaceKey.PUBLIC).tenant()).isZero();
  }

  @Test
  void aPageOfADroppedNamespaceIsNotDescribed() {
    namespaces.put("a", 7);
    namespaces.put("b", 8);
    for (int i = 0; i < 65_535; i++) {
      namespaces.put("other " + i, 9);
      namespaces.put("b", 8);
    }
    assertThat(namespaces.describe(ID, null, "a")).isNull();
    assertThat(namespaces.describe(ID, null, "b").tenant()).isEqualTo(8);
    assertThat(namespaces.unknown()).isEqualTo(1);
    namespaces.put("a", 7);
    assertThat(namespaces.describe(ID, null, "a").tenant()).isEqualTo(7);
  }
}
