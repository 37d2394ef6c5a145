package io.radixflow.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;

import io.radixflow.models.ArchitectureRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  private static final String ROOT = "io.radixflow.cli";

  @Test
  void packagesFormNoCycleTestsDoNotSleepAndOnlyCommandsWriteToTheTerminal() {
    ArchitectureRules.check(
        ROOT,
        ArchitectureRules.main(ROOT).that(resideOutsideOfPackages(ROOT, ROOT + ".command..")));
  }
}
