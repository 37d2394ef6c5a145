package io.radixflow.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import io.radixflow.models.ArchitectureRules;
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
}
