package io.radixflow.engine.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.PageHash;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class GhostPagesProperties {

  private static TreeNode usedAt(long tick, int uses) {
    TreeNode node = new TreeNode("");
    node.lastUsedAt = tick;
    node.uses = uses;
    return node;
  }

  @Property
  void theLastValuePutIsRemembered(
      @ForAll @Size(max = 400) List<@IntRange(min = 0, max = 200) Integer> pages) {
    GhostPages ghosts = new GhostPages(64);
    Map<Integer, Integer> last = new HashMap<>();
    for (int i = 0; i < pages.size(); i++) {
      ghosts.put(PageHash.mix(pages.get(i)), usedAt(i, i + 1));
      last.put(pages.get(i), i + 1);
    }
    int remembered = 0;
    for (Map.Entry<Integer, Integer> each : last.entrySet()) {
      int place = ghosts.find(PageHash.mix(each.getKey()));
      if (place >= 0) {
        remembered++;
        assertThat(ghosts.uses(place)).isEqualTo(each.getValue());
        assertThat(ghosts.lastUsedAt(place)).isEqualTo(each.getValue() - 1);
      }
    }
    assertThat(remembered).isLessThanOrEqualTo(ghosts.entries());
    if (!pages.isEmpty()) {
      assertThat(ghosts.usesBefore(PageHash.mix(pages.get(pages.size() - 1)))).isPositive();
    }
  }

  @Property
  void aForgottenPageHasNoUsesAndMakesRoom(@ForAll long hash) {
    GhostPages ghosts = new GhostPages(8);
    ghosts.put(hash, usedAt(1, 3));
    assertThat(ghosts.usesBefore(hash)).isEqualTo(3);

    ghosts.forget(ghosts.find(hash));

    assertThat(ghosts.usesBefore(hash)).isZero();
    assertThat(ghosts.find(hash)).isEqualTo(-1);
  }

  @Property(tries = 50)
  void mostOfTheLatestPagesAreRemembered(@ForAll @IntRange(min = 64, max = 5000) int places) {
    GhostPages ghosts = new GhostPages(places);
    for (int i = 0; i < 4 * places; i++) {
      ghosts.put(PageHash.mix(i), usedAt(i, 1));
    }
    int found = 0;
    for (int i = 4 * places - places / 2; i < 4 * places; i++) {
      found += ghosts.usesBefore(PageHash.mix(i));
    }
    assertThat(found).isGreaterThan(places / 2 * 85 / 100);
  }
}
