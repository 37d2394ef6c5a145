package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.operators.flink.ScriptedEngine.Submitted;
import io.radixflow.operators.flink.turn.run.TurnOrderTest;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.TenantNamespaces;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which pages the engine may share for whom. */
@Timeout(180)
class TenantNamespacesTest {
  private static final String SYSTEM = "Answer in verse.";

  /**
   * One session each of two tenants that share, one that does not, one salted, one without a
   * tenant.
   */
  private static List<Submitted> submitted(String... sharing) throws Exception {
    ServingOptions options =
        Options.with(
            o -> o.namespaces = new TenantNamespaces(NamespaceKey.of("key"), Set.of(sharing)));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(opening("s0", "acme", ""), opening("s1", "bolt", ""), opening("s2", "core", ""));
      h.send(opening("s3", "acme", "pepper"), opening("s4", "", ""));
      List<String> owners = List.of("acme", "bolt", "core", "acme", "");
      for (int i = 0; i < 5; i++) {
        h.send(Events.message("s" + i, "t" + i).of(owners.get(i))).settle();
      }
      return h.engine().submitted();
    }
  }

  private static Events opening(String session, String tenant, String salt) {
    return Events.of(EventKind.OPEN, session, "open-" + session)
        .of(tenant)
        .salted(salt)
        .with(new Message("system", SYSTEM));
  }

  private static String publicText(Submitted request) {
    return TurnOrderTest.text(Arrays.copyOf(request.prompt(), request.publicTokens()));
  }

  @Test
  void tenantsThatOptedInShareTheirSystemPromptsAndNothingElse() throws Exception {
    List<Submitted> requests = submitted("acme", "bolt");
    assertThat(requests.subList(0, 2))
        .allSatisfy(
            request -> assertThat(publicText(request)).contains(SYSTEM).doesNotContain("text of"));
    assertThat(requests.subList(2, 5)).allMatch(request -> request.publicTokens() == 0);
  }

  @Test
  void allTenantsMayBeNamedAtOnceAndASaltStillSeparates() throws Exception {
    List<Submitted> requests = submitted(TenantNamespaces.ALL);
    assertThat(requests.subList(0, 3)).allMatch(request -> request.publicTokens() > 0);
    assertThat(requests.subList(3, 5)).allMatch(request -> request.publicTokens() == 0);
  }

  @Test
  void nothingIsSharedUnlessATenantIsNamedAndEachOwnerHasANamespace() throws Exception {
    List<Submitted> requests = submitted();
    assertThat(requests).allMatch(request -> request.publicTokens() == 0);
    assertThat(requests.stream().map(Submitted::namespace)).doesNotHaveDuplicates();
    assertThat(requests.get(4).namespace()).isEqualTo(NamespaceKey.PUBLIC);
  }
}
