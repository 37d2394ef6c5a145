package io.radixflow.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaFieldAccess;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import io.radixflow.models.ArchitectureRules;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  private static final String ROOT = "io.radixflow.engine";

  @Test
  void packagesFormNoCycleAndTestsDoNotSleep() {
    ArchitectureRules.check(ROOT);
  }

  @Test
  void onlyTheModelLoaderKnowsWhichDevicesThereAre() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".model..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.radixflow.kernels.cpu..", "io.radixflow.kernels.cuda..")
        .check(ArchitectureRules.main(ROOT));
  }

  @Test
  void eachPartOfARequestIsChangedOnlyByThePackageThatOwnsIt() {
    Map<String, Set<String>> owners =
        Map.of(
            "RequestTokens", Set.of("request", "loop"),
            "RequestReply", Set.of("request", "loop"),
            "RequestSteps", Set.of("request", "loop", "schedule", "pages"),
            "RequestPages", Set.of("request", "pages"),
            "RequestWindow", Set.of("request", "pages"),
            "RequestStanding", Set.of("request", "schedule"));
    List<String> foreign =
        ArchitectureRules.main(ROOT).stream()
            .flatMap(origin -> origin.getMethodCallsFromSelf().stream())
            .filter(call -> owners.containsKey(call.getTargetOwner().getSimpleName()))
            .filter(call -> call.getTarget().resolveMember().stream().anyMatch(this::changes))
            .filter(
                call ->
                    !owners
                        .get(call.getTargetOwner().getSimpleName())
                        .contains(call.getOriginOwner().getPackageName().replace(ROOT + ".", "")))
            .map(JavaMethodCall::getDescription)
            .toList();
    assertThat(foreign).isEmpty();
  }

  private boolean changes(JavaMethod method) {
    return method.getFieldAccesses().stream()
        .anyMatch(access -> access.getAccessType() == JavaFieldAccess.AccessType.SET);
  }
}
