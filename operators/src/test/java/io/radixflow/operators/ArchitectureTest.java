package io.radixflow.operators;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.radixflow.operators.tier.store.TenantKeys;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Operators must know no topics and no records, and the engine among them not even Flink. */
class ArchitectureTest {

  private static final String ROOT = "io.radixflow.operators";
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  @Test
  void operatorsKnowNeitherKafkaNorJsonNorJobs() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.apache.kafka..",
            "org.apache.flink.connector.kafka..",
            "com.fasterxml.jackson..",
            "io.radixflow.jobs..")
        .check(MAIN);
  }

  @Test
  void theCacheAndTheEngineRunWithoutFlink() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".cache..", ROOT + ".tier..", ROOT + ".engine..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.flink..")
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
            resideInAnyPackage(ROOT + ".cache..", ROOT + ".tier..")
                .and(not(belongToAnyOf(TenantKeys.class))))
        .check(MAIN);
  }

  @Test
  void recordsAtTheSeamsKnowNoOtherPackageOfRadixflow() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".record..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("io.radixflow..").and(resideOutsideOfPackage(ROOT + ".record..")))
        .check(MAIN);
  }

  @Test
  void sessionsKnowOnlyRecordsSharedHashesAndTheKernels() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".session..")
        .should()
        .dependOnClassesThat(
            resideInAPackage(ROOT + "..")
                .and(resideOutsideOfPackages(ROOT, ROOT + ".session..", ROOT + ".record..")))
        .check(MAIN);
  }

  @Test
  void nothingThatServesUsesSglangsTreeOrTheReplay() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ROOT + ".cache.compat..", ROOT + ".cache.replay..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT + ".cache.compat..", ROOT + ".cache.replay..")
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

  @Test
  void packagesFormNoCycle() {
    slices().matching("io.radixflow.(**)").should().beFreeOfCycles().check(MAIN);
  }

  @Test
  void onlyTheCommandLineWritesToTheTerminal() {
    noClasses().should(ACCESS_STANDARD_STREAMS).check(MAIN);
  }

  @Test
  void testsWaitForWhatTheyExpectInsteadOfSleeping() {
    JavaClasses tests =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.ONLY_INCLUDE_TESTS)
            .importPackages(ROOT);
    noClasses().should().callMethod(Thread.class, "sleep", long.class).check(tests);
  }

  private static boolean usesTheResourceRegistry(JavaClass user) {
    return user.getDirectDependenciesFromSelf().stream()
        .anyMatch(d -> d.getTargetClass().getSimpleName().equals("SharedResources"));
  }
}
