package io.radixflow.tools;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The walls of the command line and the local stack. */
class ArchitectureTest {

  private static final String ROOT = "io.radixflow.tools";
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  @Test
  void toolsDoNotKnowTheLab() {
    noClasses().should().dependOnClassesThat().resideInAPackage("io.radixflow.lab..").check(MAIN);
  }

  @Test
  void packagesFormNoCycle() {
    slices().matching("io.radixflow.(**)").should().beFreeOfCycles().check(MAIN);
  }

  @Test
  void onlyTheCommandLineWritesToTheTerminal() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".cli..")
        .should(ACCESS_STANDARD_STREAMS)
        .check(MAIN);
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
