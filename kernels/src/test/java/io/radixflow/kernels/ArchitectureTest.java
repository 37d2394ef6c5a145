package io.radixflow.kernels;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Dependencies that kernels must not have, so that they stay a plain Java library. */
class ArchitectureTest {

  private static final String ROOT = "io.radixflow.kernels";
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  @Test
  void kernelsKnowNeitherFlinkNorKafkaNorSessions() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.apache.flink..",
            "org.apache.kafka..",
            "io.radixflow.operators..",
            "io.radixflow.jobs..")
        .check(MAIN);
  }

  @Test
  void packagesFormNoCycle() {
    slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(MAIN);
  }

  @Test
  void packagesKnowOfTheModulesFrontDoorOnlyItsSeams() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT)
        .should()
        .dependOnClassesThat(
            resideInAPackage(ROOT)
                .and(not(type(ServedModel.class)))
                .and(not(type(DeviceOptions.class)))
                .and(not(type(ScratchDirectory.class)))
                .and(not(type(RegularFiles.class))))
        .check(MAIN);
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
}
