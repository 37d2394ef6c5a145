package io.radixflow.gateway;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Checks which classes the gateway must not use, so that it stays a thin process. */
class ArchitectureTest {

  private static final String ROOT = "io.radixflow.gateway";
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  @Test
  void theGatewayKnowsTheRecordsOfOperatorsOnlyAndNoToolsOrLab() {
    noClasses()
        .should()
        .dependOnClassesThat(
            resideInAPackage("io.radixflow.operators..")
                .and(
                    resideOutsideOfPackages(
                        "io.radixflow.operators.record..",
                        "io.radixflow.operators.api..",
                        "io.radixflow.operators.fair..")))
        .orShould()
        .dependOnClassesThat()
        .resideInAnyPackage("io.radixflow.tools..", "io.radixflow.lab..", "picocli..", "kafka..")
        .check(MAIN);
  }

  @Test
  void turnsKnowNeitherHttpNorVertx() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".turn..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.vertx..", "io.netty..")
        .check(MAIN);
  }

  @Test
  void kafkaIsReachedThroughTheTopicsOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".turn..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.kafka..")
        .check(MAIN);
  }

  @Test
  void packagesFormNoCycle() {
    slices().matching("io.radixflow.(**)").should().beFreeOfCycles().check(MAIN);
  }

  @Test
  void nothingWritesToTheTerminal() {
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
}
