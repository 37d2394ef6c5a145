package io.radixflow.operators;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.models.ArchitectureRules;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Operators must know no topics and no JSON, and of the engine little more than its interface. */
class ArchitectureTest {

  private static final String ROOT = "io.radixflow.operators";
  private static final String ENGINE = "io.radixflow.engine";
  private static final JavaClasses MAIN = ArchitectureRules.main(ROOT);

  @Test
  void packagesFormNoCycleAndTestsDoNotSleep() {
    ArchitectureRules.check(ROOT);
  }

  @Test
  void operatorsKnowNeitherKafkaNorJson() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.apache.kafka..",
            "org.apache.flink.connector.kafka..",
            "com.fasterxml.jackson..",
            "io.radixflow.protocol.event..",
            "io.radixflow.protocol.json..")
        .check(MAIN);
  }

  /** But for the keys of tenants' pages, which checkpoints keep and subtasks pass on. */
  @Test
  void theFlinkOperatorKnowsTheEnginesInterfaceNotCachesAndTiers() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".flink..")
        .and()
        .resideOutsideOfPackage(ROOT + ".flink.tiers..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage(ENGINE + ".cache..", ENGINE + ".tier..")
                .and(not(resideInAPackage(ENGINE + ".cache.key..")))
                .and(not(belongToAnyOf(TenantKeys.class, TenantKeys.Key.class))))
        .check(MAIN);
  }

  @Test
  void sessionsKnowOnlyRecordsAndSharedHashes() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".session..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage(ROOT + "..", ENGINE + "..")
                .and(
                    resideOutsideOfPackages(
                        ROOT + ".session..", StableHash.class.getPackageName())))
        .check(MAIN);
  }

  /** A turn is taken in, runs, and ends; none of these knows what comes before it. */
  @Test
  void turnsAreTakenInThenRunThenEnd() {
    String turn = ROOT + ".flink.turn";
    noClasses()
        .that()
        .resideInAPackage(turn + ".end..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(turn + ".run..", turn + ".intake..")
        .check(MAIN);
    noClasses()
        .that()
        .resideInAPackage(turn + ".run..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(turn + ".intake..")
        .check(MAIN);
  }

  @Test
  void operatorsReachDevicesThroughTheBackendSeamOnly() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.radixflow.kernels.cpu..", "io.radixflow.kernels.cuda..")
        .check(MAIN);
  }

  @Test
  void oneClassWrapsFlinksInternalResourceRegistry() {
    Set<String> users =
        MAIN.stream()
            .filter(ArchitectureTest::usesTheResourceRegistry)
            .map(JavaClass::getSimpleName)
            .collect(Collectors.toSet());
    assertThat(users).hasSizeLessThanOrEqualTo(1);
  }

  private static boolean usesTheResourceRegistry(JavaClass user) {
    return user.getDirectDependenciesFromSelf().stream()
        .anyMatch(d -> d.getTargetClass().getSimpleName().equals("SharedResources"));
  }
}
